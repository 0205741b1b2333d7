"""``crystal backup`` and ``crystal restore``: a copy of this machine's database, and back."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from app import factory
from app.maintenance import backup as backups
from app.maintenance.doctor.configuration import settings_of_this_machine
from cli.admin.faults import reported
from cli.options import with_session
from cli.session import Session
from cli.tables import show_line

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("path", type=_FILE)
@with_session
def backup(session: Session, *, path: Path) -> None:
    """Copy the database of this machine into the new file PATH, and read that back.

    Servers may go on meanwhile. The copy is one moment of the database, readable by you only; it is
    a SQLite file, also of a PostgreSQL database. Settings and keys are not in it.
    """
    with reported():
        made = backups.back_up(factory.database_url(settings_of_this_machine()), path)
    line = (
        f"{made.path}: {sum(made.rows.values())} rows, {made.rows.get('notes', 0)} of them notes."
    )
    session.output.show(asdict(made), lambda console: show_line(console, line))


@click.command()
@click.argument("path", type=_FILE)
@click.option("--force", is_flag=True, help="Replace the database that is there; it is kept.")
@with_session
def restore(session: Session, *, path: Path, force: bool) -> None:
    """Make the backup PATH the database of this machine.

    A database that is there is replaced only with --force, and kept beside it. Servers that run
    load the new one with their next search. Into PostgreSQL, the database must be empty.
    """
    with reported():
        url = factory.database_url(settings_of_this_machine())
        made = backups.restore(path, url, is_forced=force)
    line = f"{made.rows.get('notes', 0)} notes are restored from {made.path}."
    if made.kept:
        line += f" The database of before is {made.kept}."
    session.output.show(asdict(made), lambda console: show_line(console, line))
