"""What dry runs need: the database as it is, or an empty one in place of none.

Owns that a dry run makes, upgrades and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import URL

from app.db import migrate
from app.db.engine import Database
from app.embedding.active import Active, ActiveEmbedder
from app.factory.opening import database_url, embedder_of
from app.maintenance.adoption import Adopter
from app.maintenance.reconfigure import Reconfigurer
from app.settings.values import Settings
from app.sync.conversations.importer import ConversationImporter
from app.sync.vaults.importing import VaultImporter


@contextmanager
def rehearsal(settings: Settings) -> Iterator[Adopter]:
    """Open what a dry run of an adoption needs.

    Raises:
        ConfigurationError: a setting cannot be used.
        DatabaseUnavailable: the database cannot be read.
    """
    with _rehearsed(settings) as (database, active):
        yield Adopter(database, active, Reconfigurer(database, active))


@contextmanager
def conversation_rehearsal(settings: Settings) -> Iterator[ConversationImporter]:
    """Open what a dry run of an import of conversations needs.

    Raises:
        ConfigurationError: a setting cannot be used.
        DatabaseUnavailable: the database cannot be read.
    """
    with _rehearsed(settings) as (database, _):
        yield ConversationImporter(database, settings.sources)


@contextmanager
def vault_rehearsal(settings: Settings) -> Iterator[VaultImporter]:
    """Open what a dry run of a vault's import needs.

    Raises:
        ConfigurationError: a setting cannot be used.
        DatabaseUnavailable: the database cannot be read.
    """
    with _rehearsed(settings) as (database, active):
        yield VaultImporter(database, active, settings.vault_left_out)


@contextmanager
def _rehearsed(settings: Settings) -> Iterator[tuple[Database, ActiveEmbedder]]:
    """Open the database as it is, or an empty one in place of none.

    Raises:
        ConfigurationError: a setting cannot be used.
        DatabaseUnavailable: the database cannot be read.
    """
    with TemporaryDirectory(prefix="crystal-dry-run-") as folder:
        database = Database(database_url(settings))
        if database.path is not None and not database.path.exists():
            database = Database(URL.create("sqlite", database=str(Path(folder, "crystal.db"))))
            migrate.upgrade(database)
        embedder = embedder_of(settings, database)
        active = ActiveEmbedder(Active(settings, embedder, space_id=0))
        try:
            yield database, active
        finally:
            embedder.close()
            database.close()
