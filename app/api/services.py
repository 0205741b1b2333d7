"""What handlers work with, handed in by the factory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from flask import current_app

from app.api.streams import Listeners
from app.db.engine import Database
from app.embedding.active import ActiveEmbedder
from app.maintenance.reconfigure import Reconfigurer
from app.mirror.mirror import Mirror
from app.search.pipeline import Searcher
from app.settings.values import Settings
from app.sync.batches import BatchEmbedder
from app.sync.companions import CompanionEmbedder
from app.sync.importing import Importer
from app.sync.queue import EmbeddingQueue
from app.sync.writer import Writer

EXTENSION = "chatcrystal-search"


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of the process that the API calls."""

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
    reconfigurer: Reconfigurer
    listeners: Listeners = field(default_factory=Listeners)


def services() -> Services:
    """Return the parts behind the request at hand."""
    return cast("Services", current_app.extensions[EXTENSION])
