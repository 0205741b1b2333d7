"""Evidence for the ranker `hybrid`, in place of index and database, and a driver of its run.

Owns how a test states what is near, what is found by words, and what is known of notes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st

from app.domain.chunks import KIND_CHUNK, KIND_FIELD, KIND_WHOLE, SECOND_FIELD, SECOND_WHOLE
from app.domain.evidence import LexicalHit, NoteCard, NoteFacts
from app.domain.notes import STATUS_DONE, STATUS_PENDING
from app.ranking.hybrid.ranker import rank_hybrid
from app.ranking.run import (
    Coverage,
    LexicalHits,
    Likeness,
    NearestNotes,
    Need,
    NoteCards,
    NoteCosines,
    Question,
    Ranking,
    Together,
)

BORDER = 0.5
SECOND_BORDER = 0.3
QUERY = "wal mode"

Vectors = Mapping[int, Mapping[int, float]]
Item = TypeVar("Item")
Shuffle = Callable[[list[Any]], list[Any]]


def facts(
    note_id: int,
    title: str = "Entry",
    status: str = STATUS_DONE,
    conversation: str | None = "c",
    *,
    has_body: bool = False,
) -> NoteFacts:
    """What is known of a note."""
    return NoteFacts(NoteCard(note_id, title, status, conversation), (), has_body)


def hit(note_id: int, score: float) -> LexicalHit:
    """A note found by words."""
    return LexicalHit(note_id, score, 0.0, score, ("wal",))


def as_given(items: list[Any]) -> list[Any]:
    """The order in which everything comes unless a test wants another."""
    return items


@dataclass(frozen=True)
class Shelf:
    """All that a run may be told.

    ``whole``, ``fields``, ``chunks`` and those of the second model are cosines by number by note;
    ``coverage`` is 1 where nothing is said. ``alike`` are cosines of pairs of notes, the lower id
    first, by kind. ``shuffle`` is the order in which answers come that have no order.
    """

    notes: Mapping[int, NoteFacts]
    whole: Vectors = field(default_factory=dict)
    fields: Vectors = field(default_factory=dict)
    chunks: Vectors = field(default_factory=dict)
    second_whole: Vectors = field(default_factory=dict)
    second_fields: Vectors = field(default_factory=dict)
    alike: Mapping[str, Mapping[tuple[int, int], float]] = field(default_factory=dict)
    hits: Sequence[LexicalHit] = ()
    coverage: Mapping[int, float] = field(default_factory=dict)
    shuffle: Shuffle = as_given

    def vectors(self, kind: str) -> Vectors:
        """The cosines of a kind."""
        return {
            KIND_WHOLE: self.whole,
            KIND_FIELD: self.fields,
            KIND_CHUNK: self.chunks,
            SECOND_WHOLE: self.second_whole,
            SECOND_FIELD: self.second_fields,
        }[kind]

    def likeness(self, kind: str, note_id: int) -> dict[int, float]:
        """The cosines of a kind to one of the notes, 1 to itself; none without its vector."""
        if note_id not in self.vectors(kind):
            return {}
        pairs = self.alike.get(kind, {})
        return {
            other: 1.0
            if other == note_id
            else pairs.get((min(note_id, other), max(note_id, other)), 0.0)
            for other in self.vectors(kind)
        }

    def nearest(self, kind: str, limit: int) -> list[int]:
        """The notes of the best ``limit`` vectors of a kind."""
        scored = [
            (-cosine, note, number)
            for note, numbers in self.vectors(kind).items()
            for number, cosine in numbers.items()
        ]
        return list(dict.fromkeys(note for _, note, _ in sorted(scored)[:limit]))

    def meet(self, need: Need) -> Any:
        """Hand out what index, database and lexical index would."""
        match need:
            case Together(needs):
                return [self.meet(each) for each in needs]
            case NearestNotes() | LexicalHits():
                return self.shuffle(self._found(need))
            case NoteCards(note_ids):
                return self._some(self.notes, note_ids)
            case NoteCosines(kind, note_ids):
                return self._some(self.vectors(kind), note_ids)
            case Likeness(kind, note_id, note_ids):
                return self._some(self.likeness(kind, note_id), note_ids)
            case Coverage(note_ids):
                return {note: self.coverage.get(note, 1.0) for note in note_ids}
        raise AssertionError(f"hybrid has no use for {need}")

    def _found(self, need: NearestNotes | LexicalHits) -> list[Any]:
        if isinstance(need, NearestNotes):
            return list(self.nearest(need.kind, need.limit))
        best = sorted(self.hits, key=lambda each: (-each.score, each.note_id))
        return list(best[: need.limit])

    def _some(self, found: Mapping[int, Item], note_ids: Sequence[int]) -> dict[int, Item]:
        return dict(self.shuffle([(note, found[note]) for note in note_ids if note in found]))


def run(shelf: Shelf, question: Question) -> tuple[Ranking, list[Need]]:
    """Run the ranker to its end; return its ranking and the needs that it had."""
    steps = rank_hybrid(question)
    needs: list[Need] = []
    met: Any = None
    while True:
        try:
            need = steps.send(met)
        except StopIteration as finished:
            return finished.value, needs
        needs.append(need)
        met = shelf.meet(need)


def asked(
    limit: int = 10, cut: bool = True, query: str = QUERY, second_border: float | None = None
) -> Question:
    """A question to a space with the border of these tests."""
    return Question(
        query=query, limit=limit, size=1_000, border=BORDER, cut=cut, second_border=second_border
    )


def order(ranking: Ranking) -> list[int]:
    """The notes of an answer, best first."""
    return [each.note.note_id for each in ranking.hits]


COSINES = st.sampled_from([-0.3, 0.0, 0.2, 0.41, 0.5, 0.5, 0.7, 0.9])
SHARES = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@st.composite
def shelves(draw: st.DrawFn, most_notes: int = 8) -> Shelf:
    """Notes in all states, with and without companions and words, many of them alike."""
    ids = range(1, draw(st.integers(0, most_notes)) + 1)
    notes = {
        note: facts(
            note,
            draw(st.sampled_from(["wal", "锁定", "mode 锁定"])),
            draw(st.sampled_from([STATUS_DONE, STATUS_DONE, STATUS_DONE, STATUS_PENDING])),
            draw(st.sampled_from(["c", "c", "c", None])),
            has_body=draw(st.booleans()),
        )
        for note in ids
    }
    numbers = st.sets(st.sampled_from([0, 1, 2]))
    pairs = [(one, other) for one in ids for other in ids if one < other]
    return Shelf(
        notes=notes,
        whole={note: {0: draw(COSINES)} for note in ids if draw(st.booleans())},
        fields={
            note: {number: draw(COSINES) for number in chosen}
            for note in ids
            if (chosen := draw(numbers))
        },
        chunks={note: {0: draw(COSINES), 1: draw(COSINES)} for note in ids if draw(st.booleans())},
        second_whole={note: {0: draw(COSINES)} for note in ids if draw(st.booleans())},
        second_fields={note: {0: draw(COSINES)} for note in ids if draw(st.booleans())},
        alike={
            kind: {pair: draw(COSINES) for pair in pairs} for kind in (KIND_WHOLE, SECOND_WHOLE)
        },
        hits=[hit(note, draw(st.sampled_from([1.0, 2.0, 4.0]))) for note in ids
              if draw(st.booleans())],
        coverage={note: draw(SHARES) for note in ids},
    )  # fmt: skip


QUESTIONS = st.builds(
    asked,
    limit=st.integers(0, 9),
    cut=st.booleans(),
    query=st.sampled_from(["wal mode", "锁定 wal", "锁"]),
    second_border=st.sampled_from([None, SECOND_BORDER]),
)
