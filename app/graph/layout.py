"""Where the notes of a graph lie on a page: a force-directed layout without chance.

Owns the forces and the bound on their work. The same graph gives the same places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.graph.walk import Pair

Places = NDArray[np.float64]

GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))

EXACT_NODES = 300
"""Up to so many nodes push each other one by one; more are pushed by the masses of a grid."""

GRID = 16
PAIRS_IN_ALL = 15_000_000
"""Pushes that one layout may add up, about a second; it takes fewer steps where they are many."""

MOST_STEPS = 120
LEAST_STEPS = 15
FIRST_STEP = 0.1
GRAVITY = 1.5
"""Pull to the middle, so that parts which no edge joins do not drift away: a note without edges
comes to rest where all others together push as hard, at 1 / sqrt(1.5)."""

DECIMALS = 4


def layout(count: int, edges: Sequence[Pair]) -> list[tuple[float, float]]:
    """Return x and y of each node, both from -1 to 1.

    Args:
        edges: Pairs of places among the ``count`` nodes; their order and direction do not matter.
    """
    if count < 2:
        return [(0.0, 0.0)] * count
    places = _spiral(count)
    tails, heads = _distinct(edges)
    length = math.sqrt(1.0 / count)
    for step in range(steps := _steps(count)):
        forces = _pushes(places, length, step) - GRAVITY * places
        _add_pulls(forces, places, tails, heads, length)
        longest = np.maximum(np.hypot(forces[:, 0], forces[:, 1]), 1e-12)
        reach = FIRST_STEP * (1 - step / steps)
        places = places + forces * (np.minimum(longest, reach) / longest)[:, None]
    return _framed(places)


def _steps(count: int) -> int:
    rivals = count if count <= EXACT_NODES else GRID * GRID
    return max(LEAST_STEPS, min(MOST_STEPS, PAIRS_IN_ALL // (count * rivals)))


def _spiral(count: int) -> Places:
    """Spread nodes evenly over a disc, as a sunflower does its seeds."""
    numbers = np.arange(count)
    radius, angle = np.sqrt((numbers + 0.5) / count) / 2, numbers * GOLDEN_ANGLE
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def _distinct(edges: Sequence[Pair]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    pairs = sorted({(min(edge), max(edge)) for edge in edges if edge[0] != edge[1]})
    flat = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    return flat[:, 0], flat[:, 1]


def _pushes(places: Places, length: float, step: int) -> Places:
    """Add up what pushes each node away: length² / distance, from nodes or from masses."""
    if len(places) <= EXACT_NODES:
        rivals, masses = places, np.ones(len(places))
    else:
        rivals, masses = _masses(places, step)
    across = places[:, 0, None] - rivals[None, :, 0]
    along = places[:, 1, None] - rivals[None, :, 1]
    # Nearer than this, nodes push no harder: a mass may lie right on one.
    squares = np.maximum(across * across + along * along, 1e-4 * length * length)
    strength = masses * (length * length) / squares
    return np.stack([(across * strength).sum(axis=1), (along * strength).sum(axis=1)], axis=1)


def _masses(places: Places, step: int) -> tuple[Places, NDArray[np.float64]]:
    """Return centre and number of nodes of each cell of a grid that has some.

    The grid lies elsewhere at every step, so that no two nodes always share a cell.
    """
    low, high = places.min(axis=0), places.max(axis=0)
    shift = np.array([step * GOLDEN_ANGLE % 1.0, step * math.sqrt(2) % 1.0])
    cells = ((places - low) / np.maximum(high - low, 1e-12) * (GRID - 1) + shift).astype(np.int64)
    cells = np.minimum(cells, GRID - 1)
    numbers = cells[:, 0] * GRID + cells[:, 1]
    masses = np.bincount(numbers, minlength=GRID * GRID).astype(np.float64)
    sums = [np.bincount(numbers, places[:, axis], GRID * GRID) for axis in (0, 1)]
    taken = masses > 0
    return np.stack(sums, axis=1)[taken] / masses[taken, None], masses[taken]


def _add_pulls(
    forces: Places,
    places: Places,
    tails: NDArray[np.int64],
    heads: NDArray[np.int64],
    length: float,
) -> None:
    """Add what edges pull their ends together with: distance² / length."""
    gaps = places[heads] - places[tails]
    pulls = gaps * (np.hypot(gaps[:, 0], gaps[:, 1]) / length)[:, None]
    for axis in (0, 1):
        forces[:, axis] += np.bincount(tails, pulls[:, axis], len(places))
        forces[:, axis] -= np.bincount(heads, pulls[:, axis], len(places))


def _framed(places: Places) -> list[tuple[float, float]]:
    """Centre the places and scale them until they reach the frame."""
    low, high = places.min(axis=0), places.max(axis=0)
    centred = places - (low + high) / 2
    reach = max(float(np.abs(centred).max()), 1e-12)
    # Adding zero makes a negative zero plain.
    rounded = np.round(centred / reach, DECIMALS) + 0.0
    return [(x, y) for x, y in rounded.tolist()]
