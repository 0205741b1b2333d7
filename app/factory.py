"""Wires everything; the only module that knows every layer.

Owns the life of a process's parts: opening, warming, closing.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from flask import Flask

from app.api.application import create_flask
from app.api.services import Services
from app.db import migrate, spaces
from app.db.engine import Database
from app.embedding import registry
from app.embedding.base import Embedder
from app.mirror.mirror import Mirror
from app.search.pipeline import Searcher
from app.settings.values import Settings
from app.sync import spaces as space_sync
from app.sync.batches import BatchEmbedder
from app.sync.importing import Importer
from app.sync.queue import EmbeddingQueue
from app.sync.writer import Writer

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Application:
    """All parts of a process over one database."""

    settings: Settings
    database: Database
    embedder: Embedder
    mirror: Mirror
    searcher: Searcher
    writer: Writer
    batches: BatchEmbedder
    importer: Importer
    queue: EmbeddingQueue

    def flask(self) -> Flask:
        """Build the HTTP application over these parts."""
        return create_flask(
            Services(
                settings=self.settings,
                database=self.database,
                embedder=self.embedder,
                mirror=self.mirror,
                searcher=self.searcher,
                writer=self.writer,
                batches=self.batches,
                importer=self.importer,
                queue=self.queue,
            )
        )

    def warm(self) -> None:
        """Load model and index, so that the first search need not."""
        self.embedder.warm()
        self.mirror.warm()

    def close(self) -> None:
        """Stop the queue, then close connections."""
        self.queue.close()
        self.embedder.close()
        self.database.close()


def database_url(settings: Settings) -> str:
    """Return the URL of the configured database, by default a file in the data folder."""
    return settings.database_url or f"sqlite:///{settings.data_dir / 'crystal.db'}"


def build(settings: Settings) -> Application:
    """Open the database, upgraded, and make every part over it.

    Raises:
        ConfigurationError: a setting cannot be used.
        DatabaseUnavailable: the database cannot be opened.
    """
    database = Database(database_url(settings))
    migrate.upgrade(database)
    embedder = _embedder(settings, database)
    space = space_sync.prepare(database, embedder.spec)
    mirror = Mirror(database)
    batches = BatchEmbedder(database, embedder, space)
    return Application(
        settings=settings,
        database=database,
        embedder=embedder,
        mirror=mirror,
        searcher=Searcher(mirror, embedder),
        writer=Writer(database, embedder, space),
        batches=batches,
        importer=Importer(database),
        queue=EmbeddingQueue(batches),
    )


def _embedder(settings: Settings, database: Database) -> Embedder:
    """Make the embedder, which must keep to the dimension of the vectors it made before."""
    fresh = registry.create(settings.embedding)
    spec = fresh.spec
    with database.read() as connection:
        known = spaces.find(connection, spec.provider, spec.model)
    if known is None or known.spec.dimension is None:
        return fresh
    fresh.close()
    return registry.create(settings.embedding, known.spec.dimension)
