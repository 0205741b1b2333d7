"""Small worlds of evidence for rankers, and a driver that meets their needs from them.

Owns no rule of any ranker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from app.domain.evidence import Candidate, ChunkRow, NoteCard
from app.ranking.run import ChunkRows, NearestChunks, Need, Question, Ranking, RankingRun

WORDS = ("wal", "mode", "lock", "锁定", "wall")
QUERIES = ("wal", "wal mode", "lock 锁定", "what is it", "the", "锁定")


@dataclass(frozen=True)
class Chunk:
    """A chunk of a world; without a row it is in the index alone."""

    chunk_id: int
    note: NoteCard
    index: int
    cosine: float
    text: str
    has_row: bool = True


@dataclass(frozen=True)
class World:
    """Everything that a run may ask for, and what it did ask."""

    chunks: tuple[Chunk, ...]
    needs: list[Need]

    @property
    def ordered(self) -> list[Chunk]:
        """All chunks, best first, then by id."""
        return sorted(self.chunks, key=lambda chunk: (-chunk.cosine, chunk.chunk_id))

    def meet(self, need: Need) -> Any:
        """Answer a need as the pipeline does."""
        self.needs.append(need)
        if isinstance(need, NearestChunks):
            return [Candidate(chunk.chunk_id, chunk.cosine) for chunk in self.ordered[: need.limit]]
        assert isinstance(need, ChunkRows)
        return {
            chunk.chunk_id: ChunkRow(
                chunk.chunk_id, chunk.index, chunk.note, f"{chunk.note.title}\n{chunk.text}"
            )
            for chunk in self.chunks
            if chunk.has_row and chunk.chunk_id in need.chunk_ids
        }


def drive(
    rank: Callable[[Question], RankingRun],
    question: Question,
    meet: Callable[[Need], Any],
) -> Ranking:
    """Run a ranker to its end."""
    run = rank(question)
    met: Any = None
    while True:
        try:
            need = run.send(met)
        except StopIteration as finished:
            ranking: Ranking = finished.value
            return ranking
        met = meet(need)


@st.composite
def worlds(draw: st.DrawFn, most_chunks: int = 25) -> World:
    """Notes in all states with one to four chunks, many of them with equal cosines."""
    count = draw(st.integers(0, most_chunks))
    cosines = st.sampled_from([-0.2, 0.1, 0.4, 0.5799999, 0.58, 0.7, 0.8199999, 0.82, 0.9])
    ids = draw(st.permutations(range(1, count + 1)))
    chunks: list[Chunk] = []
    while len(chunks) < count:
        chunks += _note(draw, len(chunks) + 1, ids[len(chunks) : count], cosines)
    return World(tuple(chunks), [])


def _note(
    draw: st.DrawFn, note_id: int, free_ids: Iterable[int], cosines: st.SearchStrategy[float]
) -> list[Chunk]:
    note = NoteCard(
        note_id,
        draw(st.sampled_from(["", "wal", "notes on lock"])),
        draw(st.sampled_from(["done", "done", "done", "done", "pending", "failed"])),
        draw(st.sampled_from(["c", "c", "c", None])),
    )
    ids = list(free_ids)[: draw(st.integers(1, 4))]
    texts = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
    return [
        Chunk(
            chunk_id,
            note,
            index,
            draw(cosines),
            draw(texts),
            draw(st.sampled_from([True] * 9 + [False])),
        )
        for index, chunk_id in enumerate(ids)
    ]
