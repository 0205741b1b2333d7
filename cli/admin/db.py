"""``crystal db``: what is done to whole databases; now one command, ``copy``."""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.console import Console

from app.maintenance import copy as copying
from cli.admin.faults import reported
from cli.options import takes_options_anywhere, with_session
from cli.session import Session
from cli.tables import show_line


@click.group()
@takes_options_anywhere
def db() -> None:
    """Copy a database into another."""


@db.command()
@click.argument("source")
@click.argument("target")
@with_session
def copy(session: Session, *, source: str, target: str) -> None:
    """Copy the database SOURCE into the empty database TARGET.

    Each is a URL as of the setting database_url, such as
    postgresql://user:password@host/name, or the path of a SQLite file. Ids stay as they are; the
    rows are counted and compared in the end, and TARGET has all of them or none. A server may go on
    using SOURCE; what it writes meanwhile is not copied. Then set CRYSTAL_DATABASE_URL.
    """
    ends = copying.url_of(source), copying.url_of(target)
    with (
        reported(),
        copying.opened(*ends) as copied,
        session.output.progress("Copying", copied.total) as advance,
    ):
        report = copied.run(advance)

    def draw(console: Console) -> None:
        total = sum(report.rows.values())
        show_line(console, f"{total} rows of {len(report.rows)} tables are copied and compared.")

    session.output.show(asdict(report), draw)
