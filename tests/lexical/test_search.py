"""What words find, in both languages."""

from __future__ import annotations

import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.lexical.documents import KIND_CHUNK, KIND_ENTITY, KIND_ROOT, LexicalDocument, count_terms
from app.lexical.index import LexicalIndex
from tests.lexical.library import contents, document, found, fresh

NOTES = {
    1: ("SQLite WAL mode", "Several workers hit database is locked when writing to one file."),
    2: ("SQLite 开启 WAL 解决写锁冲突", "多个进程同时写入时报错，定位到默认的回滚日志模式。"),
    3: ("Kafka 消费者重平衡", "调大 max.poll.interval.ms 后，消费组不再反复重平衡。"),
    4: ("React effects run twice", "useEffect fires twice in StrictMode during development."),
    5: ("重跑gen-itgc后50条悬空引用清零", "数据库索引重建，外键约束全部恢复。"),
    6: ("Café menu encoding", "The naïve client sent latin-1 bytes 🚀"),
    7: ("C++ 与 C# 互操作", "通过 COM 组件在两种运行时之间传递字符串。"),
    8: ("Docker 镜像瘦身", "使用 multi-stage build 和 distroless，镜像从 1.2GB 降到 90MB。"),
}

QUERIES = {
    "English": ("database locked", [1]),
    "Chinese word": ("悬空引用", [5]),
    "pair inside a run": ("空引", [5]),
    "word across languages": ("写锁 WAL", [2, 1]),
    "identifier glued to Han": ("gen-itgc", [5]),
    "its part": ("itgc", [5]),
    "dotted name": ("max.poll.interval.ms", [3]),
    "part of a dotted name": ("poll interval", [3]),
    "part by case": ("effect", [4]),
    "identifier in other case": ("USEEFFECT", [4]),
    "without the accent": ("cafe naive", [6]),
    "with the accent": ("CAFÉ", [6]),
    "emoji": ("🚀", [6]),
    "C++": ("c++", [7]),
    "one character inside words": ("锁", [2]),
    "prefix": ("distro", [8]),
    "misspelt": ("databsae", [1]),
    "unknown": ("kubernetes", []),
    "function words": ("what is it", []),
    "Chinese function words": ("为什么是这个", []),
    "with function words": ("how do the effects run", [4]),
    "number": ("50", [5]),
    "another number": ("51", []),
    "nothing": ("", []),
    "punctuation": (string.punctuation, []),
    "operators": ('"WAL" AND NOT (locked:* ^)', [1, 2]),
}


@pytest.fixture(scope="module")
def library() -> LexicalIndex:
    return fresh(document(key, title=title, content=text) for key, (title, text) in NOTES.items())


@pytest.mark.parametrize(("query", "expected"), QUERIES.values(), ids=QUERIES.keys())
def test_queries_find_their_notes(library: LexicalIndex, query: str, expected: list[int]) -> None:
    assert found(library, query) == expected


@pytest.mark.parametrize(
    "mark", list(string.punctuation + "，。“”《》？！…—　\t\n\x00\ufffd\ud800")
)
def test_no_character_is_syntax(library: LexicalIndex, mark: str) -> None:
    plain = library.search("locked 悬空", 10)
    assert library.search(f"{mark}locked{mark} {mark}{mark} {mark}悬空{mark}", 10)[:2] == plain


@given(
    st.text(st.one_of(st.characters(), st.sampled_from("锁数据库walé -*()\"':^+#/")), max_size=40)
)
def test_any_text_is_a_query(text: str) -> None:
    index = contents("数据库的锁", "wal mode", text)
    ids = found(index, text)
    assert len(ids) == len(set(ids)) <= 3
    assert all(0 <= share <= 1 + 1e-12 for share in index.coverage(text, [1, 2, 3, 9]))


@pytest.mark.parametrize("size", [4_000])
@pytest.mark.parametrize(
    "text", ["数据库索引优化", "lock wal mode ", "a.b-c/d_e", "é🚀ไ", "\u0301"]
)
def test_the_longest_query_is_answered(library: LexicalIndex, text: str, size: int) -> None:
    assert len(library.search((text * size)[:size], 10)) <= len(NOTES)


def test_a_rare_misspelling_is_worth_less_than_the_word() -> None:
    index = contents(*["the database is slow"] * 30, "the databse is slow", "the cache is slow")
    hits = index.search("database", 40)
    assert [hit.id for hit in hits] == list(range(1, 32))
    assert hits[30].score < hits[29].score == hits[0].score


@pytest.mark.parametrize(
    "variants", [["locks locked locking locker"], ["locks"] * 9], ids=["many", "one often"]
)
def test_no_number_of_variants_is_worth_the_word_itself(variants: list[str]) -> None:
    index = contents("lock wal mode here", *variants, "lock it", "cache")
    hits = {hit.id: hit.score for hit in index.search("lock", 20)}
    exact = {key: score for key, score in hits.items() if key in (1, len(variants) + 2)}
    assert len(hits) == len(variants) + 2
    assert min(exact.values()) > max(score for key, score in hits.items() if key not in exact)


def test_identity_fields_outweigh_content_by_their_weights() -> None:
    fields = ("title", "aliases", "tags", "path", "content")
    index = fresh(
        LexicalDocument(number, KIND_ROOT, number, count_terms({field: ["wal"]}))
        for number, field in enumerate(fields, start=1)
    )
    hits = index.search("wal", 10)
    assert [hit.id for hit in hits] == [1, 2, 3, 4, 5]
    assert len({hit.score for hit in hits}) == 5
    assert [hit.identity == 0 for hit in hits] == [False] * 4 + [True]
    assert [hit.content == 0 for hit in hits] == [True] * 4 + [False]


def test_passes_are_merged_by_their_maximum() -> None:
    index = fresh([document(1, title="wal", content="mode"), document(2, content="cache")])
    [hit] = index.search("wal mode", 10)
    assert hit.score == max(hit.identity, hit.content)
    assert min(hit.identity, hit.content) > 0
    assert hit.tokens == ("wal", "mode")


def test_a_note_is_the_sum_of_its_documents() -> None:
    whole = fresh([document(1, content="wal mode wal checkpoint"), document(9, content="wal")])
    parts = fresh(
        [
            document(1, content="wal mode"),
            document(2, 1, KIND_CHUNK, content="wal checkpoint"),
            document(9, content="wal"),
        ]
    )
    for query in ("wal", "checkpoint mode"):
        assert whole.search(query, 10) == parts.search(query, 10)


def test_a_text_saved_many_times_in_one_note_gains_little() -> None:
    """Scored one by one and summed, fifty copies would be worth fifty times as much."""
    copies = [document(100 + n, 100, KIND_CHUNK, content="wal lock cache mode") for n in range(50)]
    others = [document(n, content="cache mode here") for n in range(2, 60)]
    index = fresh([document(1, content="wal lock cache mode"), *others, *copies])
    scores = {hit.id: hit.score for hit in index.search("wal", 10)}
    assert scores[1] < scores[100] < 2 * scores[1]


def test_documents_without_a_note_are_no_notes() -> None:
    entity = LexicalDocument(2, KIND_ENTITY, None, count_terms({"title": "wal"}))
    alone = fresh([document(1, content="wal mode")])
    beside = fresh([document(1, content="wal mode"), entity])
    assert beside.search("wal", 10) == alone.search("wal", 10)
    assert [hit.id for hit in beside.run_documents("wal").best(10)] == [2, 1]


def test_documents_are_scored_one_by_one_among_their_kinds() -> None:
    documents = [
        document(1, content="wal wal wal"),
        document(2, 1, KIND_CHUNK, content="wal mode"),
        document(3, 1, KIND_CHUNK, content="cache mode checkpoint"),
    ]
    index = fresh(documents)
    assert [hit.id for hit in index.run_documents("wal").best(10)] == [1, 2]
    chunks = index.run_documents("wal", [KIND_CHUNK]).best(10)
    alone = fresh(
        LexicalDocument(each.id, each.kind, each.id, each.fields) for each in documents[1:]
    )
    assert chunks == alone.search("wal", 10)


@pytest.mark.parametrize("limit", [0, -1])
def test_no_limit_no_answer(library: LexicalIndex, limit: int) -> None:
    assert library.search("wal", limit) == []


def test_equal_scores_are_ordered_by_note_id() -> None:
    ids = [71, 5, 93, 12, 8]
    index = fresh(document(place, key, content="wal mode") for place, key in enumerate(ids))
    assert found(index, "wal") == sorted(ids)
    assert found(index, "wal", 3) == [5, 8, 12]


def test_a_filter_changes_no_score_and_takes_no_place() -> None:
    index = contents(*(f"wal {'mode ' * number}" for number in range(30)))
    every = index.search("wal", 30)
    allowed = np.array([-4, 7, 20, 21, 28, 99], dtype=np.int64)
    expected = [hit for hit in every if hit.id in allowed]
    assert index.search("wal", 10, allowed) == expected
    assert index.search("wal", 2, allowed) == expected[:2]
    assert index.search("wal", 10, np.empty(0, np.int64)) == []


def test_coverage_is_the_share_of_the_query_by_rarity() -> None:
    index = contents("wal mode", "wal", "wal cache", "locks")
    rare, all_of_it, none = index.coverage("the wal mode", [2, 1, 4])
    assert 0 < rare < 0.5 < all_of_it == 1
    assert none == 0
    assert index.coverage("wal mode", [77]) == [0]
    assert index.coverage("wal kubernetes", [1])[0] < rare + 0.5
    assert 0 < index.coverage("lock", [4])[0] < 0.5
    assert index.coverage("the", [1, 2]).tolist() == [0, 0]


def test_standings_are_the_places_of_a_search() -> None:
    index = contents(*(f"wal {'mode ' * (number % 4)}" for number in range(9)), "cache")
    run = index.run("wal")
    allowed = np.array([2, 3, 6, 9], dtype=np.int64)
    for chosen in (None, allowed):
        for rank, hit in enumerate(run.best(20, chosen), start=1):
            standing = run.standing(hit.id, chosen)
            assert standing is not None
            assert (standing.hit, standing.rank) == (hit, rank)
    assert run.standing(10) is None
    assert run.standing(1, allowed) is None
    assert run.standing(77) is None


def test_a_run_tells_which_terms_made_the_score() -> None:
    index = fresh(
        [
            document(1, title="wal mode", content="wal wal locks"),
            document(2, content="wal lock"),
            document(3, content="cache"),
        ]
    )
    run = index.run("the wal lock kubernetes")
    [hit] = [hit for hit in run.best(10) if hit.id == 1]
    matches = run.matches(1)
    assert [(each.token, each.term, each.kind) for each in matches] == [
        ("wal", "wal", "exact"),
        ("lock", "locks", "prefix"),
    ]
    assert [each.fields for each in matches] == [
        (("title", 1), ("content", 2)),
        (("content", 1),),
    ]
    assert hit.identity == sum(each.identity for each in matches)
    assert hit.content == sum(each.content for each in matches)
    assert hit.tokens == ("wal", "lock")
    assert run.matches(3) == run.matches(77) == ()
    wal, lock, unknown = run.record()
    assert [term[:2] + term[4:] for term in wal.terms] == [("wal", "exact", 2)]
    assert [term[:2] + term[4:] for term in lock.terms] == [
        ("lock", "exact", 1),
        ("locks", "prefix", 1),
    ]
    assert unknown.terms == ()
    assert unknown.idf > lock.idf > wal.idf > 0
