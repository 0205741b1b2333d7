"""Makes every part of an application over its ground.

Owns which part is handed which.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from app.api.services import Knowledge
from app.embedding.base import Embedder
from app.factory.application import Application
from app.factory.opening import Ground, open_ground
from app.maintenance.adoption import Adopter
from app.maintenance.reconfigure import Reconfigurer
from app.search.kept import Kept
from app.search.messages import MessageSearcher
from app.search.neighbours import Neighbours
from app.search.pipeline import Searcher
from app.search.recall import Recaller
from app.search.turns import turns
from app.search.warming import Warming
from app.settings.values import Settings
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
from app.sync.relating import Relater
from app.sync.reviews import Reviewer
from app.sync.vaults.importing import VaultImporter
from app.sync.writer import Writer


@dataclass(frozen=True, slots=True)
class Embedding:
    """The parts that make vectors: of notes at once, of all that follows them behind."""

    batches: BatchEmbedder
    companions: CompanionEmbedder
    second_companions: CompanionEmbedder | None
    entities: EntityEmbedder
    filler: CompanionFiller


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
    return _application(open_ground(settings, embedder, second))


def _application(ground: Ground) -> Application:
    settings, database, active = ground.settings, ground.database, ground.active
    mirror = ground.mirror
    embedding = _embedding(ground)
    reconfigurer = Reconfigurer(database, active)
    conversations = ConversationImporter(database, settings.sources)
    kept = Kept.over(database.version)
    searcher = _searcher(ground, kept)
    knowledge = _knowledge(ground, embedding, searcher)
    return Application(
        settings=settings,
        database=database,
        active=active,
        second=ground.second,
        mirror=mirror,
        searcher=searcher,
        messages=MessageSearcher(mirror, kept.filters),
        neighbours=Neighbours(mirror, active),
        writer=Writer(database, active, _on_written(ground, embedding.filler)),
        batches=embedding.batches,
        importer=Importer(database),
        conversations=conversations,
        scanner=ConversationScanner(conversations),
        queue=knowledge.background.queue,
        companions=embedding.companions,
        second_companions=embedding.second_companions,
        entities=embedding.entities,
        filler=embedding.filler,
        warming=_warming(ground),
        changeover=ground.changeover,
        reconfigurer=reconfigurer,
        knowledge=knowledge,
        adopter=Adopter(database, active, reconfigurer),
        vaults=VaultImporter(database, active, settings.vault_left_out),
    )


def _embedding(ground: Ground) -> Embedding:
    database, active, second = ground.database, ground.active, ground.second
    companions = CompanionEmbedder(database, active)
    behind = CompanionEmbedder(database, active, second) if second else None
    entities = EntityEmbedder(database, active)
    filler = CompanionFiller(companions, behind, entities)
    batches = BatchEmbedder(database, active, _on_written(ground, filler))
    return Embedding(batches, companions, behind, entities, filler)


def _searcher(ground: Ground, kept: Kept) -> Searcher:
    return Searcher(
        ground.mirror,
        ground.active,
        kept,
        ground.second,
        follow=ground.changeover.follow,
        turns=turns(is_local=ground.database.is_sqlite and ground.mirror.is_in_memory),
    )


def _knowledge(ground: Ground, embedding: Embedding, searcher: Searcher) -> Knowledge:
    database, active, mirror = ground.database, ground.active, ground.mirror
    distiller = Distiller(database, active)
    relater = Relater(database, mirror, embedding.companions)
    return Knowledge(
        distiller=distiller,
        reviewer=Reviewer(database, distiller),
        relater=relater,
        judge=Judge(database, active, mirror),
        memories=MemoryWriter(database, active, mirror),
        recaller=Recaller(database, searcher),
        background=Background(embedding.batches, distiller, relater, embedding.filler.wake),
    )


def _warming(ground: Ground) -> Warming:
    models = [ground.active.current.embedder]
    if ground.second is not None:
        models.append(ground.second.embedder)
    return Warming(ground.database, ground.mirror, tuple(models), ground.settings.search_ranker)


def _on_written(ground: Ground, filler: CompanionFiller) -> partial[None]:
    return partial(_written, ground.changeover, filler)


def _written(changeover: Changeover, filler: CompanionFiller) -> None:
    changeover.advance()
    filler.wake()
