"""Which database the tests run over: a SQLite file in the data folder, or PostgreSQL.

Owns the choice, ``pytest --database=postgresql``. The same tests run over both; those about the
file of SQLite are marked ``sqlite`` and belong to the runs over it.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from tests.support.postgresql import Server, running_server

SQLITE = "sqlite"
POSTGRESQL = "postgresql"
CHOICES = (SQLITE, POSTGRESQL)


class Databases:
    """Gives each data folder its database; the server starts when the first is asked for."""

    def __init__(self) -> None:
        self.kind = SQLITE
        self._life = ExitStack()
        self._server: Server | None = None

    @property
    def server(self) -> Server:
        """The server of this run."""
        if self._server is None:
            self._server = self._life.enter_context(running_server())
        return self._server

    @property
    def is_postgresql(self) -> bool:
        """Tell whether the tests run over PostgreSQL."""
        return self.kind == POSTGRESQL

    def setting(self, folder: Path) -> dict[str, str]:
        """Return the setting by which an application over a folder uses its database."""
        return {"database_url": self.server.url_of(folder)} if self.is_postgresql else {}

    def url_of(self, folder: Path) -> str:
        """Return the URL of a folder's database, which has its tables on PostgreSQL only."""
        return self.server.url_of(folder) if self.is_postgresql else sqlite_url(folder)

    def empty(self, folder: Path, name: str = "crystal") -> str:
        """Return the URL of a database without tables, of that name in a folder."""
        if not self.is_postgresql:
            return f"sqlite:///{folder / name}.db"
        return self.server.empty(folder / name)

    def forget(self, folder: Path) -> None:
        """Drop the databases of a folder that is done with; files go with the folder."""
        if self._server is not None:
            self._server.drop_below(folder)

    def close(self) -> None:
        """End the server."""
        self._life.close()


def sqlite_url(folder: Path) -> str:
    """Return the URL of the SQLite file of a data folder."""
    return f"sqlite:///{folder / 'crystal.db'}"


DATABASES = Databases()
"""The one of this run; ``tests/conftest.py`` sets its kind before any test is loaded."""
