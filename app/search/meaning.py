"""Query vectors in the form in which an index holds its own.

Owns the check that both belong to one space. Must not embed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from app.domain.spaces import SpaceSpec
from app.errors import SpaceMismatch
from app.mirror.view import View


def prepared(
    view: View, mine: SpaceSpec, vector: NDArray[np.float32], text: str
) -> NDArray[np.float32]:
    """Bring a query's vector (d,) to the form of the view's indexes.

    Args:
        mine: The space that the query was embedded into.

    Raises:
        SpaceMismatch: the indexes belong to another space.
    """
    if view.space is not None:
        spec = view.space.spec
        is_same = (spec.provider, spec.model) == (mine.provider, mine.model)
        if not is_same or spec.dimension not in (None, len(vector)):
            raise SpaceMismatch(
                f"The query was embedded by {mine.provider}/{mine.model} ({len(vector)} "
                f"dimensions), the active space is {spec.provider}/{spec.model} "
                f"({spec.dimension}); set embedding.provider and embedding.model back, or run: "
                "crystal reindex"
            )
    return view.prepared(vector, text)
