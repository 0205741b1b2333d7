"""The ranker `fusion` on recorded lists: rows, aggregation, matches with titles and aliases."""

from typing import Any

import pytest

from app.ranking.fusion.aggregation import aggregate
from app.ranking.fusion.identity import alias_match, title_match, words
from app.ranking.fusion.rows import Row, rank
from tests.ranking.fusion.sets import facts
from tests.support.golden import case_id, read_cases

pytestmark = pytest.mark.golden

KINDS = ("rank", "aggregate", "title", "alias")
CASES: dict[str, list[dict[str, Any]]] = read_cases("fusion.json") or {kind: [] for kind in KINDS}


def near(value: Any) -> Any:
    """Recorded numbers have nine decimals; flags, names and nulls agree as they are."""
    return pytest.approx(value, abs=1e-9, rel=0) if isinstance(value, float) else value


def recorded(row: Row, names: list[str]) -> dict[str, Any]:
    """A row under the names by which rows are recorded."""
    return {
        "id": names[row.note_id],
        "title_boost": row.identity.title_boost,
        "alias_boost": row.identity.alias_boost,
        "base": row.base,
        "relevance": row.recency.relevance,
        "recent": row.recency.recent,
        "gated": row.recency.gated,
        "lift": row.lift,
        "score": row.score,
    }


def ranked(case: dict[str, Any], names: list[str]) -> tuple[Row, ...]:
    """Rank a case with numbers for names, in the order of the names, since ids break ties."""
    number = {name: place for place, name in enumerate(names)}
    return rank(
        case["query"],
        [(number[name], score) for name, score in case["semantic"]],
        [(number[name], score) for name, score in case["lexical"]],
        {
            number[name]: facts(number[name], note["title"], *note["aliases"])
            for name, note in case["notes"].items()
        },
        [number[name] for name in case["opened"]],
    )


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_cases(kind: str) -> None:
    assert CASES[kind]


@pytest.mark.parametrize("case", CASES["rank"], ids=case_id)
def test_rows_of_an_answer(case: dict[str, Any]) -> None:
    names = sorted({*case["notes"], *case["opened"]})
    rows = ranked(case, names)
    found = [recorded(row, names) for row in rows]
    assert [row["id"] for row in found] == [row["id"] for row in case["expected"]]
    for row, expected in zip(found, case["expected"], strict=True):
        assert {key: row[key] for key in expected} == {
            key: near(value) for key, value in expected.items()
        }
    assert all(row.bounds.cap == near(case["lift_cap"]) for row in rows)
    assert all(row.bounds.crowding == near(case["crowding"]) for row in rows)


@pytest.mark.parametrize("case", CASES["aggregate"], ids=case_id)
def test_score_of_a_note_from_its_chunks(case: dict[str, Any]) -> None:
    assert aggregate(case["chunks"]) == near(case["expected"])


@pytest.mark.parametrize("case", CASES["title"], ids=case_id)
def test_match_with_a_title(case: dict[str, Any]) -> None:
    match = title_match(words(case["query"]), words(case["title"]))
    assert match == (case["kind"], near(case["share"]))


@pytest.mark.parametrize("case", CASES["alias"], ids=case_id)
def test_match_with_aliases(case: dict[str, Any]) -> None:
    match = alias_match(words(case["query"]), map(words, case["aliases"]))
    assert match == (case["kind"], near(case["share"]))
