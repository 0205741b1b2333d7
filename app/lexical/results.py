"""What the lexical index answers with.

Owns plain values only, so that they can cross layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class LexicalHit(NamedTuple):
    """A note, or a document where documents were asked for, with what its words are worth.

    ``score`` is the greater of ``identity`` (title, aliases, tags, path) and ``content``;
    ``tokens`` are the tokens of the query that it holds, itself or by a variant.
    """

    id: int
    score: float
    identity: float
    content: float
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LexicalStanding:
    """A unit's place among all that a request may find: how many are better, plus one."""

    hit: LexicalHit
    rank: int


@dataclass(frozen=True, slots=True)
class TermMatch:
    """A term that a unit holds for a token of the query.

    ``fields`` are the fields that hold it, with how often; ``identity`` and ``content`` what it is
    worth in the two passes. Of the terms for one token, the best counts in each pass.
    """

    token: str
    term: str
    kind: str
    weight: float
    idf: float
    fields: tuple[tuple[str, int], ...]
    identity: float
    content: float


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """What became of a token of the query: its IDF, and the terms that count for it.

    ``terms`` are (term, kind, weight, IDF, units that hold it), the exact term first.
    """

    token: str
    idf: float
    terms: tuple[tuple[str, str, float, float, int], ...]
