"""How many vectors each segment is asked for.

The more are asked for, the longer a scan keeps account of them. A segment is asked for somewhat
more than its share of what is wanted of all, and again when it has more.

Owns the numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

FIRST_SURPLUS = 32
"""How many more than wanted are asked for first, to see what lies within the error of the cut."""

SHARES = 2
"""A segment is asked for so many times its share at first."""

GROWTH = 2
"""A segment that may have more is asked for so many times as many."""


def first_wanted(limit: int, sizes: Sequence[int], *, is_exact: bool = True) -> dict[int, int]:
    """Return how many to ask each segment for, by its place; nothing of one without any.

    Args:
        limit: How many are wanted of all.
        sizes: How many each segment may give.
        is_exact: All are scanned. Otherwise each is asked for all: a graph looks the further the
            more it is asked for.
    """
    wanted = limit + max(FIRST_SURPLUS, limit // 2)
    share = SHARES * wanted / max(sum(sizes), 1)
    return {
        place: min(wanted, FIRST_SURPLUS + int(share * size)) if is_exact else wanted
        for place, size in enumerate(sizes)
        if size
    }


def next_wanted(
    asked: Mapping[int, int], worst: Mapping[int, float | None], border: float
) -> dict[int, int]:
    """Return how many to ask those segments for that may have more above a border.

    Args:
        asked: How many each was asked for.
        worst: The lowest score that each gave, None of one that gave all that it has.
        border: What scores less cannot be among those wanted.
    """
    due: dict[int, int] = {}
    for place, wanted in asked.items():
        lowest = worst[place]
        if lowest is not None and lowest >= border:
            due[place] = GROWTH * wanted
    return due
