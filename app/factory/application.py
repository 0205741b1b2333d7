"""All parts of a process over one database, from warming to closing.

Owns the order in which they begin and end. ``building`` makes them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from flask import Flask

from app.api.application import create_flask
from app.api.services import Services
from app.embedding.base import Embedder
from app.maintenance.adoption import Adopter
from app.search.warming import Warming
from app.sync.conversations.importer import ConversationImporter
from app.sync.filler import CompanionFiller
from app.sync.vaults.importing import VaultImporter


@dataclass(frozen=True, slots=True, kw_only=True)
class Application(Services):
    """What the API calls, and what only commands of this machine and the process itself do."""

    conversations: ConversationImporter
    adopter: Adopter
    vaults: VaultImporter
    filler: CompanionFiller
    warming: Warming

    @property
    def embedder(self) -> Embedder:
        """The embedder in use now."""
        return self.active.current.embedder

    def flask(self) -> Flask:
        """Build the HTTP application over these parts."""
        return create_flask(self)

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
        workers = (self.changeover, self.queue, self.filler)
        for worker in workers:
            worker.stop()
        self.scanner.close()
        self.warming.close()
        has_ended = [worker.close(max(end - time.monotonic(), 0.0)) for worker in workers]
        self.mirror.close()
        if all(has_ended):
            # A call that is cut off would be told as a failure of its notes.
            self.active.close()
            if self.second is not None:
                self.second.embedder.close()
        self.database.close()
