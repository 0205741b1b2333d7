"""The answers that an index gave last.

Owns how many are kept. An index never changes, so they hold for as long as it does; a change makes
another index, which begins without any.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from app.domain.evidence import Candidate

ANSWERS = 32

LONGEST_ANSWER = 2_000
"""Answers with more candidates are not kept: what is kept takes 8 MB at most."""

Asked = tuple[bytes, int]


class RecentAnswers:
    """The candidates for the queries that were asked last, whole; safe among threads."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Asked, Sequence[Candidate]] = OrderedDict()
        self._lock = Lock()

    def find(self, query: NDArray[np.float32], limit: int) -> Sequence[Candidate] | None:
        """Return the answer to a query, None when it is not kept."""
        asked = (query.tobytes(), limit)
        with self._lock:
            answer = self._answers.get(asked)
            if answer is None:
                return None
            self._answers.move_to_end(asked)
            return answer

    def keep(self, query: NDArray[np.float32], limit: int, answer: Sequence[Candidate]) -> None:
        """Keep an answer, maybe in the place of the one that was not asked for the longest."""
        if len(answer) > LONGEST_ANSWER:
            return
        with self._lock:
            self._answers[query.tobytes(), limit] = answer
            if len(self._answers) > ANSWERS:
                self._answers.popitem(last=False)
