"""What of a note is embedded, and the properties of its chunks."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.chunks import KIND_CHUNK, Chunk
from app.embedding.chunking import CHUNK_UNITS, NoteText, chunk_text, note_text
from app.embedding.sentences import cut_point, even_parts, split_sentences
from app.text import is_blank, js_trim, utf16_length

MAX_CHARS = 2_000


def pieces(text: str, max_chars: int = MAX_CHARS) -> list[str]:
    return [chunk.text for chunk in chunk_text(text, max_chars)]


def visible(text: str) -> str:
    return re.sub(r"[\s\ufeff]", "", text)


@pytest.mark.parametrize(
    ("fields", "rest"),
    [
        ({}, ""),
        ({"key_conclusions": ["a", "b"]}, "\n\na\nb"),
        ({"tags": ("x", "y z")}, "\n\nx y z"),
        ({"code_snippets": [{"description": "d", "code": "c"}, {"description": ""}]}, "\n\nd"),
        ({"key_conclusions": {"a": 1}, "code_snippets": "text"}, ""),
        ({"key_conclusions": None, "code_snippets": 7}, ""),
        ({"key_conclusions": ["a", 1, None, ["b"]]}, "\n\na"),
        ({"code_snippets": [None, "x", {"code": "c"}, {"description": 5}]}, ""),
        ({"key_conclusions": (), "code_snippets": ({"description": "d"},)}, "\n\nd"),
        ({"raw_llm_response": '{"root_cause": "r"}', "files_touched": ["f"]}, ""),
    ],
    ids=[
        "bare",
        "conclusions",
        "tags",
        "snippets",
        "wrong-shapes",
        "wrong-types",
        "wrong-items",
        "wrong-snippets",
        "tuples",
        "memory-of-imported",
    ],
)
def test_full_text_of_an_imported_note(fields: dict[str, Any], rest: str) -> None:
    note = NoteText("title", "summary", source_type="imported-conversation", **fields)
    assert note_text(note) == f"title\n\nsummary{rest}"


def test_full_text_is_in_order() -> None:
    note = NoteText("t", "s", ["k"], [{"description": "d"}], ("g",))
    assert note_text(note) == "t\n\ns\n\nk\n\ng\n\nd"


MEMORY = {
    "root_cause": "r",
    "resolution": "s",
    "pitfalls": ["p1", "", "p2"],
    "reusable_patterns": ["q"],
    "decisions": ["d"],
    "other": "left out",
}


def test_memory_of_an_agent_is_embedded() -> None:
    note = NoteText(
        "title",
        "summary",
        source_type="agent-writeback",
        raw_llm_response=json.dumps(MEMORY),
        error_signatures=["E1"],
        files_touched=("a.py", "b.py"),
    )
    assert note_text(note).split("\n\n") == [
        "title",
        "summary",
        "Root cause: r\nResolution: s\nPitfall: p1\nPitfall: p2\nPattern: q\nDecision: d\n"
        "Error signature: E1\nFile: a.py\nFile: b.py",
    ]


@pytest.mark.parametrize(
    "raw",
    [None, "", "{broken", "[1]", '"text"', "null", '{"root_cause": 5}', "[" * 100_000],
    ids=["none", "empty", "broken", "list", "text", "null", "wrong-type", "deep"],
)
def test_broken_memory_is_left_out(raw: str | None) -> None:
    note = NoteText("t", "s", source_type="agent-writeback", raw_llm_response=raw)
    assert note_text(note) == "t\n\ns"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n\n", []),
        ("  kept as it is \r\n\r\n", ["  kept as it is \r\n\r\n"]),
        ("a" * 500, ["a" * 500]),
        ("t\n\n" + "a" * 498, ["t", "a" * 498]),
        ("t\n\n" + "a" * 497, ["t\n\n" + "a" * 497]),
        ("t\n\n\n\n" + "a" * 497, ["t\n\n" + "a" * 497]),
        ("t\n\n" + "🎉" * 250, ["t", "🎉" * 250]),
        ("a" * 400 + "\r\n\r\n" + "b" * 400, ["a" * 400, "b" * 400]),
        ("a" * 400 + "\n \n" + "b" * 400, ["a" * 400 + "\n \n" + "b" * 400]),
        ("a" * 1999, ["a" * 1999]),
        (" " * 600 + "\n\n" + "b" * 400, ["b" * 400]),
        ("\x85" + "b" * 500, ["\x85" + "b" * 500]),
        ("\ufeff" + "b" * 500, ["b" * 500]),
    ],
    ids=[
        "empty",
        "blank",
        "short-unmodified",
        "500",
        "501-with-separator",
        "just-500",
        "newlines-collapse",
        "emoji-count-two",
        "crlf",
        "no-break",
        "long-paragraph-whole",
        "blank-paragraph",
        "nel-is-no-space",
        "bom-is-space",
    ],
)
def test_chunks_of_edge_cases(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_chunks_are_numbered() -> None:
    assert chunk_text("a" * 400 + "\n\n" + " " * 501 + "\n\n" + "b" * 400, MAX_CHARS) == (
        Chunk(0, "a" * 400, KIND_CHUNK, None, None, None),
        Chunk(1, "b" * 400, KIND_CHUNK, None, None, None),
    )


@pytest.mark.parametrize(
    ("sentence", "joined"),
    [
        ("An English sentence ends here.", " "),
        ('He asked: "Is that so?"', " "),
        ("这是一个很长的中文句子。", ""),
        ("“真的吗？”", ""),
        ("A line of a log without an end", "\n"),
    ],
    ids=["english", "english-quote", "chinese", "chinese-quote", "lines"],
)
def test_a_paragraph_too_long_is_split_at_sentences(sentence: str, joined: str) -> None:
    count = MAX_CHARS // len(sentence) + 2
    found = pieces(joined.join([sentence] * count))
    assert len(found) > 1
    for piece in found:
        assert set(piece.split("\n\n")) == {sentence}
        assert utf16_length(piece) <= CHUNK_UNITS


@pytest.mark.parametrize("max_chars", [1, 7, 499, 500, 501], ids=str)
def test_a_small_limit_holds_for_gathered_paragraphs_too(max_chars: int) -> None:
    text = "One. Two, three.\n\nFour!\n\n" + "five " * 200
    assert all(len(piece) <= max_chars for piece in pieces(text, max_chars))


text_pieces = st.sampled_from(
    ["\n", "\n\n", "\r\n\r\n", " ", ".", "。", "! ", "word ", "中文", "🎉", "\ufeff", "e\u0301"]
)
texts = st.one_of(
    st.lists(text_pieces | st.text(max_size=3), max_size=60).map("".join),
    st.tuples(st.lists(text_pieces, min_size=1, max_size=6), st.integers(1, 300)).map(
        lambda pair: "".join(pair[0]) * pair[1]
    ),
)


@given(texts, st.integers(1, 2_500))
def test_chunks_lose_nothing_and_keep_the_limits(text: str, max_chars: int) -> None:
    found = pieces(text, max_chars)
    assert visible("".join(found)) == visible(text)
    for piece in found:
        assert not is_blank(piece)
        assert len(piece) <= max_chars
        assert utf16_length(piece) <= CHUNK_UNITS or "\n\n" not in js_trim(piece)


@given(texts, st.integers(1, 300))
def test_parts_lose_nothing_and_keep_the_limit(text: str, max_chars: int) -> None:
    for parts in (even_parts(text, max_chars), split_sentences(text, max_chars)):
        assert visible("".join(parts)) == visible(text)
        assert all(len(part) <= max_chars and not is_blank(part) for part in parts)


def test_parts_of_a_query_are_about_equal() -> None:
    assert [len(part) for part in even_parts("x" * 2_010, 2_000)] == [1_005, 1_005]


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("abcd", 2, 2),
        ("ab", 5, 5),
        ("ae\u0301b", 2, 1),
        ("a👨\u200d👩b", 2, 1),
        ("a👍🏽b", 2, 1),
        ("e" + "\u0301" * 50, 40, 40),
        ("e\u0301", 1, 1),
    ],
    ids=["plain", "short", "accent", "family", "skin-tone", "endless-marks", "at-the-start"],
)
def test_cuts_part_no_character_from_its_marks(text: str, limit: int, cut: int) -> None:
    assert cut_point(text, limit) == cut


@pytest.mark.parametrize(
    "text",
    ["." * 200_000, '."' * 100_000, "。" * 200_000, "\n" * 200_001, "a." * 100_000],
    ids=["dots", "quotes", "chinese", "newlines", "no-space"],
)
def test_long_runs_are_split_in_linear_time(text: str) -> None:
    assert visible("".join(split_sentences(text, MAX_CHARS))) == visible(text)
