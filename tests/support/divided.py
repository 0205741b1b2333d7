"""A model that keeps two languages apart, notes of both, and labelled queries over them.

Owns the texts and their vectors. Raw cosines reach the notes of one language only; means mend it.
"""

from __future__ import annotations

import numpy as np

from app.domain.calibration import LabelledQuery
from tests.support.library import Entry

CASES = 24
LANGUAGES = 2
SHARED, OWN = 0.9, 0.4
"""How much a text has in common with all of its language, and with its case alone."""

HAN = "案例"


def divided_vector(text: str) -> list[float]:
    """A vector that says above all which language a text has, as those of many models do."""
    values = np.zeros(LANGUAGES + 2 * CASES + 1)
    values[int(HAN in text)] = SHARED
    numbers = [int(word) for word in text.split() if word.isdigit()]
    values[LANGUAGES + (numbers[0] if numbers else 2 * CASES)] = OWN
    unit: list[float] = (values / np.linalg.norm(values)).tolist()
    return unit


def labelled(number: int) -> LabelledQuery:
    """A query for the note of a number; from ``CASES`` on no note answers it."""
    is_answered = number < CASES
    group = ("english", "chinese")[number % 2] if is_answered else "none"
    return LabelledQuery(f"about {number}", group, {f"n{number}": 2} if is_answered else {})


QUERIES = [labelled(number) for number in range(2 * CASES)]
ANSWERED, UNANSWERED = QUERIES[:CASES], QUERIES[CASES:]
ENTRIES = [Entry(f"{('case', HAN)[number % 2]} {number}") for number in range(CASES)]
