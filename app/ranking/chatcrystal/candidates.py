"""Stage 3, candidates: how many chunks are taken, and what their cosines are worth.

Owns the score scale and the sizes of growth's rounds.
"""

from __future__ import annotations

from app.domain.spaces import PLAIN_BORDER

BUDGET_PER_RESULT = 20
LEAST_BUDGET = 500


def raw_score(cosine: float, border: float) -> float:
    """Map a cosine so that the space's border comes to lie at 0.58; monotone, never saturated."""
    if border == PLAIN_BORDER:
        return cosine
    if cosine <= border:
        # In this order the border itself comes out as 0.58 to the last digit.
        return PLAIN_BORDER * (cosine / border)
    return PLAIN_BORDER + (1 - PLAIN_BORDER) * (cosine - border) / (1 - border)


def budget(limit: int, size: int) -> int:
    """Return the most candidates that growth may take from ``size`` chunks."""
    return min(size, max(BUDGET_PER_RESULT * limit, LEAST_BUDGET))
