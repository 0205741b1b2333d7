"""Which words of a query count, and what it means that a text contains one."""

from __future__ import annotations

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.ranking.chatcrystal.terms import (
    FUNCTION_WORDS,
    missing_in,
    query_terms,
)
from app.text import fold

ALNUM = set(string.ascii_lowercase + string.digits)
INNER = ALNUM | set("_+#./-")
LAST = ALNUM | set("+#")
HAN = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3134F))
SPEC_FUNCTION_WORDS = """a an and are as at be been by can could did do does for from had has have
how i in into is it its me my of on or our should so than that the their them then there these they
this to us was we were what when where which who why will with would you your"""

QUERIES = st.text(
    alphabet=st.sampled_from(
        [*"abwzAZ09_+#./- ", *"的数据库锁。", "ï", "Ａ", "\u3400", "\U00020000"]
    ),
    max_size=30,
)


def is_han(character: str) -> bool:
    return any(low <= ord(character) <= high for low, high in HAN)


def spelled_out(query: str) -> list[str]:
    """The page's definition, character by character."""
    text = fold(query)
    words, place = [], 0
    while place < len(text):
        end = place + 1
        if text[place] in ALNUM:
            while end < len(text) and text[end] in INNER:
                end += 1
            while text[end - 1] not in LAST:
                end -= 1
            words.append(text[place:end])
        place = end
    pairs: list[str] = []
    for start, character in enumerate(text):
        if not is_han(character):
            continue
        follows = start + 1 < len(text) and is_han(text[start + 1])
        preceded = start > 0 and is_han(text[start - 1])
        if follows:
            pairs.append(text[start : start + 2])
        elif not preceded:
            pairs.append(character)
    counted = [word for word in words if len(word) > 1 and word not in FUNCTION_WORDS]
    return list(dict.fromkeys(counted + pairs))


@given(query=QUERIES)
@example(query="a...b c... ...d e-_-")
@example(query="数 据库 a锁的")
def test_terms_are_those_of_the_definition(query: str) -> None:
    assert list(query_terms(query)) == spelled_out(query)


def test_function_words_are_those_of_the_page() -> None:
    assert set(SPEC_FUNCTION_WORDS.split()) == FUNCTION_WORDS
    assert query_terms(SPEC_FUNCTION_WORDS.upper()) == ()


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("How do I fix node.js and C++?", ("fix", "node.js", "c++")),
        ("c# utf-8 docker-compose v0.15.0.", ("c#", "utf-8", "docker-compose", "v0.15.0")),
        ("x y 7 ab", ("ab",)),
        ("WAL wal Wal", ("wal",)),
        ("ＷＡＬ　模式", ("wal", "模式")),
        ("数据库wal锁", ("wal", "数据", "据库", "锁")),
        ("锁 锁 的", ("锁", "的")),
        ("锁定锁定", ("锁定", "定锁")),
        ("café", ("caf",)),
        ("-flag_ /path/to/file.txt/", ("flag", "path/to/file.txt")),
        ("what is it", ()),
        ("！？ 。", ()),
        ("㐀䶿 鿿一 \U00020000\U0003134f", ("㐀䶿", "鿿一", "\U00020000\U0003134f")),
        ("\u4dc0 \ua000 \U00031350 カナ 한글", ()),
        ("\ufa0e\ufa11", ("\ufa0e\ufa11",)),
    ],
)
def test_examples(query: str, terms: tuple[str, ...]) -> None:
    assert query_terms(query) == terms


def contains_spelled_out(term: str, text: str) -> bool:
    for start in range(len(text) - len(term) + 1):
        if text[start : start + len(term)] != term:
            continue
        if not term.isascii():
            return True
        before = text[start - 1] if start else " "
        after = text[start + len(term)] if start + len(term) < len(text) else " "
        if before not in ALNUM and (len(term) > 3 or after not in ALNUM):
            return True
    return False


@given(
    term=st.sampled_from(["wa", "wal", "wall", "c++", "a.b", "+", "锁", "锁定", "c#"]),
    text=st.lists(
        st.sampled_from(
            ["wa", "wal", "l", "wall", "c++", "a.b", " ", "_", "锁", "定", "c#", "é", "1"]
        )
    ).map("".join),
)
def test_containing_is_that_of_the_definition(term: str, text: str) -> None:
    assert missing_in(text, (term,)) == (() if contains_spelled_out(term, text) else (term,))


@pytest.mark.parametrize(
    ("term", "text", "is_contained"),
    [
        ("wal", "the wal mode", True),
        ("wal", "wall", False),
        ("wal", "swal", False),
        ("wal", "数据wal锁", True),
        ("wal", "swal wal", True),
        ("lock", "locked", True),
        ("lock", "deadlock", False),
        ("lock", "dead-lock", True),
        ("c++", "c++20", False),
        ("c++", "in c++.", True),
        ("node.js", "nodexjs", False),
        ("据库", "数据库", True),
        ("锁", "死锁定", True),
    ],
)
def test_examples_of_containing(term: str, text: str, is_contained: bool) -> None:
    assert missing_in(text, (term,)) == (() if is_contained else (term,))
