"""Links and tags of a text: what counts as one, and what code hides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.links import KIND_EMBED, KIND_MARKDOWN, KIND_WIKI, Link
from app.markdown.links import MOST_LINKS, links_of
from app.markdown.prose import prose
from app.markdown.tags import tags_of


def bare(text: str) -> list[tuple[str, str, str | None, str | None]]:
    return [(link.kind, link.target, link.heading, link.label) for link in links_of(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[Note]]", (KIND_WIKI, "Note", None, None)),
        ("[[ Note ]]", (KIND_WIKI, "Note", None, None)),
        ("[[folder/Note.md]]", (KIND_WIKI, "folder/Note.md", None, None)),
        ("[[Note|shown]]", (KIND_WIKI, "Note", None, "shown")),
        ("[[Note#Part#Deeper|shown]]", (KIND_WIKI, "Note", "Part#Deeper", "shown")),
        ("[[Note#^block]]", (KIND_WIKI, "Note", "^block", None)),
        ("| a | [[Note\\|shown]] |", (KIND_WIKI, "Note", None, "shown")),
        ("见[[数据库索引|索引]]。", (KIND_WIKI, "数据库索引", None, "索引")),
        ("![[picture.png|200]]", (KIND_EMBED, "picture.png", None, "200")),
        ("![alt](a/picture.png)", (KIND_EMBED, "a/picture.png", None, "alt")),
        ("[text](note.md)", (KIND_MARKDOWN, "note.md", None, "text")),
        ('[text](../a%20b.md#part "title")', (KIND_MARKDOWN, "../a b.md", "part", "text")),
        ("[text](<a b.md>)", (KIND_MARKDOWN, "a b.md", None, "text")),
        ("[a [b] c](note.md)", (KIND_MARKDOWN, "note.md", None, "a [b] c")),
        ("[text](note_(1).md)", (KIND_MARKDOWN, "note_(1).md", None, "text")),
        ("[text](note.md?raw=1)", (KIND_MARKDOWN, "note.md", None, "text")),
        ("[ref]: other/note.md", (KIND_MARKDOWN, "other/note.md", None, "ref")),
        ("- item\n\n    [[Note]]", (KIND_WIKI, "Note", None, None)),
        ("> [[Note]]", (KIND_WIKI, "Note", None, None)),
        ("> ```\n> code\n\n[[Note]]", (KIND_WIKI, "Note", None, None)),
        ("a `code` [[Note]] `more`", (KIND_WIKI, "Note", None, None)),
        ("an odd ` tick\n\n[[Note]] `x`", (KIND_WIKI, "Note", None, None)),
        ("\\\\[[Note]]", (KIND_WIKI, "Note", None, None)),
    ],
)
def test_a_link_is_found(text: str, expected: tuple[str, str, str | None, str | None]) -> None:
    assert bare(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "`[[Note]]`",
        "``a ` [[Note]]``",
        "```\n[[Note]]\n```",
        "~~~~ md\n[[Note]]\n~~~\n[[Note]]\n~~~~",
        "- ```\n  [[Note]]\n  ```",
        "> ```\n> [[Note]]\n> ```",
        "```\n[[never closed]]",
        "text\n\n    [[indented code]]",
        "\t[[indented code]]",
        "<!-- [[Note]] -->",
        "\\[[Note]]",
        "[[]]",
        "[[#part]]",
        "[[ | label]]",
        "[[a\nb]]",
        "[text](#part)",
        "[text](https://example.org/a.md)",
        "[text](mailto:a@example.org)",
        "[text](//example.org/a.md)",
        "[text](folder/)",
        "[text](..)",
        "[text]()",
        "\\[text](note.md)",
        "[^1]: note.md",
        "[ref]: https://example.org",
        f"[[{'x' * 5_000}]]",
    ],
    ids=repr,
)
def test_this_is_no_link(text: str) -> None:
    assert bare(text) == []


def test_links_come_in_the_order_of_the_text_with_their_places() -> None:
    text = "索引 [b](b.md) then [[a]]\n\n![[c]]"
    found = links_of(text)
    assert [link.target for link in found] == ["b.md", "a", "c"]
    assert [text[link.position :][:3] for link in found] == ["[b]", "[[a", "![["]


def test_the_number_of_links_of_a_text_is_bounded() -> None:
    assert len(links_of("[[a]]" * (MOST_LINKS + 5))) == MOST_LINKS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#tag", ("tag",)),
        ("a #Tag/Sub-part_1, b", ("tag/sub-part_1",)),
        ("#中文标签，#嵌套/标签。", ("中文标签", "嵌套/标签")),
        ("（#括号里）", ("括号里",)),
        ("#one #two #One", ("one", "two")),
        ("#1a #2026-plan", ("1a", "2026-plan")),
        ("#a/", ("a",)),
        ("#🎉party", ("🎉party",)),
        ("# heading", ()),
        ("#123 #1/2", ()),
        ("a#b, x##y", ()),
        ("http://example.org/#part", ()),
        ("[text](#part)", ()),
        ("[[#part]]", ()),
        ("`#no`", ()),
        ("```\n#no\n```", ()),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_inline_tags(text: str, expected: tuple[str, ...]) -> None:
    assert tags_of(prose(text)) == expected


MARKS = st.text(alphabet="`~[]()!#|\\<>-* \t\n\r中a1/.", max_size=200)


@given(MARKS | st.text(max_size=200))
def test_any_text_is_read_and_places_stay(text: str) -> None:
    masked = prose(text)
    assert len(masked) == len(text)
    assert [index for index, each in enumerate(text) if each in "\r\n"] == [
        index for index, each in enumerate(masked) if each in "\r\n"
    ]
    for link in links_of(text):
        assert link.target.strip() == link.target != ""
        assert text[link.position] in "[!"


@given(st.lists(st.sampled_from(["[[a|b]]", "[x](y.md)", "![[p.png]]"]), max_size=6))
def test_every_link_of_plain_prose_is_found(written: list[str]) -> None:
    assert len(links_of(" and ".join(written))) == len(written)


def test_a_link_is_a_plain_value() -> None:
    assert links_of("[[a]]") == (Link("a"),)
