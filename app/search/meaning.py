"""Query vectors in the form in which an index holds its own.

Owns the check that both belong to one space. Must not embed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.embedding.active import Active
from app.errors import SpaceMismatch
from app.mirror.view import View


def is_of(view: View, mine: Active) -> bool:
    """Tell whether a view's vectors are those of a model; one name may have several spaces."""
    return view.space is None or view.space.id == mine.space_id


def prepared(
    view: View, mine: Active, vector: NDArray[np.float32], text: str
) -> NDArray[np.float32]:
    """Bring a query's vector (d,) to the form of the view's indexes.

    Args:
        mine: What the query was embedded with, and for which space.

    Raises:
        SpaceMismatch: the indexes belong to another space.
    """
    if view.space is not None:
        spec, other = view.space.spec, mine.embedder.spec
        if not is_of(view, mine) or spec.dimension not in (None, len(vector)):
            raise SpaceMismatch(
                f"The query was embedded by {other.provider}/{other.model} ({len(vector)} "
                f"dimensions), the active space is {spec.provider}/{spec.model} "
                f"({spec.dimension}); set embedding.provider and embedding.model back, or run: "
                "crystal reindex"
            )
    return view.prepared(vector, text)
