"""The ranker `finder` on recorded slices: whole answers, and the PageRank by itself."""

from typing import Any

import pytest

from app.domain.fragments import FragmentRelation
from app.ranking.finder.find import find
from app.ranking.finder.options import FinderOptions
from app.ranking.finder.spreading import ppr
from tests.support.golden import case_id, read_cases

pytestmark = pytest.mark.golden

KINDS = ("find", "ppr")
CASES: dict[str, list[dict[str, Any]]] = read_cases("finder.json") or {kind: [] for kind in KINDS}
OPTIONS = FinderOptions()


def near(value: float) -> Any:
    """Recorded numbers have nine decimals."""
    return pytest.approx(value, abs=1e-9, rel=0)


def relations_of(case: dict[str, Any]) -> list[FragmentRelation[int]]:
    return [FragmentRelation(*relation) for relation in case["relations"]]


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_cases(kind: str) -> None:
    assert CASES[kind]


@pytest.mark.parametrize("case", CASES["find"], ids=case_id)
def test_sources_of_an_answer(case: dict[str, Any]) -> None:
    sources: dict[int, str | None] = {int(id_): of for id_, of in case["source_of"].items()}
    vector = [(id_, distance) for id_, distance in case["vector"]]
    found = find(case["fulltext"], vector, relations_of(case), sources, OPTIONS)
    shown = found.sources[: case["limit"]]
    assert [source.id for source in shown] == [each["source"] for each in case["expected"]]
    for source, expected in zip(shown, case["expected"], strict=True):
        assert source.score == near(expected["score"])
        assert [id_ for id_, _ in source.fragments] == [id_ for id_, _ in expected["fragments"]]
        for (_, score), (_, wanted) in zip(source.fragments, expected["fragments"], strict=True):
            assert score == near(wanted)


@pytest.mark.parametrize("case", CASES["ppr"], ids=case_id)
def test_mass_of_a_spread(case: dict[str, Any]) -> None:
    seeds = {int(id_): share for id_, share in case["seeds"].items()}
    mass = ppr(seeds, relations_of(case), OPTIONS).mass
    expected = {int(id_): value for id_, value in case["expected"].items()}
    assert set(mass) >= {id_ for id_, value in expected.items() if value > 0}
    assert {id_: expected.get(id_, 0.0) for id_ in mass} == {
        id_: near(value) for id_, value in mass.items()
    }
