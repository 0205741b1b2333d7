"""What must hold for any result set."""

from dataclasses import dataclass

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.domain.evidence import NoteFacts
from app.ranking.fusion.aggregation import aggregate
from app.ranking.fusion.normalisation import normalised
from app.ranking.fusion.recency import MOST_CAP
from app.ranking.fusion.rows import Row
from tests.ranking.fusion.sets import facts, order, ranked

NOTES = range(8)
COSINES = st.floats(-1, 1, allow_nan=False)
NAMES = ("WAL mode", "数据库锁", "3 blind mice", "SAP EKX", "")
QUERIES = ("wal", "数据库", "3 blind", "sap ekx", "mode wal", "nothing of it", " ")


@dataclass(frozen=True)
class Case:
    """An answer's inputs; within a source no two scores are equal."""

    semantic: list[tuple[int, float]]
    lexical: list[tuple[int, float]]
    opened: list[int]
    query: str
    notes: list[NoteFacts]

    def rows(self) -> tuple[Row, ...]:
        return ranked(self.semantic, self.lexical, self.opened, self.query, self.notes)


def source(least: int, most: int, unit: float) -> st.SearchStrategy[list[tuple[int, float]]]:
    scores = st.lists(st.integers(least, most), unique=True, max_size=len(NOTES))
    ids = st.permutations(NOTES)
    return st.tuples(ids, scores).map(
        lambda drawn: [(note, score * unit) for note, score in zip(*drawn, strict=False)]
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw an answer of up to eight notes, some of them opened lately."""
    names = st.sampled_from(NAMES)
    return Case(
        draw(source(-100, 1000, 0.001)),
        draw(source(1, 4000, 0.1)),
        draw(st.lists(st.sampled_from(NOTES), unique=True)),
        draw(st.sampled_from(QUERIES)),
        [facts(note_id, draw(names), draw(names)) for note_id in NOTES],
    )


def final(rows: tuple[Row, ...]) -> list[tuple[int, float]]:
    """Notes and their scores, best first."""
    return [(row.note_id, row.score) for row in rows]


@given(st.lists(COSINES, min_size=1, max_size=200))
def test_support_never_lifts_a_note_by_more_than_its_share(chunks: list[float]) -> None:
    best = max(chunks)
    assert best <= aggregate(chunks) <= best + 0.15 * max(0.0, best) + 1e-12


@given(st.lists(st.floats(-1, 0.75), max_size=200), st.integers(1, 100))
def test_a_note_of_075_never_passes_08625(others: list[float], repeats: int) -> None:
    assert aggregate([0.75, *others * repeats]) <= 0.8625


@given(st.lists(COSINES, min_size=1), COSINES)
def test_another_chunk_never_lowers_a_note_while_any_chunk_speaks_for_it(
    chunks: list[float], another: float
) -> None:
    assume(max(chunks) > 0)
    assert aggregate([*chunks, min(another, max(chunks))]) >= aggregate(chunks) - 1e-12


@given(st.data(), st.lists(COSINES, min_size=1))
def test_the_order_of_chunks_plays_no_part(data: st.DataObject, chunks: list[float]) -> None:
    assert aggregate(data.draw(st.permutations(chunks))) == aggregate(chunks)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_normalised_values_keep_the_order_within_0_and_1(scores: list[float]) -> None:
    values = normalised(scores)
    assert all(0 <= value <= 1 for value in values)
    pairs = sorted(zip(scores, values, strict=True))
    assert [value for _, value in pairs] == sorted(values)
    assert max(values) == (1 if max(scores) > 0 else 0)


@given(cases(), st.sampled_from([2.0**-20, 0.25, 8.0, 2.0**20]))
def test_the_magnitude_of_bm25_plays_no_part(case: Case, factor: float) -> None:
    scaled = [(note_id, score * factor) for note_id, score in case.lexical]
    other = ranked(case.semantic, scaled, case.opened, case.query, case.notes)
    assert final(other) == final(case.rows())


@given(cases(), st.data())
def test_the_order_of_the_inputs_plays_no_part(case: Case, data: st.DataObject) -> None:
    shuffled = ranked(
        data.draw(st.permutations(case.semantic)),
        data.draw(st.permutations(case.lexical)),
        case.opened,
        case.query,
        data.draw(st.permutations(case.notes)),
    )
    assert shuffled == case.rows()


@given(cases())
def test_every_note_found_has_one_row_and_rows_descend(case: Case) -> None:
    rows = case.rows()
    assert sorted(order(rows)) == sorted({note for note, _ in case.semantic + case.lexical})
    scores = [row.score for row in rows]
    assert scores == sorted(scores, reverse=True)


@given(cases())
def test_a_gated_note_keeps_its_badge_and_its_score(case: Case) -> None:
    unopened = {
        row.note_id: row.score
        for row in ranked(case.semantic, case.lexical, (), case.query, case.notes)
    }
    for row in case.rows():
        assert row.recency.recent is (row.note_id in case.opened)
        if row.recency.gated or not row.recency.recent:
            assert row.score == unopened[row.note_id]


@given(cases())
def test_a_lift_is_bounded_by_cap_and_crowding(case: Case) -> None:
    rows = case.rows()
    lifted = sum(row.recency.lifts for row in rows)
    for row in rows:
        assert 0 <= row.lift <= row.base * MOST_CAP / max(1, lifted) ** 2 + 1e-12


@pytest.mark.parametrize("side", ["semantic", "lexical"])
@given(case=cases())
def test_one_source_alone_keeps_its_own_order(side: str, case: Case) -> None:
    found = case.semantic if side == "semantic" else case.lexical
    assume(all(score > 0 for _, score in found))
    best_first = sorted(found, key=lambda scored: -scored[1])
    alone = ranked(found) if side == "semantic" else ranked((), found)
    assert order(alone) == [note_id for note_id, _ in best_first]
