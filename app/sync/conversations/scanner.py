"""The server's own import: one at a time, followed by any number of callers.

Owns the thread that it runs in and what is known of it. Which folders are read, the settings say.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, replace

from app.domain.imports import ImportProgress, ImportReport, ImportRequest, SourceStatus
from app.errors import CrystalError
from app.sync.conversations.importer import ConversationImporter

STOP_SECONDS = 2.0
"""So long a stop waits for the file at hand."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ScanState:
    """How far a scan is; ``version`` grows with every change of it.

    It is over when there is a report, or an error.
    """

    version: int = 0
    progress: ImportProgress | None = None
    report: ImportReport | None = None
    error: Exception | None = None

    @property
    def is_over(self) -> bool:
        """Tell whether nothing more will come."""
        return self.report is not None or self.error is not None


class Scan:
    """One import in a thread of its own."""

    def __init__(self, importer: ConversationImporter) -> None:
        self._importer = importer
        self._state = ScanState()
        self._changed = threading.Condition()
        self._is_cancelled = threading.Event()
        self._thread = threading.Thread(target=self._run, name="import-scan", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Have it end after the file at hand, and wait a little for that.

        A file that takes longer is read again by the next scan.
        """
        self._is_cancelled.set()
        self._thread.join(STOP_SECONDS)

    @property
    def state(self) -> ScanState:
        """How far it is now."""
        return self._state

    def wait(self, seen: int, seconds: float | None = None) -> ScanState:
        """Return the state once it is newer than the one seen, or after some seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._state.version != seen, seconds)
            return self._state

    def result(self) -> ImportReport:
        """Wait for the end and return what it came to.

        Raises:
            CrystalError: the import failed; a fault of ours is raised as it came.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._state.is_over)
        if self._state.error is not None:
            raise self._state.error
        return self._state.report or ImportReport()

    def _run(self) -> None:
        try:
            report = self._importer.run(
                ImportRequest(), self._progressed, self._is_cancelled.is_set
            )
            self._change(report=report)
        except CrystalError as error:
            self._change(error=error)
        except Exception as error:  # edge: of a thread; whoever waits must hear of its end
            _log.exception("an import of conversations failed")
            self._change(error=error)

    def _progressed(self, progress: ImportProgress) -> None:
        self._change(progress=progress)

    def _change(
        self,
        progress: ImportProgress | None = None,
        report: ImportReport | None = None,
        error: Exception | None = None,
    ) -> None:
        with self._changed:
            self._state = replace(
                self._state,
                version=self._state.version + 1,
                progress=progress or self._state.progress,
                report=report,
                error=error,
            )
            self._changed.notify_all()


class ConversationScanner:
    """Starts scans; whoever asks for one while one runs follows that."""

    def __init__(self, importer: ConversationImporter) -> None:
        self._importer = importer
        self._lock = threading.Lock()
        self._scan: Scan | None = None

    def scan(self) -> Scan:
        """Return the running scan, or one that begins now."""
        with self._lock:
            if self._scan is None or self._scan.state.is_over:
                self._scan = Scan(self._importer)
                self._scan.start()
            return self._scan

    def sources(self) -> list[SourceStatus]:
        """Return the enabled sources that have conversations on this machine."""
        return self._importer.sources()

    def enabled(self) -> tuple[str, ...]:
        """Return the names of the enabled sources."""
        return self._importer.enabled()

    def close(self) -> None:
        """Have a running scan end after the file at hand."""
        with self._lock:
            if self._scan is not None:
                self._scan.stop()
