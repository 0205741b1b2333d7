"""`notebrain` over a real database: several queries, growth, words, explanation, the provider."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.domain.notes import NoteFilters
from app.domain.search import SearchAnswer
from app.embedding.registry import create
from app.errors import ProviderRejected
from app.factory import Application
from app.text import round_half_up
from tests.search.conftest import Planted, fill
from tests.support.application import (
    ask,
    found_ids,
    make_settings,
    opened,
    request,
    stub_values,
)
from tests.support.library import Entry, store
from tests.support.provider import StubProvider, status

DIMENSION = 8


def topic_vector(text: str) -> list[float]:
    """Texts name cosines to the queries t0, t1, t2, as in ``t0=0.5 t2=0.3``; a query is one."""
    vector = [0.0] * DIMENSION
    if text.strip() in ("t0", "t1", "t2"):
        vector[int(text.strip()[1])] = 1.0
        return vector
    for word in text.split():
        name, _, cosine = word.partition("=")
        if name in ("t0", "t1", "t2") and cosine:
            vector[int(name[1])] = float(cosine)
    rest = 1.0 - sum(value * value for value in vector)
    vector[-1] = math.sqrt(max(0.0, rest))
    return vector


@pytest.fixture
def topical(tmp_path: Path) -> Iterator[tuple[Application, StubProvider]]:
    with (
        StubProvider(vector=topic_vector) as provider,
        opened(tmp_path, stub_values(provider)) as application,
    ):
        yield application, provider


def search(application: Application, topics: Sequence[str], **more: Any) -> SearchAnswer:
    given = {"ranker": "notebrain", "topics": tuple(topics), **more}
    return ask(application, topics[0], **given)


def test_a_bridge_of_two_topics_beats_a_strong_match_of_one(
    topical: tuple[Application, StubProvider],
) -> None:
    application, _ = topical
    texts = ("t0=0.95 t1=-0.1", "t0=0.705 t1=0.705", "t1=0.75 t0=-0.1")
    store(application, [Entry(text) for text in texts])
    answer = search(application, ["t0", "t1"])
    assert found_ids(answer) == [2, 1, 3]
    first = answer.found[0]
    assert (first.score, first.extra["matched_queries"]) == (0.705, 2)
    assert first.extra["lexical"] is False
    (chunk,) = first.extra["chunks"]
    assert chunk["matched"] == ["t0", "t1"]
    assert answer.found[2].extra["chunks"][0]["matched"] == ["t1"]


def test_one_query_is_the_same_path(topical: tuple[Application, StubProvider]) -> None:
    application, _ = topical
    store(application, [Entry("t0=0.5"), Entry("t0=0.46"), Entry("t0=0.44"), Entry("t0=-0.5")])
    assert found_ids(search(application, ["t0"])) == [1, 2]
    assert found_ids(ask(application, "t0", ranker="notebrain")) == [1, 2]
    assert found_ids(search(application, ["t0"], cut=False)) == [1, 2, 3]


def test_several_queries_take_one_call_and_are_kept(
    topical: tuple[Application, StubProvider],
) -> None:
    application, provider = topical
    store(application, [Entry("t0=0.9 t1=0.2")])
    before = len(provider.requests)
    search(application, ["t0", "t1", "t2"])
    (asked,) = provider.requests[before:]
    assert asked.texts == ["t0", "t1", "t2"]
    search(application, ["t2", "other", "t0"])
    assert [asked.texts for asked in provider.requests[before + 1 :]] == [["other"]]
    search(application, ["t1", "t0"])
    assert len(provider.requests) == before + 2


def test_a_failing_provider_is_an_error(topical: tuple[Application, StubProvider]) -> None:
    application, provider = topical
    store(application, [Entry("walrus t0=0.9")])
    search(application, ["t0"])
    provider.behave(status(500))
    with pytest.raises(ProviderRejected, match="status 500"):
        search(application, ["t0", "walrus"])
    assert found_ids(search(application, ["t0"])) == [1]


def test_long_notes_do_not_keep_others_out(application: Application) -> None:
    """Many chunks of one note are nearer than those of the others; the caps hold nevertheless."""
    long = Planted("long", tuple(0.9 - number / 10_000 for number in range(300)))
    others = [Planted(f"note {number}", (0.8 - number / 1_000,)) for number in range(30)]
    pending = [Planted("pending", (0.85,), status="pending") for _ in range(40)]
    ids = fill(application, [long, *pending, *others])
    answer = ask(application, ranker="notebrain", limit=20, explain=True)
    assert found_ids(answer) == [ids[0], *ids[41:60]]
    assert [len(found.extra["chunks"]) for found in answer.found] == [3] + [1] * 19
    assert [c["chunk_index"] for c in answer.found[0].extra["chunks"]] == [0, 1, 2]
    (alone,) = ask(application, ranker="notebrain", limit=1, per_note=50).found
    assert len(alone.extra["chunks"]) == 20
    assert ask(application, ranker="notebrain", per_note=0).found == ()


def test_ties_go_by_note_and_chunk_whatever_their_ids(application: Application) -> None:
    ids = store(application, [Entry("note cos=0.6") for _ in range(60)], embeds=False)
    for note_id in reversed(ids):
        application.batches.embed_many([note_id])
    assert found_ids(ask(application, ranker="notebrain", limit=12)) == ids[:12]


WORDS = {"数据库": [2], "连接池": [2], "café": [3], "CAFÉ": [3], "ocelot": [4], "nothing": []}


@pytest.mark.parametrize(("query", "ids"), WORDS.items(), ids=WORDS)
def test_words_answer_when_meaning_finds_nothing(
    application: Application, query: str, ids: list[int]
) -> None:
    """Every query has the same vector here, and every note the opposite one."""
    body = "# First\n\ncos=-0.9\n\n" + "".join(f"## Part {n}\n\ncos=-0.9\n\n" for n in range(30))
    store(
        application,
        [
            Entry("Redis cos=-0.9"),
            Entry("高峰期 cos=-0.9", "数据库连接池耗尽 cos=-0.9"),
            Entry("Über cos=-0.9", "le café"),
        ],
    )
    client = application.flask().test_client()
    client.post("/api/notes", json={"title": "Long cos=-0.9", "body": f"{body} ocelot cos=-0.9"})
    answer = ask(application, query, ranker="notebrain", explain=True)
    assert found_ids(answer) == ids
    for found in answer.found:
        assert found.score == 0
        assert found.extra == {"matched_queries": 1, "lexical": True, "chunks": []}
    assert answer.explanation is not None
    assert answer.explanation["lexical"] is bool(ids)
    for note_id in range(1, 5):
        why = application.searcher.why(request(query, ranker="notebrain"), note_id)
        assert why.returned is (note_id in ids)
        assert why.rule == ("returned" if note_id in ids else "not_positive")


def test_words_of_several_queries_and_filters(application: Application) -> None:
    entries = [
        Entry("walrus cos=-0.5", tags=("a",)),
        Entry("walrus ocelot cos=-0.5"),
        Entry("ocelot ocelot cos=-0.5", tags=("a",)),
    ]
    store(application, entries)
    topics = {"ranker": "notebrain", "topics": ("walrus", "ocelot")}
    answer = ask(application, "walrus", **topics)
    assert found_ids(answer)[0] == 2
    assert [found.extra["matched_queries"] for found in answer.found] == [2, 1, 1]
    tagged = ask(application, "walrus", filters=NoteFilters(tags=("a",)), **topics)
    assert sorted(found_ids(tagged)) == [1, 3]


def test_every_note_is_explained(topical: tuple[Application, StubProvider]) -> None:
    application, _ = topical
    store(
        application,
        [Entry(f"t0={cosine}") for cosine in ("0.9", "0.8", "0.69", "0.2", "-0.3")]
        + [Entry("t0=0.9 t1=0.72")],
    )
    rules = {1: "returned", 2: "beyond_limit", 3: "below_threshold", 4: "below_threshold"}
    rules |= {5: "not_positive", 6: "returned"}
    asked = request("t0", ranker="notebrain", topics=("t0", "t1"), limit=2)
    for note_id, rule in rules.items():
        why = application.searcher.why(asked, note_id)
        assert (why.rule, why.returned) == (rule, rule == "returned")
        assert why.best_chunk is not None
    assert "matched 2 of 2 queries" in application.searcher.why(asked, 6).message


def test_the_same_bytes_whatever_was_asked_along(tmp_path: Path) -> None:
    """With the built-in model, whose vectors in a group differ in their last digits."""
    queries = ("redis pool", "数据库连接池耗尽", "a longer question about slow tests in CI")
    embedder = create(make_settings(tmp_path, {"embedding.query_cache": "0"}).embedding)
    together = embedder.embed_queries(queries)
    for text, found in zip(queries, together, strict=True):
        assert embedder.embed_query(text).vector.tobytes() == found.vector.tobytes()


def test_scores_are_rounded_as_elsewhere(application: Application) -> None:
    fill(application, [Planted("note", (0.8125,))])
    (found,) = ask(application, ranker="notebrain").found
    assert found.score == round_half_up(0.8125) == found.extra["chunks"][0]["score"]
