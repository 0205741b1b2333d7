"""The index against plain Python, over every way in which documents come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.lexical import index as lexical_index
from app.lexical.documents import FIELDS, KINDS, LexicalDocument, count_terms
from app.lexical.index import LexicalIndex, LexicalMerge
from app.lexical.segment import Ids
from app.lexical.segmentation import token_counts, tokens
from tests.lexical import reference
from tests.lexical.library import fresh, merged

WORDS = [
    "lock", "locks", "locked", "clock", "wal", "walk", "database", "databse", "data-base", "the",
    "useEffect", "effect", "effects", "mode", "死锁", "写锁冲突", "数据库", "数据库索引", "索引",
    "v2", "v3",
]  # fmt: skip
QUERIES = (
    "lock", "wal mode", "databsae", "database 数据库", "useEffect", "写锁", "data", "v2 lokc",
    "the 的", "冲突 索引 walks effects",
)  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def small_segments() -> Iterator[None]:
    """Bounds small enough that a handful of documents makes tails, seals and merges."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexical_index, "TAIL_DOCUMENTS", 4)
        patch.setattr(lexical_index, "SEGMENT_DOCUMENTS", 16)
        yield


@dataclass
class Twin:
    """An index and the documents that it must agree with."""

    random: np.random.Generator
    index: LexicalIndex = field(default_factory=LexicalIndex)
    stored: dict[int, LexicalDocument] = field(default_factory=dict)
    pending: LexicalMerge | None = None
    next_id: int = 1

    def document(self, document_id: int) -> LexicalDocument:
        """A document of some note, or of none, with a few words in a few fields."""
        fields = self.random.permutation(FIELDS)[: self.random.integers(0, 4)].tolist()
        texts = {name: " ".join(self.some_words()) for name in fields}
        note_id = None if self.random.random() < 0.1 else int(self.random.integers(1, 12)) * 7
        kind = str(self.random.choice(KINDS))
        return LexicalDocument(document_id, kind, note_id, count_terms(texts))

    def some_words(self) -> list[str]:
        shares = 1 / np.arange(1, len(WORDS) + 1)
        size = int(self.random.integers(1, 7))
        words: list[str] = self.random.choice(WORDS, size, p=shares / shares.sum()).tolist()
        return words

    def some_ids(self, share: float) -> list[int]:
        return [key for key in sorted(self.stored) if self.random.random() < share]

    def change(self, removed: list[int], added: list[int]) -> None:
        documents = [self.document(key) for key in added]
        self.index = self.index.changed(np.array(removed, dtype=np.int64), documents)
        for key in removed:
            self.stored.pop(key, None)
        self.stored.update(zip(added, documents, strict=True))

    def apply(self, operation: str, count: int) -> None:
        match operation:
            case "add":
                added = [self.next_id + 2 * number for number in range(count)]
                self.next_id = added[-1] + int(self.random.integers(1, 4))
                # The caller promises no order of what it adds.
                self.change([], self.random.permutation(added).tolist())
            case "remove":
                self.change(self.some_ids(count / 12), [])
            case "remove unknown":
                self.change([self.next_id + count], [])
            case "replace":
                self.change([], self.some_ids(count / 12))
            case "add again":
                ids = self.some_ids(count / 12)
                self.change(ids, ids)
            case "merge":
                self.pending = self.index.merge()
            case "adopt" if self.pending is not None:
                self.index = self.index.adopt(self.pending)
            case "merge all":
                self.index = merged(self.index)


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["add", "add", "remove", "remove unknown", "replace", "add again", "merge", "adopt",
             "merge all"]
        ),
        st.integers(1, 12),
    ),
    min_size=1,
    max_size=12,
)  # fmt: skip
FEWER = settings(max_examples=30)
STATES = given(seed=st.integers(0, 2**32 - 1), operations=OPERATIONS)


def grown(seed: int, operations: list[tuple[str, int]]) -> Twin:
    twin = Twin(np.random.default_rng(seed))
    for operation, count in operations:
        twin.apply(operation, count)
    return twin


@settings(max_examples=50)
@STATES
@example(seed=1, operations=[("add", 12), ("add", 12), ("merge", 1), ("remove", 5), ("adopt", 1)])
def test_answers_are_those_of_a_fresh_index_to_the_last_digit(
    seed: int, operations: list[tuple[str, int]]
) -> None:
    twin = grown(seed, operations)
    rebuilt = fresh(twin.stored.values())
    note_ids = [7 * number for number in range(13)]
    assert twin.index.count() == len(twin.stored)
    for query in QUERIES:
        run, expected = twin.index.run(query), rebuilt.run(query)
        assert run.best(99) == expected.best(99)
        assert run.record() == expected.record()
        assert run.coverage(note_ids).tolist() == expected.coverage(note_ids).tolist()
        for note_id in note_ids:
            assert run.matches(note_id) == expected.matches(note_id)
        for kinds in (KINDS, KINDS[:2]):
            documents = twin.index.run_documents(query, kinds)
            assert documents.best(99) == rebuilt.run_documents(query, kinds).best(99)


@STATES
def test_answers_are_those_of_plain_python(seed: int, operations: list[tuple[str, int]]) -> None:
    twin = grown(seed, operations)
    documents = list(twin.stored.values())
    for query in QUERIES:
        expected = reference.search(documents, query)
        hits = twin.index.search(query, 99)
        assert {hit.id for hit in hits} == set(expected)
        ranks = [(-hit.score, hit.id) for hit in hits]
        assert ranks == sorted(ranks)
        for hit in hits:
            scored = expected[hit.id]
            assert hit.identity == pytest.approx(scored.identity, rel=1e-12)
            assert hit.content == pytest.approx(scored.content, rel=1e-12)
            assert hit.score == max(hit.identity, hit.content)
        shares = twin.index.coverage(query, list(expected))
        covered = [scored.coverage for scored in expected.values()]
        assert shares.tolist() == pytest.approx(covered, rel=1e-12)


@FEWER
@STATES
def test_a_filter_is_a_part_of_the_whole_answer(
    seed: int, operations: list[tuple[str, int]]
) -> None:
    twin = grown(seed, operations)
    for query in QUERIES[:4]:
        every = twin.index.search(query, 99)
        assert twin.index.search(query, 3) == every[:3]
        for allowed in ids_to_allow():
            part = [hit for hit in every if hit.id in allowed]
            for limit in (1, 3, 99):
                assert twin.index.search(query, limit, allowed) == part[:limit]


def ids_to_allow() -> list[Ids]:
    """None; foreign ones only; one, half and all of the notes, with foreign ones between."""
    sets = [[], [-5, 6, 10**12], [-5, 14], [0, 7, 8, 21, 35, 49, 63], list(range(100))]
    return [np.array(ids, dtype=np.int64) for ids in sets]


@FEWER
@given(seed=st.integers(0, 2**32 - 1), sizes=st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_the_order_of_arrival_does_not_matter(seed: int, sizes: list[int]) -> None:
    twin = Twin(np.random.default_rng(seed))
    documents = [twin.document(key) for key in range(1, sum(sizes) + 1)]
    order = twin.random.permutation(len(documents)).tolist()
    index = LexicalIndex()
    for size in sizes:
        batch, order = order[:size], order[size:]
        index = index.changed(np.empty(0, np.int64), [documents[place] for place in batch])
    for query in QUERIES:
        assert index.search(query, 99) == fresh(documents).search(query, 99)


@FEWER
@STATES
def test_an_old_index_is_not_disturbed(seed: int, operations: list[tuple[str, int]]) -> None:
    twin = grown(seed, operations)
    old, stored = twin.index, list(twin.stored.values())
    for operation in ("remove", "add", "replace", "merge all"):
        twin.apply(operation, 6)
    for query in QUERIES[:3]:
        assert old.search(query, 99) == fresh(stored).search(query, 99)


@STATES
def test_merging_ends_with_few_segments(seed: int, operations: list[tuple[str, int]]) -> None:
    twin = grown(seed, operations)
    index = merged(twin.index)
    assert index.merge() is None
    assert index.count() == len(twin.stored)
    assert all(segment.living for segment in index.segments)
    assert len(index.segments) <= 4 + 2 * len(twin.stored) / 16


def test_a_merge_of_sources_that_are_gone_is_left_out() -> None:
    twin = grown(3, [("add", 4), ("add", 4)])
    merge = twin.index.merge()
    assert merge is not None
    other = merged(twin.index)
    assert other.adopt(merge) is other


@given(st.text(alphabet="aB9_-./:+# éß中文，", max_size=60))
def test_counting_is_the_same_as_listing(text: str) -> None:
    assert token_counts(text) == Counter(tokens(text))
