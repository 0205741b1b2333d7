"""Counting the terms of a document, and storing the counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.lexical.documents import (
    FIELDS,
    LARGEST_COUNT,
    count_terms,
    decode,
    encode,
    postings_of,
)


def test_terms_are_counted_by_field() -> None:
    texts = {"title": "WAL mode", "tags": ["sqlite wal", "锁"], "content": "the wal of WAL"}
    assert count_terms(texts) == {
        "title": {"mode": 1, "wal": 1},
        "tags": {"sqlite": 1, "wal": 1, "锁": 1},
        "content": {"wal": 2},
    }


def test_nothing_is_found_across_two_texts_of_a_field() -> None:
    assert count_terms({"tags": ["数据", "库表"]}) == {"tags": {"数据": 1, "库表": 1}}


def test_a_text_without_words_leaves_no_field() -> None:
    assert count_terms({"title": "的", "content": "", "tags": []}) == {}
    assert decode(postings_of({})) == {}


def test_an_unknown_field_is_an_error() -> None:
    with pytest.raises(KeyError):
        count_terms({"summary": "wal"})


def test_a_count_has_a_bound() -> None:
    assert count_terms({"content": "wal " * (LARGEST_COUNT + 9)}) == {
        "content": {"wal": LARGEST_COUNT}
    }


def test_the_stored_form_is_three_arrays() -> None:
    stored = postings_of({"content": "锁 wal wal", "title": "WAL"})
    assert stored == '[["wal","wal","锁"],[0,4,4],[1,2,1]]'


FIELD_COUNTS = st.dictionaries(
    st.sampled_from(FIELDS),
    st.dictionaries(st.text(min_size=1), st.integers(1, LARGEST_COUNT), min_size=1, max_size=5),
)


@given(FIELD_COUNTS)
def test_what_is_stored_is_read_again(fields: dict[str, dict[str, int]]) -> None:
    stored = encode(fields)
    assert decode(stored) == fields
    reordered = {
        field: dict(reversed(counts.items())) for field, counts in reversed(fields.items())
    }
    assert encode(reordered) == stored
    assert encode(decode(stored)) == stored


DAMAGES = """
|{|[]|{}|null|[1,2,3]|[["a"],[0],[]]|[["a"],[9],[1]]|[["a"],[-1],[1]]|[["a"],["0"],[1]]
|[[1],[0],[1]]|[["a"],[0],["1"]]|[["a"],[0],[true]]|[["a"],[0],[0]]|[["a"],[0],[70000]]
|[["a","b"],[4,0],[1,1]]|[["a","a"],[0,0],[1,2]]|[["a","b"],[0],[1,1]]
"""


@pytest.mark.parametrize("damaged", [each.strip() for each in DAMAGES.split("|")])
def test_damaged_postings_are_told(damaged: str) -> None:
    with pytest.raises(ValueError, match="damaged"):
        decode(damaged)
