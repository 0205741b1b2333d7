"""Which scores are worth showing beside the best one.

Owns the three thresholds of notebrain.md. Comparisons are inclusive.
"""

from __future__ import annotations

ABSOLUTE = 0.70
RELATIVE = 0.85
FALLBACK = 0.05

TOLERANCE = 1e-9
"""Products and differences of floats may miss a threshold that the numbers meet."""


def border(best: float) -> float:
    """Return the least score that is kept beside a best one."""
    if best >= ABSOLUTE - TOLERANCE:
        return min(ABSOLUTE, RELATIVE * best)
    return best - FALLBACK


def is_kept(score: float, best: float) -> bool:
    """Tell whether a score is kept beside the best one of its batch."""
    return score >= border(best) - TOLERANCE
