"""The kinds of work that a server process does in the background, over one queue.

Owns what follows on what: notes that were distilled are related afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from app.sync.batches import GROUP as EMBEDDED_AT_ONCE
from app.sync.batches import BatchEmbedder
from app.sync.distilling import GROUP as DISTILLED_AT_ONCE
from app.sync.distilling import Distiller
from app.sync.queue import EMBEDDING, Work, WorkQueue
from app.sync.relating import GROUP as RELATED_AT_ONCE
from app.sync.relating import Relater

DISTILLING = "distilling"
ASKING = "asking"
"""Distilling with a language model: one conversation at a time, so that it can be cancelled."""

RELATING = "relating"


class Background:
    """The queue of a process and what may be put into it."""

    def __init__(
        self,
        batches: BatchEmbedder,
        distiller: Distiller,
        relater: Relater,
        on_written: Callable[[], None] = lambda: None,
    ) -> None:
        """Work with these parts; ``on_written`` is called after notes were written."""
        self._batches = batches
        self._distiller = distiller
        self._relater = relater
        self._on_written = on_written
        self.queue = WorkQueue(
            {
                EMBEDDING: Work(EMBEDDED_AT_ONCE, batches.run),
                DISTILLING: Work(DISTILLED_AT_ONCE, self._distil),
                ASKING: Work(1, self._ask),
                RELATING: Work(RELATED_AT_ONCE, relater.run),
            }
        )

    def distil(self, titles: Mapping[str, str], *, with_model: bool = False) -> int:
        """Queue conversations to be distilled, by id; return how many were added."""
        return self.queue.submit(titles, ASKING if with_model else DISTILLING)

    def relate(self, titles: Mapping[int, str]) -> int:
        """Queue notes whose relations are to be found, by id; return how many were added."""
        return self.queue.submit(titles, RELATING)

    def _distil(self, ids: Sequence[str]) -> Mapping[str, str]:
        return self._finish(ids, with_model=False)

    def _ask(self, ids: Sequence[str]) -> Mapping[str, str]:
        return self._finish(ids, with_model=True)

    def _finish(self, ids: Sequence[str], *, with_model: bool) -> Mapping[str, str]:
        report = self._distiller.distil(ids, with_model=with_model)
        written = report.noted.values()
        if written:
            self._on_written()
            left = set(written).intersection(self._batches.unembedded())
            self.queue.submit({note_id: f"Note {note_id}" for note_id in sorted(left)})
            # A server that was stopped in between may have left some.
            unrelated = self._relater.awaiting()
            self.relate({note_id: f"Relations of note {note_id}" for note_id in unrelated})
        return report.reasons
