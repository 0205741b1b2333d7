"""The second model of a search: asked beside the first, for rankers that weigh two.

Owns when it is asked, and that a fault of it costs its part of the evidence and no more.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.domain.chunks import SECOND_WHOLE
from app.embedding.active import SecondSpace
from app.embedding.base import QueryVector
from app.embedding.scale import centre_query
from app.errors import CrystalError
from app.mirror.view import View
from app.text import has_han

THREADS = 2
"""The model takes one query at a time; another thread may wait for it."""

_ASKING = ThreadPoolExecutor(THREADS, thread_name_prefix="second")


@dataclass(frozen=True, slots=True)
class Glance:
    """What the second model makes of a query: its prepared vector (d,), and its space's border.

    Both are None when it was not asked, or failed; then a warning says so.
    """

    vector: NDArray[np.float32] | None = None
    border: float | None = None
    warnings: tuple[str, ...] = ()


NOT_ASKED = Glance()


class SecondModel:
    """Asks the second model, as long as every embedded note has companions in its space."""

    def __init__(self, second: SecondSpace | None) -> None:
        """Ask the model of a space; without one nothing is ever asked."""
        self._second = second

    def begin(self, view: View | None, text: str) -> Future[QueryVector] | None:
        """Embed a query in another thread when a view, maybe outdated, says that it will count."""
        if self._second is None or view is None or not _counts(view):
            return None
        return _ASKING.submit(self._second.embedder.embed_query, text)

    def look(self, view: View, text: str, begun: Future[QueryVector] | None) -> Glance:
        """Return what the model makes of a query over a view; ``begun`` may be on its way."""
        if self._second is None or view.second is None or not _counts(view):
            return NOT_ASKED
        try:
            query = begun.result() if begun else self._second.embedder.embed_query(text)
        except CrystalError as fault:
            return Glance(warnings=(f"Found without the second model: {fault.message}",))
        vector = centre_query(query.vector, has_han(text), view.second.means)
        return Glance(vector, view.second.space.spec.border, query.warnings)


def _counts(view: View) -> bool:
    is_complete = view.second is not None and view.second.is_complete
    return bool(is_complete) and SECOND_WHOLE in view.vectors
