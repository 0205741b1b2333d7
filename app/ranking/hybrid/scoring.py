"""What one note is worth: meaning by one model or two, words, likeness to the best, joined.

Owns the numbers of a row. Pure arithmetic on what was measured of a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from app.domain.evidence import NoteFacts
from app.text import has_han

WHOLE_SHARE = 0.4
"""The cosine of the whole note counts so much,"""

FIELD_SHARE = 0.4
"""the best of title, summary and conclusions, and of the chunks of a body, so much,"""

TITLE_SHARE = 0.2
"""and the title once more."""

TITLE_FIELD = 0

SECTION_SHARE = 0.9
"""The best chunk of a body may speak alone, for so much: of many, one is near by chance."""

WORDS_WEIGHT = 0.2
"""What a full match of words adds, beside a meaning of at most 1."""

LIKENESS_WEIGHT = 0.1
"""What it adds to be like the best note, beside a score of at most 1."""


class Cosines(NamedTuple):
    """What the vectors of a note say: None and empty, by field number, where there are none.

    ``chunk`` is the cosine of the best chunk; of a note without the other two, or with a body.
    """

    whole: float | None
    fields: Mapping[int, float]
    chunk: float | None


NO_COSINES = Cosines(None, {}, None)


class Measured(NamedTuple):
    """What was measured of a note.

    ``words`` is the BM25 score as a share of the best one, ``coverage`` the share of the query,
    by IDF, that the note holds; ``second`` is what the second model says.
    """

    facts: NoteFacts
    cosines: Cosines
    words: float
    coverage: float
    second: Cosines = NO_COSINES


class Row(NamedTuple):
    """A note with its score and what it is made of; ``meaning`` is None without vectors.

    ``meaning`` is the mean of ``first`` and ``second``, of the models that say something, or what
    a section of the body says, if that is more.
    ``counts_words`` tells whether words were counted: a note in another script than the query's
    is judged by meaning alone, unless its words make it better. ``joined`` is meaning with words;
    ``score`` has the likeness to the best note besides, None where it is not known.
    """

    measured: Measured
    first: float | None
    second: float | None
    meaning: float | None
    counts_words: bool
    joined: float
    likeness: float | None = None

    @property
    def score(self) -> float:
        """What the note is worth."""
        likeness = max(self.likeness or 0.0, 0.0)
        return (self.joined + LIKENESS_WEIGHT * likeness) / (1 + LIKENESS_WEIGHT)

    @property
    def note_id(self) -> int:
        """The note's id."""
        return self.measured.facts.card.note_id


def row_of(measured: Measured, query: str, border: float) -> Row:
    """Join the meaning and the words of a note, without the likeness to others.

    Words count as much as the note covers of the query; the scale is the same whether they count
    or not. Without a meaning they are worth at most one at the border of relevance: a note of
    which more is known must not stand behind one of which less is known.
    """
    first, second = _meaning(measured.cosines), _meaning(measured.second)
    meaning = _mean(each for each in (first, second) if each is not None)
    section = measured.cosines.chunk
    if meaning is not None and section is not None and section > 0:
        # The rest of a long note may be about other things, and the second model has no sections.
        meaning = max(meaning, SECTION_SHARE * section)
    words = measured.words * measured.coverage
    if meaning is None:
        return Row(measured, first, second, None, True, border * words)
    joined = (meaning + WORDS_WEIGHT * words) / (1 + WORDS_WEIGHT)
    is_same_script = has_han(measured.facts.card.title) == has_han(query)
    counts_words = is_same_script or joined > meaning
    return Row(measured, first, second, meaning, counts_words, joined if counts_words else meaning)


def _mean(values: Iterable[float]) -> float | None:
    known = tuple(values)
    return sum(known) / len(known) if known else None


def _meaning(cosines: Cosines) -> float | None:
    """Weigh the cosines; a part without a vector leaves its share to the others.

    A note that has no such vectors yet speaks by its best chunk; the sections of a body compete
    with the fields.
    """
    fields = cosines.fields
    if cosines.whole is None and not fields:
        return cosines.chunk
    pieces = [*fields.values(), *([] if cosines.chunk is None else [cosines.chunk])]
    parts = [
        (WHOLE_SHARE, cosines.whole),
        (FIELD_SHARE, max(pieces, default=None)),
        (TITLE_SHARE, fields.get(TITLE_FIELD)),
    ]
    known = [(share, cosine) for share, cosine in parts if cosine is not None]
    return sum(share * cosine for share, cosine in known) / sum(share for share, _ in known)
