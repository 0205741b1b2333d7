"""The thread of a server process that makes companions while nothing else is to be embedded.

Owns when it works. Must not know how companions are made.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from app.errors import CrystalError
from app.sync.companions import CompanionEmbedder
from app.sync.entity_vectors import EntityEmbedder
from app.threads import LastingThread

LOOK_SECONDS = 60.0
"""How often it looks by itself: other processes write notes too."""

_log = logging.getLogger(__name__)


class CompanionFiller:
    """Fills in companions once started; ``wake`` after a write makes it look at once."""

    def __init__(
        self,
        companions: CompanionEmbedder,
        second: CompanionEmbedder | None = None,
        entities: EntityEmbedder | None = None,
    ) -> None:
        """Fill the active space, and the second one while the active space lacks nothing."""
        self._companions = companions
        self._second = second
        self._entities = entities
        self._due = threading.Event()
        self._thread = LastingThread("companions")

    def start(self) -> None:
        """Begin to look for notes without companions, unless it is closed already."""
        self._due.set()
        self._thread.start(self._work)

    def wake(self) -> None:
        """Have it look soon; does nothing unless it was started."""
        self._due.set()

    def stop(self) -> None:
        """Begin nothing more."""
        self._thread.stop()
        self._due.set()

    def close(self, seconds: float = 30.0) -> bool:
        """Stop, and wait for the group at hand; tell whether it ended in time."""
        self.stop()
        return self._thread.close(seconds)

    def _work(self) -> None:
        while not self._thread.is_ending:
            self._due.wait(LOOK_SECONDS)
            self._due.clear()
            self._fill(self._companions, lambda: self._thread.is_ending)
            if self._entities is not None:
                self._fill(self._entities, lambda: self._thread.is_ending)
            if self._second is not None:
                # A wake means that the active space may lack some again.
                self._fill(self._second, lambda: self._thread.is_ending or self._due.is_set())

    def _fill(
        self,
        companions: CompanionEmbedder | EntityEmbedder,
        is_cancelled: Callable[[], bool],
    ) -> None:
        try:
            companions.fill(is_cancelled=is_cancelled)
        except CrystalError as error:
            _log.warning("companions are not made: %s", error.message)
        except Exception:  # edge: the thread outlives a fault, which is logged
            _log.exception("companions are not made")
