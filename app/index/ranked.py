"""The best vectors that a scan found, in their exact order as far as somebody reads.

Owns the step from the scan's scores to exact ones: how many vectors must be read in full, so that
the first ones of an answer are sure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from threading import Lock
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from app.domain.evidence import Candidate
from app.index.core import Core, Positions
from app.index.exact import best_first

FIRST = 64
"""So many at least are put in order at once; after that twice as many each time."""

WORST = -1.0
"""The score of a vector that is found to be no numbers: damaged, and not mended yet."""

_NO_SCORES = np.empty(0, dtype=np.float32)


class Rough(NamedTuple):
    """What a scan found in one core: positions (n,), and scores (n,) float32, not quite exact."""

    core: Core
    positions: Positions
    scores: NDArray[np.float32]


class Ranked(Sequence[Candidate]):
    """Candidates by exact score descending, then id; safe among threads.

    A search often shows ten of five hundred that it might look at, and a vector that is read in
    full costs many times as much as one that is scanned.
    """

    def __init__(
        self, query: NDArray[np.float32], found: Sequence[Rough], limit: int, error: float
    ) -> None:
        """Order what was found, the best ``limit`` at most.

        Args:
            query: The vector that was sought, (d,).
            found: All that may be among the best; scores that are no numbers are left out.
            error: How far a rough score may be from the exact one.
        """
        self._query, self._error = query, error
        self._unread = [_numbers(each) for each in found]
        self._rough = np.concatenate([_NO_SCORES, *(each.scores for each in self._unread)])
        self._ids = np.empty(0, dtype=np.int64)
        self._exact = np.empty(0, dtype=np.float64)
        self._length = min(limit, len(self._rough))
        self._known: list[Candidate] = []
        self._lock = Lock()

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> Candidate: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, place: int | slice) -> Candidate | Sequence[Candidate]:
        wanted = range(self._length)[place]
        if isinstance(wanted, int):
            return self._first(wanted + 1)[wanted]
        first = self._first(max(wanted, default=-1) + 1)
        if wanted.step == 1:
            return first[wanted.start : wanted.stop]
        return [first[number] for number in wanted]

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._first(self._length))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def _first(self, count: int) -> list[Candidate]:
        """Return at least so many of the best, in their exact order."""
        with self._lock:
            if len(self._known) < min(count, self._length):
                self._known = self._ordered(max(count, FIRST, 2 * len(self._known)))
            return self._known

    def _ordered(self, count: int) -> list[Candidate]:
        count = min(count, self._length)
        # Nothing that scores less than this can be better than one of the first.
        self._read_above(border_of(self._rough, count) - 2 * self._error)
        order = best_first(self._ids, self._exact, count)
        pairs = zip(self._ids[order].tolist(), self._exact[order].tolist(), strict=True)
        # As ``Candidate._make`` does, without a step of the interpreter for each of hundreds.
        return list(map(partial(tuple.__new__, Candidate), pairs))

    def _read_above(self, border: float) -> None:
        ids, exact = [self._ids], [self._exact]
        for number, (core, positions, rough) in enumerate(self._unread):
            is_near = rough >= border
            if not is_near.any():
                continue
            # In the order in which they lie, which is read faster.
            near = np.sort(positions[is_near])
            scores = core.exact(near, self._query)
            ids.append(core.ids[near])
            exact.append(np.where(np.isfinite(scores), scores, WORST))
            self._unread[number] = Rough(core, positions[~is_near], rough[~is_near])
        self._ids, self._exact = np.concatenate(ids), np.concatenate(exact)


def border_of(rough: NDArray[np.float32], count: int) -> float:
    """Return the score that comes at ``count``; everything is above it when there are fewer."""
    if len(rough) <= count:
        return -np.inf
    place = len(rough) - count
    return float(np.partition(rough, place)[place])


def _numbers(found: Rough) -> Rough:
    is_number = np.isfinite(found.scores)
    if is_number.all():
        return found
    return Rough(found.core, found.positions[is_number], found.scores[is_number])
