"""How far notes are from one another along edges.

Owns the walk. Must not know titles or what an edge means.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np
from numpy.typing import NDArray

OUT = "out"
IN = "in"
BOTH = "both"
DIRECTIONS = (OUT, IN, BOTH)

SPARE_PLACES = 1_000_000
"""So many ids without a note may lie between the others before they are numbered anew."""

Pair = tuple[int, int]
Ids = NDArray[np.int64]


def distances(edges: Iterable[Pair], seed: int, hops: int, direction: str = OUT) -> dict[int, int]:
    """Return how many edges away each note is, up to ``hops``; the seed itself is left out.

    Args:
        edges: Pairs of source and target, in any order and as often as there are.
    """
    flat = np.fromiter(chain.from_iterable(edges), dtype=np.int64)
    return distances_along(flat[0::2], flat[1::2], seed, hops, direction)


def distances_along(
    sources: Ids, targets: Ids, seed: int, hops: int, direction: str = OUT
) -> dict[int, int]:
    """Walk breadth-first along edges given as sources (e,) and targets (e,).

    A hop looks at every edge, in arrays: for few hops that is quicker than to sort edges by note.
    """
    nodes, places = _numbered(np.concatenate([sources, targets, [seed]]))
    tails, heads = places[: len(sources)], places[len(sources) : -1]
    if direction == IN:
        tails, heads = heads, tails
    elif direction == BOTH:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    found: dict[int, int] = {}
    is_seen = np.zeros(len(nodes), dtype=np.bool_)
    is_frontier = is_seen.copy()
    is_frontier[places[-1]] = True
    for hop in range(1, hops + 1):
        is_seen |= is_frontier
        reached = heads[is_frontier[tails]]
        is_frontier = np.zeros(len(nodes), dtype=np.bool_)
        is_frontier[reached] = True
        is_frontier &= ~is_seen
        if not is_frontier.any():
            break
        found |= dict.fromkeys(nodes[is_frontier].tolist(), hop)
    return found


def _numbered(ids: Ids) -> tuple[Ids, Ids]:
    """Return which notes there are, and the place of each id among them."""
    highest = int(ids.max())
    if ids.min() >= 0 and highest < SPARE_PLACES + len(ids):
        # Ids are nearly as good as places, and need no sorting.
        return np.arange(highest + 1), ids
    nodes, places = np.unique(ids, return_inverse=True)
    return nodes, places
