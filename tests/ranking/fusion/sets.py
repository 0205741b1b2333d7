"""Result sets for the ranker `fusion`, and the evidence of a whole run of it.

Owns how a test states them: plain lists and mappings, in place of index and database.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.evidence import Candidate, ChunkRow, LexicalHit, NoteCard, NoteFacts
from app.domain.notes import STATUS_DONE
from app.ranking.fusion.ranker import rank_fusion
from app.ranking.fusion.rows import Row, rank
from app.ranking.run import (
    ChunkRows,
    LexicalHits,
    NearestChunks,
    Need,
    NoteCards,
    Question,
    Ranking,
    RecentOpens,
    Together,
)

UNNAMED = "query that names no note"


def facts(note_id: int, title: str | None = None, *aliases: str) -> NoteFacts:
    """What is known of a note that may be found."""
    card = NoteCard(note_id, f"Entry {note_id}" if title is None else title, STATUS_DONE, "c")
    return NoteFacts(card, aliases)


def ranked(
    semantic: Sequence[tuple[int, float]] = (),
    lexical: Sequence[tuple[int, float]] = (),
    opened: Sequence[int] = (),
    query: str = UNNAMED,
    notes: Iterable[NoteFacts] = (),
) -> tuple[Row, ...]:
    """Rank lists; notes of which nothing is said have a title of their own and no alias."""
    known = {note_id: facts(note_id) for note_id, _ in (*semantic, *lexical)}
    known |= {each.card.note_id: each for each in notes}
    return rank(query, semantic, lexical, known, opened)


def row_of(rows: Iterable[Row], note_id: int) -> Row:
    """The row of a note."""
    return next(row for row in rows if row.note_id == note_id)


def order(rows: Iterable[Row]) -> list[int]:
    """The notes of an answer, best first."""
    return [row.note_id for row in rows]


@dataclass(frozen=True)
class Shelf:
    """All that a run may be told; ``chunks`` are cosine and note id by chunk id."""

    chunks: Mapping[int, tuple[float, int]] = field(default_factory=dict)
    hits: Sequence[LexicalHit] = ()
    notes: Mapping[int, NoteFacts] = field(default_factory=dict)
    opened: Sequence[int] = ()

    def meet(self, need: Need) -> Any:
        """Hand out what the index, the database and the lexical index would."""
        match need:
            case NearestChunks(limit):
                best = sorted(self.chunks, key=lambda chunk: (-self.chunks[chunk][0], chunk))
                return [Candidate(chunk, self.chunks[chunk][0]) for chunk in best[:limit]]
            case ChunkRows(chunk_ids):
                notes = {chunk: self.chunks[chunk][1] for chunk in chunk_ids}
                return {
                    chunk: ChunkRow(chunk, 0, self.notes[note].card, "")
                    for chunk, note in notes.items()
                    if note in self.notes
                }
            case LexicalHits(limit):
                return list(self.hits[:limit])
            case Together(needs):
                return [self.meet(each) for each in needs]
            case NoteCards(note_ids):
                return {note: self.notes[note] for note in note_ids if note in self.notes}
            case RecentOpens(limit):
                return list(self.opened[:limit])
        raise AssertionError(f"fusion has no use for {need}")


def run(shelf: Shelf, question: Question) -> tuple[Ranking, list[Need]]:
    """Run the ranker to its end; return its ranking and the needs that it had."""
    steps = rank_fusion(question)
    needs: list[Need] = []
    met: Any = None
    while True:
        try:
            need = steps.send(met)
        except StopIteration as finished:
            return finished.value, needs
        needs.append(need)
        met = shelf.meet(need)


def asked(query: str = UNNAMED, limit: int = 10, size: int = 1000, cut: bool = True) -> Question:
    """A question to a space whose border plays no part."""
    return Question(query=query, limit=limit, size=size, border=0.58, cut=cut)


def hit(note_id: int, identity: float = 0.0, content: float = 0.0, *matched: str) -> LexicalHit:
    """A note found by words."""
    return LexicalHit(note_id, max(identity, content), identity, content, matched)
