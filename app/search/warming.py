"""What a server loads beside its first answers, so that the first searches need not.

Owns the order. Requests that need none of it are answered meanwhile.
"""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Sequence

from app.db import notes
from app.db.engine import Database
from app.embedding.base import Embedder
from app.errors import CrystalError
from app.lexical.chinese import DICTIONARY
from app.mirror.mirror import Mirror
from app.ranking.registry import BY_NAME as RANKERS
from app.threads import LastingThread

PAGE_RANKER = "hybrid"
"""What the web page and MCP ask for, whatever the setting says."""

WARMED_NOTES = 20_000
"""Up to so many notes its indexes are loaded at the start too: some seconds, 0.2 GB."""

CLOSE_SECONDS = 2.0
"""So long a stop waits."""

_log = logging.getLogger(__name__)


class Warming:
    """Loads the dictionary, the models and the indexes of a process, in a thread of its own."""

    def __init__(
        self, database: Database, mirror: Mirror, models: Sequence[Embedder], ranker: str
    ) -> None:
        """Load models, and what a ranker reads."""
        self._database = database
        self._mirror = mirror
        self._models = models
        self._ranker = ranker
        self._thread = LastingThread("warm")

    def start(self) -> None:
        """Begin, unless it is closed already."""
        self._thread.start(self._work)

    def close(self, within: float = CLOSE_SECONDS) -> None:
        """Begin with nothing more, and wait a little for what has begun: it reads the database."""
        self._thread.close(within)

    def _work(self) -> None:
        DICTIONARY.warm()
        for model in self._models:
            if not self._thread.is_ending:
                _attempt(model.warm)
        if not self._thread.is_ending:
            _attempt(self._load_parts)
        # What is loaded by now stays; collecting it again and again costs searches milliseconds.
        gc.collect()
        gc.freeze()

    def _load_parts(self) -> None:
        """Load what the default ranker reads, and while that is little, what `hybrid` reads."""
        wanted = RANKERS[self._ranker].parts
        with self._database.read() as connection:
            if notes.counts(connection)["totalNotes"] <= WARMED_NOTES:
                wanted = (*wanted, *RANKERS[PAGE_RANKER].parts)
        for part in dict.fromkeys(wanted):
            # One by one, so that a search waits for one of them at most.
            if not self._thread.is_ending:
                self._mirror.warm((part,))


def _attempt(load: Callable[[], None]) -> None:
    try:
        load()
    except CrystalError as error:
        _log.warning("not everything is ready: %s", error.message)
