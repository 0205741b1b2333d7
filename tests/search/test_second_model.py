"""The second model in searches: when it is asked, what it changes, and that it may fail."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.domain.chunks import KIND_WHOLE, SECOND_WHOLE
from app.domain.notes import NoteDraft, NoteFilters, NotePatch
from app.domain.search import SearchAnswer
from app.embedding import quality
from app.errors import ConfigurationError
from app.factory import Application
from app.ranking.registry import BY_NAME, RANKERS
from app.ranking.run import Likeness
from app.search.evidence import Evidence, Sought
from app.search.kept import Kept
from tests.support.application import (
    EVERYTHING,
    ask,
    found_ids,
    opened,
    planted_vector,
    request,
    stub_values,
)
from tests.support.held import Held
from tests.support.provider import StubProvider, status
from tests.support.second import fill_both, second_values

QUERY = "the connection pool is exhausted"
DRAFTS = (
    NoteDraft("Docker image too large", "Use multi-stage builds. cos=0.7", project="ops"),
    NoteDraft("数据库连接池耗尽", "事务一直没有提交，连接没有归还。 cos=0.7", project="db"),
    NoteDraft("Centre a box with CSS", "Use place-items. cos=0.7", project="web"),
)
"""By the first model, which is a stub, all are as near; by the second the second one is nearest."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three notes and their companions in both spaces."""
    folder = tmp_path_factory.mktemp("template")
    with StubProvider(vector=planted_vector) as stub, opened(folder, second_values(stub)) as filled:
        for draft in DRAFTS:
            filled.writer.create_note(draft)
        fill_both(filled)
    return folder


@pytest.fixture
def doubled(template: Path, provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """An application over a copy of that folder."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    with opened(tmp_path, second_values(provider)) as application:
        yield application


def hybrid(application: Application, query: str = QUERY, **more: Any) -> SearchAnswer:
    return ask(application, query, **{"ranker": "hybrid", "explain": True, "cut": False, **more})


def test_who_waits_for_it_keeps_nobody_from_searching(
    doubled: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doubled.second is not None
    doubled.mirror.warm(BY_NAME["hybrid"].parts)
    embedder, held = doubled.second.embedder, Held()
    original = embedder.request_vectors

    def late(texts: list[str], *, is_query: bool) -> object:
        held.wait()
        return original(texts, is_query=is_query)

    monkeypatch.setattr(embedder, "request_vectors", late)

    def quick_one() -> SearchAnswer:
        # The other one comes as far as it can.
        time.sleep(0.2)
        return ask(doubled, QUERY)

    slow, quick = held.beside(lambda: hybrid(doubled), quick_one)
    assert found_ids(quick) == found_ids(ask(doubled, QUERY)) != []
    assert told(slow)["ranker_variant"] == "hybrid+e5"


def told(answer: SearchAnswer) -> dict[str, Any]:
    """The explanation without the time it took."""
    assert answer.explanation is not None
    return answer.explanation | {"milliseconds": None, "sequence": None}


@pytest.fixture
def asked(doubled: Application, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queries that the second model embeds."""
    assert doubled.second is not None
    embedder, queries = doubled.second.embedder, list[str]()
    original = embedder.request_vectors

    def record(texts: list[str], *, is_query: bool) -> object:
        queries.extend(texts if is_query else [])
        return original(texts, is_query=is_query)

    monkeypatch.setattr(embedder, "request_vectors", record)
    return queries


def test_when_it_is_complete_hybrid_weighs_it(doubled: Application) -> None:
    answer = hybrid(doubled)
    assert found_ids(answer)[0] == 2
    explanation = told(answer)
    assert (explanation["ranker"], explanation["ranker_variant"]) == ("hybrid", "hybrid+e5")
    assert explanation["second_space"] == f"builtin-quality/{quality.MODEL}"
    for row in explanation["rows"]:
        first, second = row["models"]
        assert first is not None
        assert second is not None
        assert row["meaning"] == pytest.approx((first + second) / 2)
        assert set(row["second"]["fields"]) == {"0", "1"}


def test_the_answer_is_the_same_every_time_and_in_every_process(
    doubled: Application, provider: StubProvider, tmp_path: Path
) -> None:
    first = hybrid(doubled)
    assert told(hybrid(doubled)) == told(first)
    with opened(tmp_path, second_values(provider)) as other:
        assert told(hybrid(other)) == told(first)


def test_until_it_is_complete_hybrid_goes_without(
    doubled: Application, provider: StubProvider, tmp_path: Path, asked: list[str]
) -> None:
    """As in a process that does not have it, to the last digit."""
    doubled.writer.create_note(NoteDraft("fourth", "cos=0.6"))
    doubled.companions.fill()
    answer = hybrid(doubled)
    assert asked == []
    assert told(answer)["ranker_variant"] == "hybrid"
    assert "second_space" not in told(answer)
    with opened(tmp_path, stub_values(provider)) as other:
        assert told(hybrid(other)) == told(answer)
        assert hybrid(other).found == answer.found
    fill_both(doubled)
    assert told(hybrid(doubled))["ranker_variant"] == "hybrid+e5"
    assert asked == [QUERY]


def test_it_is_asked_once_a_query(doubled: Application, asked: list[str]) -> None:
    for _ in range(3):
        hybrid(doubled)
    assert asked == [QUERY]


def test_once_known_to_count_it_is_asked_beside_the_first(
    doubled: Application, asked: list[str]
) -> None:
    hybrid(doubled)
    assert told(hybrid(doubled, "css"))["ranker_variant"] == "hybrid+e5"
    assert asked == [QUERY, "css"]


def test_what_was_begun_is_left_when_it_no_longer_counts(doubled: Application) -> None:
    hybrid(doubled)
    doubled.writer.edit_note(1, NotePatch({"title": "new"}))
    assert told(hybrid(doubled, "css"))["ranker_variant"] == "hybrid"


@pytest.mark.parametrize("ranker", [each.name for each in RANKERS if not each.weighs_two])
def test_no_other_ranker_asks_it(doubled: Application, asked: list[str], ranker: str) -> None:
    hybrid(doubled, "warm")
    ask(doubled, QUERY, ranker=ranker)
    assert asked == ["warm"]


def test_a_limit_of_nothing_asks_nobody(doubled: Application, asked: list[str]) -> None:
    assert hybrid(doubled, limit=0).found == ()
    assert asked == []


@pytest.mark.parametrize("is_known", [False, True], ids=["at first", "later"])
def test_when_it_fails_hybrid_goes_on_and_says_so(
    doubled: Application,
    provider: StubProvider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_known: bool,
) -> None:
    if is_known:
        doubled.mirror.warm((KIND_WHOLE, SECOND_WHOLE))

    def refuse() -> quality.Encoder:
        raise ConfigurationError("The second model does not load here: no such instruction")

    monkeypatch.setattr(quality, "load_encoder", refuse)
    answer = hybrid(doubled)
    assert answer.warnings == (
        "Found without the second model: The second model does not load here: no such instruction",
    )
    assert told(answer)["ranker_variant"] == "hybrid"
    with opened(tmp_path, stub_values(provider)) as other:
        assert hybrid(other).found == answer.found


def test_words_alone_are_words_alone(
    doubled: Application, provider: StubProvider, asked: list[str]
) -> None:
    """Without the first model there is no scale to put the second one on."""
    provider.behave(status(500))
    answer = hybrid(doubled, "docker")
    assert found_ids(answer) == [1]
    assert asked == []
    assert [warning.partition(":")[0] for warning in answer.warnings] == ["Found by words alone"]


def test_a_query_that_is_long_for_it_is_asked_in_parts_and_warns(doubled: Application) -> None:
    answer = hybrid(doubled, "pool " * 200)
    (warning,) = answer.warnings
    assert f"more than the {quality.MAX_CHARS} that the embedding model takes" in warning
    assert told(answer)["ranker_variant"] == "hybrid+e5"


def test_filters_hold_for_its_candidates_too(doubled: Application) -> None:
    answer = hybrid(doubled, filters=NoteFilters(projects=("ops",)))
    assert found_ids(answer) == [1]
    assert [row["note_id"] for row in told(answer)["rows"]] == [1]


def test_the_reason_of_a_place_names_both_models(doubled: Application) -> None:
    answer = doubled.searcher.why(request(QUERY, ranker="hybrid", cut=False), 2)
    assert answer.place == 1
    assert "by the two models" in answer.message
    assert answer.search["ranker_variant"] == "hybrid+e5"


@pytest.mark.parametrize("kind", [KIND_WHOLE, SECOND_WHOLE])
def test_likeness_is_the_cosine_of_the_centred_vectors(doubled: Application, kind: str) -> None:
    with doubled.mirror.open((KIND_WHOLE, SECOND_WHOLE)) as (connection, view):
        evidence = Evidence(
            connection, view, Sought("", None, EVERYTHING), Kept.over(doubled.database.version)
        )
        found = {note: evidence.meet(Likeness(kind, note, (1, 2, 3))) for note in (1, 2, 3)}
        assert evidence.meet(Likeness(kind, 9, (1, 2))) == {}
    for note, cosines in found.items():
        assert cosines[note] == pytest.approx(1)
        assert cosines == pytest.approx({other: found[other][note] for other in (1, 2, 3)})
    if kind == SECOND_WHOLE:
        assert found[1][3] < 0.5
