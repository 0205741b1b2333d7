"""The default ranker and its baselines against the page, stage by stage, over random worlds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.evidence import Candidate, NoteCard
from app.ranking.chatcrystal.candidates import raw_score
from app.ranking.chatcrystal.ranker import rank_chatcrystal, rank_v049, rank_vector
from app.ranking.chatcrystal.terms import missing_in, query_terms
from app.ranking.run import ChunkRows, NearestChunks, Need, Question, Ranking
from tests.ranking.worlds import QUERIES, Chunk, World, drive, worlds

RANKERS = {"chatcrystal": rank_chatcrystal, "vector": rank_vector, "v049": rank_v049}
Order = tuple[float, float, int]


@dataclass
class Case:
    """One search over a world, and stages 3 to 8 of search.md, run anew at every round."""

    world: World
    ranker: str
    query: str
    limit: int
    border: float
    cut: bool

    def __post_init__(self) -> None:
        self.terms = query_terms(self.query) if self.ranker == "chatcrystal" else ()
        self.size = len(self.world.chunks)
        self.budget = {
            "chatcrystal": min(self.size, max(20 * self.limit, 500)),
            "vector": self.size,
            "v049": min(self.limit, self.size),
        }[self.ranker]

    def ranking(self) -> Ranking:
        """What the ranker makes of it."""
        question = Question(self.query, self.limit, self.size, self.border, self.cut)
        return drive(RANKERS[self.ranker], question, self.world.meet)

    def adjusted(self, chunk: Chunk) -> float | None:
        """Stages 4 and 5."""
        note = chunk.note
        if not chunk.has_row or note.status != "done" or note.conversation_id is None:
            return None
        raw = raw_score(chunk.cosine, self.border)
        if self.ranker != "chatcrystal":
            return raw
        text = f"{note.title}\n{chunk.text}"
        if self.terms and not missing_in(text, self.terms):
            return max(raw, 0.82)
        return None if raw < 0.58 and self.cut else raw

    def best(self, taken: list[Chunk]) -> dict[int, Order]:
        """Stage 6: each note's best adjusted and raw score."""
        best: dict[int, Order] = {}
        for chunk in taken:
            adjusted = self.adjusted(chunk)
            if adjusted is not None:
                key = (adjusted, raw_score(chunk.cosine, self.border), -chunk.note.note_id)
                best[chunk.note.note_id] = max(best.get(chunk.note.note_id, key), key)
        return best

    def by_the_page(self) -> tuple[list[tuple[int, float]], list[dict[str, int]]]:
        """Stages 7 and 8: the answer, and the rounds that it took."""
        k, rounds = min(self.limit, self.size), []
        while True:
            taken = self.world.ordered[:k]
            best = self.best(taken)
            rounds.append({"k": k, "notes": len(best)})
            worst = raw_score(taken[-1].cosine, self.border) if taken else 1.0
            is_hopeless = self.ranker == "chatcrystal" and self.cut and not self.terms
            if len(best) >= self.limit or k >= self.budget or (is_hopeless and worst < 0.58):
                break
            k = min(2 * k, self.budget)
        order = sorted(best.values(), reverse=True)[: self.limit]
        return [(-minus_id, adjusted) for adjusted, _, minus_id in order], rounds


CASES = given(
    case=st.builds(
        Case,
        world=worlds(),
        ranker=st.sampled_from(sorted(RANKERS)),
        query=st.sampled_from(QUERIES),
        limit=st.integers(0, 12),
        border=st.sampled_from([0.58, 0.3, 0.75]),
        cut=st.booleans(),
    )
)


@CASES
def test_answer_and_rounds_are_those_of_the_page(case: Case) -> None:
    expected, rounds = case.by_the_page()
    ranking = case.ranking()
    assert [(hit.note.note_id, hit.score) for hit in ranking.hits] == expected
    assert ranking.record.explain()["rounds"] == rounds


def standing_of(world: World, note_id: int) -> int:
    """The rank of the note's best chunk among all."""
    return 1 + next(
        place for place, chunk in enumerate(world.ordered) if chunk.note.note_id == note_id
    )


@CASES
def test_every_note_gets_the_verdict_that_fits_the_answer(case: Case) -> None:
    world, ranking = case.world, case.ranking()
    reached = ranking.record.explain()["rounds"][-1]["k"]
    seen = {chunk.note.note_id for chunk in world.ordered[:reached] if chunk.has_row}
    places = {hit.note.note_id: place for place, hit in enumerate(ranking.hits, start=1)}
    best = case.best(world.ordered[:reached])
    for note_id in {chunk.note.note_id for chunk in world.chunks if chunk.has_row}:
        note = next(chunk.note for chunk in world.chunks if chunk.note.note_id == note_id)
        verdict = ranking.record.verdict(note_id, standing_of(world, note_id))
        if note_id in places:
            assert verdict.rule == "returned"
            assert verdict.message.startswith(f"place {places[note_id]} of {len(best)}")
        elif note_id in best:
            assert verdict.rule == "beyond_limit"
        elif note_id not in seen:
            assert verdict.rule == "not_reached"
            assert f"search stopped at k={reached}" in verdict.message
        elif note.ineligible_because:
            assert (verdict.rule, verdict.message) == (
                "note_not_eligible", note.ineligible_because,
            )  # fmt: skip
        else:
            assert verdict.rule == "below_border"
            assert case.ranker == "chatcrystal"
            assert case.cut


@CASES
def test_the_record_accounts_for_every_candidate(case: Case) -> None:
    world, ranking = case.world, case.ranking()
    record = ranking.record.explain()
    candidates = record["candidates"]
    reached = record["rounds"][-1]["k"]
    assert [(each["rank"], each["chunk_id"]) for each in candidates] == [
        (rank, chunk.chunk_id) for rank, chunk in enumerate(world.ordered[:reached], start=1)
    ]
    kept = {each["note_id"]: each for each in candidates if each["outcome"] == "kept"}
    assert len(kept) == sum(each["outcome"] == "kept" for each in candidates)
    assert {hit.note.note_id: hit.score for hit in ranking.hits} == {
        note_id: kept[note_id]["adjusted"]
        for note_id in kept
        if note_id not in record["beyond_limit"]
    }
    for each in candidates:
        check_candidate(each, kept, record["terms"])


def check_candidate(
    each: dict[str, Any], kept: dict[int, dict[str, Any]], terms: list[str]
) -> None:
    """What one candidate's entry says agrees with itself."""
    is_dropped = each["outcome"] == "dropped"
    assert is_dropped == (each["adjusted"] is None) == (each["reason"] is not None)
    assert is_dropped == (each["rule"] is not None) == (each["stage"] is not None)
    if not is_dropped:
        assert each["adjusted"] >= each["raw"]
    if each["terms_found"] or each["terms_missing"]:
        assert sorted(each["terms_found"] + each["terms_missing"]) == sorted(terms)
    if each["outcome"] == "beaten":
        winner = kept[each["note_id"]]
        assert each["beaten_by"] == winner["chunk_id"]
        strength, rival = ((one["adjusted"], one["raw"], -one["rank"]) for one in (winner, each))
        assert strength > rival
    else:
        assert each["beaten_by"] is None


@CASES
def test_a_run_reads_little(case: Case) -> None:
    """At most two reads of rows, each candidate's row once, and no candidate past the budget."""
    case.ranking()
    needs = case.world.needs
    nearest = [need.limit for need in needs if isinstance(need, NearestChunks)]
    wanted = [need.chunk_ids for need in needs if isinstance(need, ChunkRows)]
    assert len(nearest) + len(wanted) == len(needs)
    assert len(nearest) <= 1
    assert len(wanted) <= 2
    assert max(nearest, default=0) <= case.budget
    rows = [chunk_id for ids in wanted for chunk_id in ids]
    assert len(rows) == len(set(rows))


@given(world=worlds(), query=st.sampled_from(QUERIES), seed=st.randoms(use_true_random=False))
def test_the_order_of_equals_changes_nothing(world: World, query: str, seed: Any) -> None:
    """When all is taken, it does not matter in which order equal candidates came."""

    def shuffled(need: Need) -> Any:
        found = world.meet(need)
        if isinstance(need, NearestChunks):
            mixed: list[Candidate] = sorted(found, key=lambda _: seed.random())
            return sorted(mixed, key=lambda candidate: -candidate.cosine)
        return dict(sorted(found.items(), key=lambda _: seed.random()))

    size = len(world.chunks)
    question = Question(query, max(size, 1), size, 0.58)
    expected = drive(rank_chatcrystal, question, world.meet).hits
    assert drive(rank_chatcrystal, question, shuffled).hits == expected


@given(world=worlds(), query=st.sampled_from(QUERIES), border=st.sampled_from([0.58, 0.3, 0.75]))
def test_order_and_one_per_note(world: World, query: str, border: float) -> None:
    question = Question(query, 12, len(world.chunks), border)
    hits = drive(rank_chatcrystal, question, world.meet).hits
    ids = [hit.note.note_id for hit in hits]
    assert len(ids) == len(set(ids))
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(score >= 0.58 for score in scores)


def one_each(count: int, cosine: float, **changes: Any) -> World:
    """Notes with a chunk each, all with one cosine."""
    chunk = Chunk(0, NoteCard(0, "", "done", "c"), 0, cosine, "")
    return World(
        tuple(
            replace(chunk, chunk_id=number, note=NoteCard(number, "", "done", "c"), **changes)
            for number in range(1, count + 1)
        ),
        [],
    )


@pytest.mark.parametrize(
    ("limit", "count", "query", "rounds", "stopped"),
    [
        (
            3,
            2000,
            "wal",
            [3, 6, 12, 24, 48, 96, 192, 384, 500],
            "the budget of candidates is used up",
        ),
        (50, 2000, "wal", [50, 100, 200, 400, 800, 1000], "the budget of candidates is used up"),
        (10, 37, "wal", [10, 20, 37], "the budget of candidates is used up"),
        (10, 7, "wal", [7], "the budget of candidates is used up"),
        (10, 0, "wal", [0], "the budget of candidates is used up"),
        (
            10,
            2000,
            "what is it",
            [10],
            "no terms, and the worst candidate taken is below the border",
        ),
        (0, 9, "wal", [0], "enough notes"),
    ],
)
def test_growth(limit: int, count: int, query: str, rounds: list[int], stopped: str) -> None:
    world = one_each(count, 0.3)
    ranking = drive(rank_chatcrystal, Question(query, limit, count, 0.58), world.meet)
    record = ranking.record.explain()
    assert [each["k"] for each in record["rounds"]] == rounds
    assert record["stopped"] == stopped
    assert ranking.hits == ()


@pytest.mark.parametrize("border", [0.58, 0.3, 0.21, 0.75])
def test_a_chunk_at_the_border_itself_is_relevant(border: float) -> None:
    world = World((*one_each(2, border).chunks, *below(border)), [])
    ranking = drive(rank_chatcrystal, Question("wal", 5, 3, border), world.meet)
    assert [(hit.note.note_id, hit.score) for hit in ranking.hits] == [(1, 0.58), (2, 0.58)]
    assert ranking.record.verdict(9, 3).rule == "below_border"


def below(border: float) -> tuple[Chunk]:
    """A note whose cosine is the next number below the border."""
    return (Chunk(9, NoteCard(9, "", "done", "c"), 0, math.nextafter(border, 0), ""),)


def test_an_exact_match_deep_down_is_floored() -> None:
    deep = replace(
        one_each(1, 0.01).chunks[0], chunk_id=900, note=NoteCard(900, "wal", "done", "c")
    )
    world = World((*one_each(450, 0.3).chunks, deep), [])
    ranking = drive(rank_chatcrystal, Question("wal", 5, 451, 0.58), world.meet)
    assert [(hit.note.note_id, hit.score) for hit in ranking.hits] == [(900, 0.82)]
    assert "floored to 0.82 because every term occurs" in ranking.record.verdict(900, 451).message


def test_an_index_that_is_not_exact_may_leave_out_what_it_gave_before() -> None:
    """Asked for more, a graph need not repeat the beginning of a shorter answer."""
    long, other = NoteCard(1, "", "done", "c"), NoteCard(2, "", "done", "c")
    chunks = [Chunk(each, long, each, 0.9 - each * 1e-4, "") for each in range(1, 2001)]
    chunks[400] = replace(chunks[400], note=other)
    world = World(tuple(chunks), [])

    def meet(need: Need) -> Any:
        found = world.meet(need)
        is_longer = isinstance(need, NearestChunks) and need.limit > 500
        return found[:9] + found[10:] if is_longer else found

    ranking = drive(rank_vector, Question("q", 25, 2000, 0.58, cut=False), meet)
    assert [hit.note.note_id for hit in ranking.hits] == [1, 2]
    assert ranking.record.verdict(2, 401).rule == "returned"
    candidates = ranking.record.explain()["candidates"]
    assert len({each["chunk_id"] for each in candidates}) == len(candidates)
    assert {each["rule"] for each in candidates} == {None}
    rows = [each for need in world.needs if isinstance(need, ChunkRows) for each in need.chunk_ids]
    assert len(rows) == len(set(rows))


def verdict_of(ranking: Ranking, note_id: int, rank: int | None) -> str:
    return ranking.record.verdict(note_id, rank).message


def test_verdicts_name_rule_and_numbers() -> None:
    notes = [NoteCard(number, "", "done", "c") for number in range(5)]
    chunks = (
        Chunk(1, notes[1], 0, 0.9, ""),
        Chunk(2, notes[2], 0, 0.7, ""),
        Chunk(3, notes[3], 0, 0.412, "mode"),
        Chunk(4, replace_status(notes[4], "pending"), 0, 0.4, ""),
    )
    world = World(chunks, [])
    ranking = drive(rank_chatcrystal, Question("wal mode", 2, 4, 0.58), world.meet)
    assert verdict_of(ranking, 3, 3) == "rank 3, search stopped at k=2 with enough notes"
    ranking = drive(rank_chatcrystal, Question("wal mode", 3, 4, 0.58), world.meet)
    assert verdict_of(ranking, 1, 1) == "place 1 of 2: raw 0.900"
    assert verdict_of(ranking, 3, 3) == "raw 0.412 < 0.58 and term 'wal' missing"
    assert verdict_of(ranking, 4, 4) == "status pending"
    assert verdict_of(ranking, 9, None) == "the index holds no vector of this note"
    both = drive(rank_chatcrystal, Question("lock wall", 4, 4, 0.58), world.meet)
    assert verdict_of(both, 3, 3) == "raw 0.412 < 0.58 and terms 'lock', 'wall' missing"
    none = drive(rank_chatcrystal, Question("what", 4, 4, 0.58), world.meet)
    assert verdict_of(none, 3, 3) == "raw 0.412 < 0.58 and the query has no terms"


def replace_status(note: NoteCard, status: str) -> NoteCard:
    return NoteCard(note.note_id, note.title, status, note.conversation_id)


def test_two_chunks_of_a_floored_note_show_the_closer_one_first() -> None:
    """The limit cuts notes, not chunks: the second chunk of note 1 takes no place."""
    first, second = NoteCard(1, "wal", "done", "c"), NoteCard(2, "wal", "done", "c")
    chunks = (
        Chunk(1, first, 0, 0.3, ""),
        Chunk(2, first, 1, 0.5, ""),
        Chunk(3, second, 0, 0.4, ""),
    )
    ranking = drive(rank_chatcrystal, Question("wal", 2, 3, 0.58), World(chunks, []).meet)
    assert [(hit.note.note_id, hit.score) for hit in ranking.hits] == [(1, 0.82), (2, 0.82)]
    outcomes = {
        each["chunk_id"]: each["outcome"] for each in ranking.record.explain()["candidates"]
    }
    assert outcomes == {2: "kept", 3: "kept"}
