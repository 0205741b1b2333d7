"""Words that never decide a match."""

from __future__ import annotations

import pytest

from app.lexical.function_words import FUNCTION_WORDS, is_function_word
from app.lexical.query import LexicalQuery
from app.lexical.segmentation import tokens
from app.ranking.chatcrystal import terms


def test_the_words_that_the_default_ranker_drops_are_among_them() -> None:
    assert terms.FUNCTION_WORDS <= FUNCTION_WORDS


@pytest.mark.parametrize(
    "word", ["the", "how", "don", "的", "了", "是", "在", "和", "什么", "库的", "么是"]
)
def test_function_words(word: str) -> None:
    assert is_function_word(word)


@pytest.mark.parametrize(
    "word",
    [
        "wal",
        "not",
        "lock",
        "目的",
        "了解",
        "在线",
        "和弦",
        "亲和",
        "数据",
        "锁",
        "to-do",
        "サー",
        "🚀",
    ],
)
def test_words_with_a_meaning(word: str) -> None:
    assert not is_function_word(word)


@pytest.mark.parametrize(
    "text",
    ["", "the", "how do I do it", "的", "为什么是这个", "怎么办", "这个是什么", "什么的时候", "?!"],
)
def test_a_query_of_function_words_asks_for_nothing(text: str) -> None:
    assert LexicalQuery.of(text).terms == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how to fix the WAL lock", ["fix", "wal", "lock"]),
        ("数据库的锁", ["数据", "数据库", "据库"]),
        ("死锁 是 什么", ["死锁"]),
        ("wal WAL wal", ["wal"]),
    ],
    ids=["English", "inside a run", "apart", "repeated"],
)
def test_a_query_asks_for_each_other_word_once(text: str, expected: list[str]) -> None:
    assert [term.token for term in LexicalQuery.of(text).terms] == expected
    assert set(expected) <= set(tokens(text))


def test_a_word_that_is_also_a_part_is_looked_for_as_a_word() -> None:
    [whole, part, word] = LexicalQuery.of("wal_mode mode").terms
    assert (whole.token, whole.is_part) == ("wal_mode", False)
    assert (part.token, part.is_part) == ("wal", True)
    assert (word.token, word.is_part) == ("mode", False)
