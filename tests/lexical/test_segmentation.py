"""Which pieces of a text can be found."""

from __future__ import annotations

import string
import sys
import threading
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.lexical.segmentation import LONGEST_TERM, pieces, tokens

CASES = {
    "identifier": ("useEffect", "useeffect use effect"),
    "dotted": ("max.poll.interval.ms", "max.poll.interval.ms max poll interval ms"),
    "acronym": ("HTTPServer2XML", "httpserver2xml http server 2 xml"),
    "path": ("app/db.py", "app/db.py app db.py db py"),
    "levels": ("a_b/c-d", "a_b/c-d a_b a b c-d c d"),
    "address": ("http://localhost:3721/api", "http://localhost:3721/api http localhost 3721 api"),
    "version": ("utf-8", "utf-8 utf 8"),
    "plus": ("C++", "c++"),
    "sharp": ("C#", "c#"),
    "symbols": ("C++/C#", "c++/c# c++ c#"),
    "sum": ("sqlite+wal", "sqlite+wal sqlite wal"),
    "underscores": ("__init__", "init"),
    "quoted": ('"WAL" (mode)', "wal mode"),
    "full-width": ("ＳＱＬ", "sql"),
    "ligature": ("ﬁle", "file"),
    "plain": ("locked Locked", "locked locked"),
    "accent": ("café", "café cafe"),
    "decomposed": ("cafe\u0301", "café cafe"),
    "sharp s": ("Straße", "straße strasse"),
    "dotted I": ("İzmir", "i\u0307zmir izmir"),
    "Polish": ("łódź", "łódź lodz"),
    "Cyrillic": ("Ёлка-шар", "ёлка-шар елка-шар ёлка елка шар"),
    "Greek": ("Ελλάδα", "ελλάδα ελλαδα"),
    "Arabic": ("قاعدة بيانات", "قاعدة بيانات"),
    "Hindi": ("नमस्ते दुनिया", "नमस्ते दुनिया"),
    "Thai": ("สวัสดี", "สวัสดี"),
    "Han pairs": ("悬空引用", "悬空 空引 引用"),
    "Han words": ("数据库表", "数据 数据库 据库 库表"),
    "one Han": ("锁 wal", "锁 wal"),
    "rare Han": ("𠮷野", "𠮷野"),
    "Kana": ("サーバー", "サー ーバ バー"),
    "Japanese": ("食べる", "食べ べる"),
    "Hangul": ("데이터", "데이 이터"),
    "joined Hangul": ("\u1103\u1166\u110b\u1175", "데이"),
    "glued": ("重跑gen-itgc后", "重跑 gen-itgc gen itgc 后"),
    "emoji": ("ok🚀", "ok 🚀"),
    "emoji sequence": ("👩‍💻❤️", "👩 💻 ❤"),
    "skin": ("👍🏽", "👍"),
    "flag": ("🇩🇪🇫🇷", "🇩🇪 🇫🇷"),
    "soft hyphen": ("data\u00adbase", "database"),
    "nothing": (" \t\n。，—…" + string.punctuation, ""),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES.keys())
def test_tokens(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()


def test_words_glued_to_han_are_found() -> None:
    found = tokens("重跑gen-itgc后50条悬空引用清零")
    assert {"悬空", "引用", "清零", "gen-itgc", "itgc", "50"} <= set(found)


def test_a_piece_that_two_rules_find_counts_once() -> None:
    assert tokens("机器学习").count("机器") == 1
    assert tokens("node.js").count("js") == 1
    assert tokens("数据库数据库").count("数据库") == 2


def test_parts_are_marked() -> None:
    marked = {piece.token: piece.is_part for piece in pieces("useEffect café 数据库")}
    parts = {token for token, is_part in marked.items() if is_part}
    assert parts == {"use", "effect", "cafe"}


def test_a_hash_gives_no_parts() -> None:
    assert tokens("3f2a9b1c7d4e") == ["3f2a9b1c7d4e"]


@pytest.mark.parametrize("separator", sorted(set(string.punctuation) - set("_+#./:-") | {"\\"}))
def test_any_other_character_only_separates(separator: str) -> None:
    assert tokens(f"{separator}wal{separator}mode{separator}") == ["wal", "mode"]


@pytest.mark.parametrize("connector", list("_./:-+#"))
def test_connectors_keep_the_whole_and_its_parts(connector: str) -> None:
    assert tokens(f"wal{connector}mode") == [f"wal{connector}mode", "wal", "mode"]


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("a" * 1_000_000, 1),
        ("aB" * 500_000, 1),
        ("a1/" * 30_000, 100_000),
        ("." * 1_000_000, 0),
        ("a" + "\u0301\u0316" * 500_000, 3),
        ("\u0301" * 1_000_000, 0),
        ("\ufdfa" * 10_000, 100_000),
        ("🚀" * 100_000, 100_000),
        ("".join(chr(0x4E00 + n * 7919 % 20_000) for n in range(100_000)), 150_000),
        ("数据库" * 33_000, 150_000),
    ],
    ids=["letters", "case", "parts", "dots", "accents", "marks", "ligatures", "emoji", "rare Han",
         "Han words"],
)  # fmt: skip
def test_a_long_text_takes_linear_time_and_space(text: str, most: int) -> None:
    found = tokens(text)
    assert len(found) <= most
    assert max(map(len, found), default=0) <= 2 * LONGEST_TERM


TEXTS = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("aZé1 _-./:+#数据库锁の한แ🚀\u0301\u200d\ufe0f\ud800\x00"),
    ),
    max_size=60,
)


@given(TEXTS)
def test_any_text_gives_clean_tokens(text: str) -> None:
    for token in tokens(text):
        assert token
        assert token == token.lower()
        assert not any(character.isspace() for character in token)
        token.encode("utf-8")
        assert "\x00" not in token


@given(TEXTS, TEXTS)
def test_a_query_finds_what_its_text_was_indexed_as(left: str, right: str) -> None:
    assert tokens(f"{left}\n{right}") == tokens(left) + tokens(right)


@pytest.mark.parametrize("plane", range(0x11))
def test_every_character_of_a_plane_may_stand_in_a_text(plane: int) -> None:
    """A letter or digit is a token by itself, and no character changes those around it."""
    characters = [chr(plane * 0x10000 + offset) for offset in range(0, 0x10000, 5)]
    letters = [each for each in characters if each.isalnum()]
    for character in letters:
        has_letter = any(map(str.isalnum, unicodedata.normalize("NFKC", character)))
        assert bool(tokens(character)) == has_letter, hex(ord(character))
    found = tokens(" ".join(characters))
    assert found == [token for character in characters for token in tokens(character)]


def test_threads_give_the_same_tokens() -> None:
    text = "数据库连接池耗尽 useEffect café 索引合并优化器" * 30
    expected = tokens(text)
    wrong: list[list[str]] = []

    def segment() -> None:
        for _ in range(20):
            found = tokens(text)
            if found != expected:
                wrong.append(found)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=segment) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert not wrong
