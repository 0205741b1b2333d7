"""What handlers work with, handed in by the factory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from flask import current_app

from app.api.streams import Listeners
from app.db.engine import Database
from app.embedding.active import ActiveEmbedder, SecondSpace
from app.errors import InvalidParameter
from app.llm.registry import PROVIDERS as MODELS
from app.maintenance.reconfigure import Reconfigurer
from app.mirror.mirror import Mirror
from app.search.messages import MessageSearcher
from app.search.neighbours import Neighbours
from app.search.pipeline import Searcher
from app.search.recall import Recaller
from app.settings.values import Settings
from app.sync.background import Background
from app.sync.batches import BatchEmbedder
from app.sync.changeover import Changeover
from app.sync.companions import CompanionEmbedder
from app.sync.conversations.scanner import ConversationScanner
from app.sync.distilling import Distiller
from app.sync.entity_vectors import EntityEmbedder
from app.sync.importing import Importer
from app.sync.judging import Judge
from app.sync.memories import MemoryWriter
from app.sync.queue import WorkQueue
from app.sync.relating import Relater
from app.sync.reviews import Reviewer
from app.sync.writer import Writer

EXTENSION = "chatcrystal-search"


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The parts that make notes of conversations and tasks, relate them and recall them."""

    distiller: Distiller
    reviewer: Reviewer
    relater: Relater
    judge: Judge
    memories: MemoryWriter
    recaller: Recaller
    background: Background


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts of the process that the API calls."""

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
    scanner: ConversationScanner
    queue: WorkQueue
    companions: CompanionEmbedder
    second_companions: CompanionEmbedder | None
    entities: EntityEmbedder
    changeover: Changeover
    reconfigurer: Reconfigurer
    knowledge: Knowledge
    listeners: Listeners = field(default_factory=Listeners)


def services() -> Services:
    """Return the parts behind the request at hand."""
    return cast("Services", current_app.extensions[EXTENSION])


def require_model(parts: Services) -> None:
    """Check that a language model is set.

    Raises:
        InvalidParameter: none is.
    """
    if parts.active.current.settings.llm.provider not in MODELS:
        problem = f"needs a language model: set llm.provider to {' or '.join(MODELS)}"
        raise InvalidParameter("model", problem)
