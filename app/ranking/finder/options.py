"""What a run of `finder` can be told: named numbers, read once.

Owns the value that the steps read. Defaults and ranges are in ``app.settings.finder``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.domain.fragments import CONTAINS, DERIVES, LINKS_TO, MENTIONS, TRANSCRIBES
from app.settings.finder import OTHER, WEIGHTS

FULL_TEXT = "full-text"
VECTOR = "vector"
SEED_LISTS = (FULL_TEXT, VECTOR)

DEFAULT_WEIGHTS: Mapping[str, float] = {
    CONTAINS: 1.0,
    DERIVES: 0.9,
    MENTIONS: 0.8,
    LINKS_TO: 0.4,
    TRANSCRIBES: 1.0,
    OTHER: 0.5,
}


@dataclass(frozen=True, slots=True)
class FinderOptions:
    """All constants of a run; ``weights`` maps kinds of relations, and ``other``, to weights."""

    seed_k: int = 60
    rrf_k: float = 60
    damping: float = 0.5
    iterations: int = 12
    epsilon: float = 1e-6
    max_hints: int = 3
    max_vector_distance: float = 0.75
    min_full_text_share: float = 0.25
    graph_hops: int = 2
    graph_relation_limit: int = 20_000
    max_entity_degree: int = 200
    weights: Mapping[str, float] = field(default_factory=lambda: DEFAULT_WEIGHTS)

    @classmethod
    def of(cls, values: Mapping[str, float]) -> FinderOptions:
        """Read options by the names of ``app.settings.finder``; absent ones have their default."""
        own = {name: value for name, value in values.items() if not name.startswith(WEIGHTS)}
        weights = {
            name.removeprefix(WEIGHTS): value
            for name, value in values.items()
            if name.startswith(WEIGHTS)
        }
        return cls(**own, weights={**DEFAULT_WEIGHTS, **weights})  # type: ignore[arg-type]

    def weight_of(self, kind: str) -> float:
        """Return the weight of a kind of relation."""
        return self.weights.get(kind, self.weights[OTHER])
