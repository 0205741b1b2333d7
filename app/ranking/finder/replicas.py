"""Notes of the same content: the best of them is shown, the others are named beside it.

Owns what is the same. Must not change any score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.fragments import Fragment, SourceCard
from app.ranking.finder.rollup import Source

NoteSource = Source[int, Fragment]


@dataclass(frozen=True, slots=True)
class Shown:
    """A note of an answer, and the worse ones that have the same content, best first."""

    source: NoteSource
    card: SourceCard
    replicas: tuple[tuple[NoteSource, SourceCard], ...] = ()


def collapsed(sources: Sequence[NoteSource], cards: Mapping[int, SourceCard]) -> tuple[Shown, ...]:
    """Collapse notes of the same content into the best of them; the order stays.

    Those without a card, or whose conversation is gone, may not be found and are left out.
    """
    firsts: dict[str, NoteSource] = {}
    others: dict[int, list[tuple[NoteSource, SourceCard]]] = {}
    kept: list[tuple[NoteSource, SourceCard]] = []
    for source in sources:
        card = cards.get(source.id)
        if card is None or card.conversation_id is None:
            continue
        first = firsts.setdefault(card.content_digest, source) if card.content_digest else source
        if first is source:
            kept.append((source, card))
        else:
            others.setdefault(first.id, []).append((source, card))
    return tuple(Shown(source, card, tuple(others.get(source.id, ()))) for source, card in kept)
