"""What one note is worth: meaning, words, and how they are joined.

Owns the numbers of a row. Pure arithmetic on what was measured of a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from app.domain.evidence import NoteFacts
from app.text import has_han

WHOLE_SHARE = 0.4
"""The cosine of the whole note counts so much,"""

FIELD_SHARE = 0.4
"""the best of title, summary and conclusions so much,"""

TITLE_SHARE = 0.2
"""and the title once more."""

TITLE_FIELD = 0

WORDS_WEIGHT = 0.2
"""What a full match of words adds, beside a meaning of at most 1."""


class Cosines(NamedTuple):
    """What the vectors of a note say: None and empty, by field number, where there are none.

    ``chunk`` is the cosine of the best chunk; only of a note without the other two.
    """

    whole: float | None
    fields: Mapping[int, float]
    chunk: float | None


NO_COSINES = Cosines(None, {}, None)


class Measured(NamedTuple):
    """What was measured of a note.

    ``words`` is the BM25 score as a share of the best one, ``coverage`` the share of the query,
    by IDF, that the note holds.
    """

    facts: NoteFacts
    cosines: Cosines
    words: float
    coverage: float


class Row(NamedTuple):
    """A note with its score and what it is made of; ``meaning`` is None without vectors.

    ``counts_words`` tells whether words were counted: a note in another script than the query's
    is judged by meaning alone, unless its words make it better.
    """

    measured: Measured
    meaning: float | None
    counts_words: bool
    score: float

    @property
    def note_id(self) -> int:
        """The note's id."""
        return self.measured.facts.card.note_id


def row_of(measured: Measured, query: str, border: float) -> Row:
    """Score a note.

    Words count as much as the note covers of the query; the scale is the same whether they count
    or not. Without a meaning they are worth at most one at the border of relevance: a note of
    which more is known must not stand behind one of which less is known.
    """
    meaning = _meaning(measured.cosines)
    words = measured.words * measured.coverage
    if meaning is None:
        return Row(measured, None, True, border * words)
    joined = (meaning + WORDS_WEIGHT * words) / (1 + WORDS_WEIGHT)
    is_same_script = has_han(measured.facts.card.title) == has_han(query)
    counts_words = is_same_script or joined > meaning
    return Row(measured, meaning, counts_words, joined if counts_words else meaning)


def _meaning(cosines: Cosines) -> float | None:
    """Weigh the cosines; a part without a vector leaves its share to the others.

    A note that has no such vectors yet speaks by its best chunk.
    """
    fields = cosines.fields
    parts = [
        (WHOLE_SHARE, cosines.whole),
        (FIELD_SHARE, max(fields.values(), default=None)),
        (TITLE_SHARE, fields.get(TITLE_FIELD)),
    ]
    known = [(share, cosine) for share, cosine in parts if cosine is not None]
    if not known:
        return cosines.chunk
    return sum(share * cosine for share, cosine in known) / sum(share for share, _ in known)
