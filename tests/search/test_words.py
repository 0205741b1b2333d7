"""Searches by words, from a stored note to an answer: what is a word, and which notes hold it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.domain.notes import NoteDraft, NoteFilters, Snippet
from app.factory import Application
from tests.support.application import ask, found_ids, opened, planted_vector, stub_values
from tests.support.library import Entry, store
from tests.support.provider import StubProvider
from tests.support.words import found_by_words

RANKERS = ("fusion", "hybrid")

CLEARED = "重跑gen-itgc后50条悬空引用清零"
NOTES = [
    NoteDraft("Write-ahead log", "Readers and writers do not wait for each other."),
    NoteDraft("数据库连接池耗尽", "高峰时段获取连接超时。"),
    NoteDraft(CLEARED, "见日志。"),
    NoteDraft("悬而未决的问题", "引用计数与 itg 无关。"),
    NoteDraft(
        "Everything",
        "Kubernetes readiness probes",
        body="## Appendix\n\nA zeppelin.",
        key_conclusions=("Prefer idempotent handlers.",),
        code_snippets=(Snippet("python", "flush_cache()", "How to flush it."),),
        tags=("部署", "canary"),
        aliases=("就绪探针", "k8s"),
        error_signatures=("CrashLoopBackOff",),
        files_touched=("deploy/values.yaml",),
        path="ops/runbooks/rollout.md",
    ),
]
WAL, POOL, DANGLING, DECOY, ALL = range(1, 6)


FOUND = {
    "悬空": DANGLING,
    "引用清零": DANGLING,
    "gen-itgc": DANGLING,
    "itgc": DANGLING,
    "悬空引用": DANGLING,
    "清零": DANGLING,
    "条悬": DANGLING,
    "连接池": POOL,
    "池耗": POOL,
    "超时": POOL,
    "writers": WAL,
    "WRITE-AHEAD": WAL,
    "writ": WAL,
    "readrs": WAL,
    "kubernetes": ALL,
    "kuberntes": ALL,
    "zeppelin": ALL,
    "idempotent": ALL,
    "flush_cache": ALL,
    "canary": ALL,
    "部署": ALL,
    "k8s": ALL,
    "就绪探针": ALL,
    "CrashLoopBackOff": ALL,
    "values.yaml": ALL,
    "runbooks": ALL,
    "ｒｏｌｌｏｕｔ": ALL,
}


def equally_near(text: str) -> list[float]:
    """The vectors of a world in which every note is as far as any other from every query."""
    return planted_vector("a query" if text in FOUND else "cos=0.3")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """The notes above, all equally near to every query."""
    with (
        StubProvider(vector=equally_near) as provider,
        opened(tmp_path_factory.mktemp("words"), stub_values(provider)) as application,
    ):
        for draft in NOTES:
            application.writer.create_note(draft)
        application.companions.fill()
        yield application


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize(("query", "note_id"), FOUND.items(), ids=list(FOUND))
def test_the_note_that_holds_the_word_comes_first(
    shelf: Application, ranker: str, query: str, note_id: int
) -> None:
    """By meaning all notes are alike, so that nothing but the words can decide."""
    assert found_ids(ask(shelf, query, ranker=ranker, limit=1, cut=False)) == [note_id]
    assert found_by_words(shelf, query)[0] == note_id


def test_a_word_of_two_notes_finds_both(shelf: Application) -> None:
    assert set(found_by_words(shelf, "引用")) == {DANGLING, DECOY}


@pytest.mark.parametrize("query", ["the of and", "什么 的 了", "!?", "🚀", "zebra", "空悬", "耗池"])
def test_words_that_no_note_holds_find_nothing(shelf: Application, query: str) -> None:
    """Function words, signs, strangers, and pairs the other way round."""
    assert found_by_words(shelf, query) == []


def test_a_query_is_no_syntax(shelf: Application) -> None:
    for query in ('"canary', "canary AND NOT zebra", "title:canary", "(canary)*", "canary^9"):
        assert found_by_words(shelf, query)[0] == ALL


@pytest.mark.parametrize("ranker", RANKERS)
def test_a_note_is_found_by_words_before_it_is_embedded(
    application: Application, ranker: str
) -> None:
    """As during an import of thousands; among others that are found by meaning."""
    (embedded,) = store(application, [Entry("walrus cos=0.6")])
    (waiting,) = store(application, [Entry("salamander")], embeds=False)
    assert found_ids(ask(application, "salamander", ranker=ranker)) == [waiting, embedded]
    assert found_ids(ask(application, "walrus", ranker=ranker)) == [embedded]
    assert found_ids(ask(application, "salamander", ranker="chatcrystal")) == [embedded]


@pytest.mark.parametrize("ranker", RANKERS)
def test_filters_hold_for_words_too_and_never_eat_the_limit(
    application: Application, ranker: str
) -> None:
    """No note is near, none is embedded: words are all there is."""
    crowd = [Entry("walrus walrus", project="theirs")] * 120
    store(application, [*crowd, Entry("walrus of mine", project="mine")], embeds=False)
    mine = NoteFilters(projects=("mine",))
    assert len(found_ids(ask(application, "walrus", ranker=ranker, limit=5))) == 5
    assert found_ids(ask(application, "walrus", ranker=ranker, limit=5, filters=mine)) == [121]
    nobody = NoteFilters(projects=("nobody",))
    assert found_ids(ask(application, "walrus", ranker=ranker, filters=nobody)) == []
