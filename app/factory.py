"""Wires everything; the only module that knows every layer.

Owns the life of a process's parts: opening, warming, closing.
"""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from flask import Flask
from sqlalchemy import URL

from app.api.application import create_flask
from app.api.services import Services
from app.db import migrate, spaces
from app.db.engine import Database
from app.embedding import registry
from app.embedding.active import Active, ActiveEmbedder
from app.embedding.base import Embedder
from app.errors import ConfigurationError, CrystalError
from app.importers.chatcrystal import DATABASE as ORIGINAL
from app.lexical.chinese import DICTIONARY
from app.maintenance.adoption import Adopter
from app.maintenance.reconfigure import Reconfigurer
from app.mirror.mirror import Mirror
from app.ranking.registry import BY_NAME as RANKERS
from app.search.pipeline import Searcher
from app.settings.values import Settings
from app.sync import healing
from app.sync import spaces as space_sync
from app.sync.batches import BatchEmbedder
from app.sync.companions import CompanionEmbedder
from app.sync.filler import CompanionFiller
from app.sync.importing import Importer
from app.sync.queue import EmbeddingQueue
from app.sync.writer import Writer

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Application:
    """All parts of a process over one database."""

    settings: Settings
    database: Database
    active: ActiveEmbedder
    mirror: Mirror
    searcher: Searcher
    writer: Writer
    batches: BatchEmbedder
    importer: Importer
    queue: EmbeddingQueue
    companions: CompanionEmbedder
    filler: CompanionFiller
    reconfigurer: Reconfigurer
    adopter: Adopter

    @property
    def embedder(self) -> Embedder:
        """The embedder in use now."""
        return self.active.current.embedder

    def flask(self) -> Flask:
        """Build the HTTP application over these parts."""
        return create_flask(
            Services(
                settings=self.settings,
                database=self.database,
                active=self.active,
                mirror=self.mirror,
                searcher=self.searcher,
                writer=self.writer,
                batches=self.batches,
                importer=self.importer,
                queue=self.queue,
                companions=self.companions,
                reconfigurer=self.reconfigurer,
            )
        )

    def warm(self) -> None:
        """Load the index now and the model beside, so that the first search need not.

        Requests that need no model are answered meanwhile.
        """
        self.mirror.warm()
        self.filler.start()
        threading.Thread(target=self._warm_model, name="warm", daemon=True).start()

    def _warm_model(self) -> None:
        DICTIONARY.warm()
        try:
            self.embedder.warm()
        except CrystalError as error:
            _log.warning("the embedder is not ready: %s", error.message)
        # What is loaded by now stays; collecting it again and again costs searches milliseconds.
        gc.collect()
        gc.freeze()

    def close(self) -> None:
        """Stop the queue, then close connections."""
        self.queue.close()
        self.filler.close()
        self.active.close()
        self.database.close()


def database_url(settings: Settings) -> str | URL:
    """Return the URL of the configured database, by default a file in the data folder."""
    # Not as a text: a question mark or percent sign in the path would mean something there.
    return settings.database_url or URL.create(
        "sqlite", database=str(settings.data_dir / "crystal.db")
    )


def build(settings: Settings, embedder: Embedder | None = None) -> Application:
    """Open the database, upgraded, and make every part over it.

    The embedder is the one that the settings name, unless another is handed in.

    Raises:
        ConfigurationError: a setting cannot be used.
        DatabaseUnavailable: the database cannot be opened.
    """
    _refuse_unusable(settings)
    DICTIONARY.configure(settings.data_dir)
    database = Database(database_url(settings))
    migrate.upgrade(database)
    embedder = embedder or _embedder(settings, database)
    space = space_sync.prepare(database, embedder.spec)
    healing.fill_words(database)
    active = ActiveEmbedder(Active(settings, embedder, space.id))
    mirror = Mirror(database)
    companions = CompanionEmbedder(database, active)
    filler = CompanionFiller(companions)
    batches = BatchEmbedder(database, active, filler.wake)
    reconfigurer = Reconfigurer(database, active)
    return Application(
        settings=settings,
        database=database,
        active=active,
        mirror=mirror,
        searcher=Searcher(mirror, active),
        writer=Writer(database, active, filler.wake),
        batches=batches,
        importer=Importer(database),
        queue=EmbeddingQueue(batches),
        companions=companions,
        filler=filler,
        reconfigurer=reconfigurer,
        adopter=Adopter(database, active, reconfigurer),
    )


def _refuse_unusable(settings: Settings) -> None:
    if settings.search_ranker not in RANKERS:
        raise ConfigurationError(
            f"Setting search.ranker must be one of {', '.join(RANKERS)}, "
            f"not {settings.search_ranker!r}"
        )
    if (settings.data_dir / ORIGINAL).exists():
        raise ConfigurationError(
            f"{settings.data_dir} is ChatCrystal's own folder: set data_dir to another one and run "
            f"crystal import chatcrystal {settings.data_dir}"
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


@contextmanager
def rehearsal(settings: Settings) -> Iterator[Adopter]:
    """Open what a dry run needs: the database as it is, or an empty one in place of none.

    Raises:
        ConfigurationError: a setting cannot be used.
        DatabaseUnavailable: the database cannot be read.
    """
    with TemporaryDirectory(prefix="crystal-dry-run-") as folder:
        database = Database(database_url(settings))
        if database.path is not None and not database.path.exists():
            database = Database(URL.create("sqlite", database=str(Path(folder, "crystal.db"))))
            migrate.upgrade(database)
        embedder = _embedder(settings, database)
        active = ActiveEmbedder(Active(settings, embedder, space_id=0))
        try:
            yield Adopter(database, active, Reconfigurer(database, active))
        finally:
            embedder.close()
            database.close()
