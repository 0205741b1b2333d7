"""Wires everything; the only module that knows every layer.

Owns the life of a process's parts: opening, warming, closing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from flask import Flask
from sqlalchemy import URL

from app.api.application import create_flask
from app.api.services import Knowledge, Services
from app.db import migrate, spaces
from app.db.engine import Database
from app.embedding import registry
from app.embedding.active import Active, ActiveEmbedder, SecondSpace
from app.embedding.base import Embedder
from app.errors import ConfigurationError
from app.importers.chatcrystal import DATABASE as ORIGINAL
from app.lexical.chinese import DICTIONARY
from app.maintenance.adoption import Adopter
from app.maintenance.reconfigure import Reconfigurer
from app.maintenance.tokens import TokenKeeper
from app.mirror import backends
from app.mirror.mirror import Mirror
from app.ranking.registry import BY_NAME as RANKERS
from app.search.messages import MessageSearcher
from app.search.neighbours import Neighbours
from app.search.pipeline import Searcher
from app.search.recall import Recaller
from app.search.warming import Warming
from app.settings.values import Settings
from app.sync import healing
from app.sync import second as second_sync
from app.sync import spaces as space_sync
from app.sync.background import Background
from app.sync.batches import BatchEmbedder
from app.sync.changeover import Changeover
from app.sync.companions import CompanionEmbedder
from app.sync.conversations.importer import ConversationImporter
from app.sync.conversations.scanner import ConversationScanner
from app.sync.distilling import Distiller
from app.sync.entity_vectors import EntityEmbedder
from app.sync.filler import CompanionFiller
from app.sync.importing import Importer
from app.sync.judging import Judge
from app.sync.memories import MemoryWriter
from app.sync.queue import WorkQueue
from app.sync.relating import Relater
from app.sync.reviews import Reviewer
from app.sync.vaults.importing import VaultImporter
from app.sync.writer import Writer


@dataclass(frozen=True, slots=True)
class Application:
    """All parts of a process over one database."""

    settings: Settings
    database: Database
    active: ActiveEmbedder
    second: SecondSpace | None
    mirror: Mirror
    searcher: Searcher
    messages: MessageSearcher
    neighbours: Neighbours
    writer: Writer
    batches: BatchEmbedder
    importer: Importer
    conversations: ConversationImporter
    scanner: ConversationScanner
    queue: WorkQueue
    companions: CompanionEmbedder
    second_companions: CompanionEmbedder | None
    entities: EntityEmbedder
    filler: CompanionFiller
    warming: Warming
    changeover: Changeover
    reconfigurer: Reconfigurer
    knowledge: Knowledge
    adopter: Adopter
    vaults: VaultImporter

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
                second=self.second,
                mirror=self.mirror,
                searcher=self.searcher,
                neighbours=self.neighbours,
                writer=self.writer,
                batches=self.batches,
                importer=self.importer,
                messages=self.messages,
                scanner=self.scanner,
                queue=self.queue,
                companions=self.companions,
                second_companions=self.second_companions,
                entities=self.entities,
                changeover=self.changeover,
                reconfigurer=self.reconfigurer,
                knowledge=self.knowledge,
            )
        )

    def warm(self) -> None:
        """Load the index now and the model beside, so that the first search need not.

        Requests that need no model are answered meanwhile.
        """
        self.mirror.warm()
        self.filler.start()
        self.changeover.start(self.queue)
        self.warming.start()

    def close(self, within: float = 30.0) -> None:
        """Finish the work at hand, for so many seconds at most, then close connections.

        What is not finished stays ``pending``; its connections end with the process.
        """
        end = time.monotonic() + within
        self.warming.close()
        self.scanner.close()
        workers = (self.changeover, self.queue, self.filler)
        for worker in workers:
            worker.stop()
        has_ended = [worker.close(max(end - time.monotonic(), 0.0)) for worker in workers]
        self.mirror.close()
        if all(has_ended):
            # A call that is cut off would be told as a failure of its notes.
            self.active.close()
            if self.second is not None:
                self.second.embedder.close()
        self.database.close()


def knows_tokens(settings: Settings) -> bool:
    """Tell whether a database knows API tokens; it is neither made nor upgraded for that.

    Raises:
        DatabaseUnavailable: it cannot be read.
    """
    database = Database(database_url(settings))
    try:
        if database.path is not None and not database.path.exists():
            return False
        is_newest = migrate.revision(database) == migrate.newest()
        return is_newest and bool(TokenKeeper(database).every())
    finally:
        database.close()


def database_url(settings: Settings) -> str | URL:
    """Return the URL of the configured database, by default a file in the data folder."""
    # Not as a text: a question mark or percent sign in the path would mean something there.
    return settings.database_url or URL.create(
        "sqlite", database=str(settings.data_dir / "crystal.db")
    )


def build(
    settings: Settings, embedder: Embedder | None = None, second: Embedder | None = None
) -> Application:
    """Open the database, upgraded, and make every part over it.

    The embedder is the one that the settings name, and the second model the installed one, unless
    others are handed in.

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
    healing.fill_fragments(database, space.id)
    healing.fill_links(database)
    healing.fill_messages(database)
    active = ActiveEmbedder(Active(settings, embedder, space.id))
    space_sync.remember(settings, space)
    changeover = Changeover(database, active)
    changeover.follow()
    second_space = second_sync.second_space(settings, database, second)
    held = backends.holding(settings.index, settings.data_dir, database)
    mirror = Mirror(
        database, second_space.space_id if second_space else None, held
    )
    companions = CompanionEmbedder(database, active)
    second_companions = (
        CompanionEmbedder(database, active, second_space) if second_space else None
    )
    entities = EntityEmbedder(database, active)
    filler = CompanionFiller(companions, second_companions, entities)
    on_written = partial(_written, changeover, filler)
    batches = BatchEmbedder(database, active, on_written)
    reconfigurer = Reconfigurer(database, active)
    conversations = ConversationImporter(database, settings.sources)
    searcher = Searcher(mirror, active, second_space, changeover.follow)
    knowledge = _knowledge(
        database=database,
        active=active,
        mirror=mirror,
        searcher=searcher,
        batches=batches,
        companions=companions,
        filler=filler,
    )
    models = (embedder, second_space.embedder) if second_space else (embedder,)
    return Application(
        settings=settings,
        database=database,
        active=active,
        mirror=mirror,
        second=second_space,
        searcher=searcher,
        messages=MessageSearcher(mirror),
        neighbours=Neighbours(mirror, active),
        writer=Writer(database, active, on_written),
        batches=batches,
        importer=Importer(database),
        conversations=conversations,
        scanner=ConversationScanner(conversations),
        queue=knowledge.background.queue,
        knowledge=knowledge,
        companions=companions,
        second_companions=second_companions,
        entities=entities,
        filler=filler,
        warming=Warming(database, mirror, models, settings.search_ranker),
        changeover=changeover,
        reconfigurer=reconfigurer,
        adopter=Adopter(database, active, reconfigurer),
        vaults=VaultImporter(database, active, settings.vault_left_out),
    )


def _knowledge(
    *,
    database: Database,
    active: ActiveEmbedder,
    mirror: Mirror,
    searcher: Searcher,
    batches: BatchEmbedder,
    companions: CompanionEmbedder,
    filler: CompanionFiller,
) -> Knowledge:
    distiller = Distiller(database, active)
    relater = Relater(database, mirror, companions)
    return Knowledge(
        distiller=distiller,
        reviewer=Reviewer(database, distiller),
        relater=relater,
        judge=Judge(database, active, mirror),
        memories=MemoryWriter(database, active, mirror),
        recaller=Recaller(database, searcher),
        background=Background(batches, distiller, relater, filler.wake),
    )


def _written(changeover: Changeover, filler: CompanionFiller) -> None:
    changeover.advance()
    filler.wake()


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
        embedder = _embedder(settings, database)
        active = ActiveEmbedder(Active(settings, embedder, space_id=0))
        try:
            yield database, active
        finally:
            embedder.close()
            database.close()
