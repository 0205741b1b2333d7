"""The thread of a server process that makes companions while nothing else is to be embedded.

Owns when it works. Must not know how companions are made.
"""

from __future__ import annotations

import logging
import threading

from app.errors import CrystalError
from app.sync.companions import CompanionEmbedder

LOOK_SECONDS = 60.0
"""How often it looks by itself: other processes write notes too."""

_log = logging.getLogger(__name__)


class CompanionFiller:
    """Fills in companions once started; ``wake`` after a write makes it look at once."""

    def __init__(self, companions: CompanionEmbedder) -> None:
        self._companions = companions
        self._due = threading.Event()
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look for notes without companions."""
        self._due.set()
        self._thread = threading.Thread(target=self._work, name="companions", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Have it look soon; does nothing unless it was started."""
        self._due.set()

    def close(self) -> None:
        """Finish the group at hand and end."""
        self._is_closed = True
        self._due.set()
        if self._thread is not None:
            self._thread.join(timeout=30)

    def _work(self) -> None:
        while not self._is_closed:
            self._due.wait(LOOK_SECONDS)
            self._due.clear()
            try:
                self._companions.fill(is_cancelled=lambda: self._is_closed)
            except CrystalError as error:
                _log.warning("companions are not made: %s", error.message)
            except Exception:  # edge: the thread outlives a fault, which is logged
                _log.exception("companions are not made")
