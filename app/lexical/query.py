"""A query as the index reads it: which tokens count, and which may stand for others.

Owns the dropping of function words. No character of a query is syntax.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.lexical.function_words import is_function_word
from app.lexical.segmentation import pieces


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A token to look for; ``is_part`` when it is a part of a word that is looked for too."""

    token: str
    is_part: bool


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """The distinct tokens of a query in order, without function words."""

    terms: tuple[QueryTerm, ...]

    @classmethod
    def of(cls, text: str) -> LexicalQuery:
        """Read a text; one of function words alone asks for nothing."""
        is_part: dict[str, bool] = {}
        for piece in pieces(text):
            if not is_function_word(piece.token):
                is_part[piece.token] = piece.is_part and is_part.get(piece.token, True)
        return cls(tuple([QueryTerm(token, part) for token, part in is_part.items()]))
