"""BM25 over fields: what an occurrence is worth.

Owns the constants and formulas, elementwise, so that a unit's digits do not depend on who else is
scored. Must not know postings or queries.

Sources: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009):
k1, b, and BM25F, where the fields' frequencies are each normalised by the field's own length,
weighted and summed before they are saturated once, so that a word in the title and the tags does
not count as two words. The weights of the fields are those of the ranker ``fusion``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from app.lexical.documents import ALIASES, CONTENT, FIELDS, PATH, TAGS, TITLE
from app.lexical.segment import Places

K1 = 1.2
B = 0.75
IDENTITY_WEIGHTS = {TITLE: 2.0, ALIASES: 1.8, TAGS: 1.5, PATH: 1.2}
CONTENT_WEIGHTS = {CONTENT: 1.0}

Values = NDArray[np.float64]


def inverse_frequency(having: int, total: int) -> float:
    """Return the IDF of a term that ``having`` of ``total`` units hold; never negative."""
    return math.log(1 + (total - having + 0.5) / (having + 0.5))


def length_norms(lengths: Values) -> Values:
    """Return what frequencies (fields, n) are divided by.

    The average length of a field is that of the units that have the field: most notes lack
    aliases, and one that has some is not long for it.
    """
    totals, filled = lengths.sum(axis=1), np.count_nonzero(lengths, axis=1)
    averages = totals / np.maximum(filled, 1)
    averages[filled == 0] = 1.0
    return np.asarray((1 - B) + B * (lengths / averages[:, np.newaxis]))


def worths(
    frequencies: Values, ordinals: Places, norms: Values, weights: Mapping[str, float]
) -> Values:
    """Return what a term is worth to units (n,), from 0 to k1 + 1.

    ``frequencies`` (fields, n) are those in the units of these ordinals, ``norms`` (fields, units)
    those of all units.
    """
    weighted = np.zeros(len(ordinals))
    for number, field in enumerate(FIELDS):
        if field in weights and frequencies[number].any():
            weighted += weights[field] * (frequencies[number] / norms[number][ordinals])
    return (K1 + 1) * weighted / (K1 + weighted)
