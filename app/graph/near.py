"""Near names: what may have been meant by a name that nothing has.

Owns the distance. Must not know what the names are of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

NEAR_NAMES = 3
"""How many are told."""

LONGEST_NAME = 100
"""Characters that are compared; what stands behind does not tell names apart here."""


def distances(one: str, others: Sequence[str]) -> NDArray[np.int64]:
    """Count the insertions, deletions and replacements from one text to each other one (n,).

    Levenshtein's distance, a row of all tables at a time.
    """
    lengths = np.array([len(other) for other in others], dtype=np.int64)
    width = int(lengths.max(initial=0))
    letters = np.zeros((len(others), width), dtype=np.uint32)
    if width:
        letters = np.array(others, dtype=f"<U{width}").view(np.uint32).reshape(len(others), width)
    columns = np.arange(width + 1, dtype=np.int16)
    row = np.repeat(columns[None, :], len(others), axis=0)
    for letter in one:
        replaced = row[:, :-1] + (letters != ord(letter))
        following = row + np.int16(1)
        following[:, 1:] = np.minimum(following[:, 1:], replaced)
        # What is inserted costs one a column, from wherever that is cheapest.
        row = np.minimum.accumulate(following - columns, axis=1) + columns
    return np.asarray(row[np.arange(len(others)), lengths], dtype=np.int64)


def near_names(name: str, uses: Mapping[str, int], limit: int = NEAR_NAMES) -> list[str]:
    """Return the nearest of some names: by distance without case, use, name; never itself.

    Args:
        uses: How often each name is used.
    """
    wanted = _comparable(name)
    rivals = [(_comparable(other), other) for other in uses]
    rivals = [rival for rival in rivals if rival[0] != wanted]
    far = distances(wanted, [compared for compared, _ in rivals]).tolist()
    rows = sorted(
        (distance, -uses[other], other) for distance, (_, other) in zip(far, rivals, strict=True)
    )
    return [other for _, _, other in rows[:limit]]


def _comparable(name: str) -> str:
    return name.strip().casefold()[:LONGEST_NAME]
