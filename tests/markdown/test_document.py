"""What a Markdown file says of itself: front matter in all spellings, title, tags, summary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.markdown.document import LONGEST_SUMMARY, read_document
from app.markdown.front_matter import LONGEST, read_front_matter


def facts(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "text"])


@pytest.mark.parametrize(
    ("lines", "tags"),
    [
        (["tags: [a, B/c]"], ("a", "b/c")),
        (["tags:", "  - a", "  - '#b'"], ("a", "b")),
        (["tags:", "- a", "- b"], ("a", "b")),
        (["tags: a, b c"], ("a", "b c")),
        (["tags: a b"], ("a", "b")),
        (["tags: 数据库，检索"], ("数据库", "检索")),
        (["tag: one"], ("one",)),
        (["Tags: [x]"], ("x",)),
        (["tags: [a, a, A]"], ("a",)),
        (["tags: ['#', '', ~, [nested], {b: c}]"], ()),
        (["tags: ~"], ()),
        (["tags:"], ()),
        (["tags: {a: b}"], ()),
        (["tags: 2026"], ("2026",)),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_tags_of_front_matter(lines: list[str], tags: tuple[str, ...]) -> None:
    assert read_document(facts(*lines)).tags == tags


@pytest.mark.parametrize(
    ("lines", "aliases"),
    [
        (["aliases: [One, 二]"], ("One", "二")),
        (["aliases:", "  - One: two", "  - Three"], ("Three",)),
        (["alias: One, Two"], ("One", "Two")),
        (['aliases: ["a, b"]'], ("a, b",)),
        (["aliases: [[Two]]"], ()),
        (["aliases: '[[Two]]'"], ("Two",)),
    ],
    ids=repr,
)
def test_aliases_of_front_matter(lines: list[str], aliases: tuple[str, ...]) -> None:
    assert read_document(facts(*lines)).aliases == aliases


@pytest.mark.parametrize(
    ("lines", "created", "updated"),
    [
        (["created: 2024-03-01"], "2024-03-01 00:00:00", None),
        (["date: 2024-03-01 10:20"], "2024-03-01 10:20:00", None),
        (["created: 2024-03-01T10:00:00+08:00"], "2024-03-01 02:00:00", None),
        (["created: 2024/03/01"], "2024-03-01 00:00:00", None),
        (["date created: 2024-03-01Z"], None, None),
        (["modified: 2024-03-02T00:00:00Z"], None, "2024-03-02 00:00:00"),
        (["created: yesterday", "updated: 0001-01-01T00:00:00+14:00"], None, None),
    ],
    ids=repr,
)
def test_times_of_front_matter(lines: list[str], created: str | None, updated: str | None) -> None:
    found, _ = read_front_matter(facts(*lines))
    assert (found.created_at, found.updated_at) == (created, updated)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From the front\n---\n# Heading", "From the front"),
        ("---\ntitle: 1.10\n---\nx", "1.10"),
        ("---\ntitle: no\n---\nx", "no"),
        ("---\ntitle: ~\n---\n# Heading", "Heading"),
        ("# Heading with `code` and [[Link|label]]\n\ntext", "Heading with code and label"),
        ("Heading\n=======\ntext", "Heading"),
        ("\n\n# Heading\n# Second", "Heading"),
        ("text first\n\n# Heading", None),
        ("## Second level", None),
        ("", None),
        ("---\ntitle: a: b\ntags: [x]\n---\ntext", "a: b"),
        ("\ufeff---\r\ntitle: Marked\r\n---\r\ntext", "Marked"),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_the_title(text: str, title: str | None) -> None:
    assert read_document(text).title == title


def test_what_stands_alone_is_read_though_the_yaml_is_broken() -> None:
    found = read_document("---\ntitle: a: b\ntags: [x, y]\naliases:\n  - one\nbad: [\n---\ntext")
    assert (found.title, found.tags, found.aliases) == ("a: b", ("x", "y"), ("one",))
    assert found.front_matter.problem == "the front matter is no valid YAML"
    assert found.body == "text"


def test_the_body_has_neither_front_matter_nor_carriage_returns() -> None:
    found = read_document("\ufeff---\r\ntitle: T\r\n---\r\n\r\n# T\r\n\r\none\rtwo\x00")
    assert found.body == "# T\n\none\ntwo"


def test_front_matter_that_is_never_closed_is_text() -> None:
    assert read_document("---\ntitle: T\n\ntext").body == "---\ntitle: T\n\ntext"


def test_inline_tags_join_those_of_the_front_matter() -> None:
    text = "---\ntags: [a]\n---\n#b `#no` [[Note #c]] #a"
    assert read_document(text).tags == ("a", "b")


@pytest.mark.parametrize(
    ("body", "summary"),
    [
        ("# T\n\n- list\n\nThe *first* `prose` with [[A|b]] and [c](d.md).\n\nsecond",
         "The first prose with b and c."),
        ("```\ncode\n```\n\n| t |\n\n> quoted\n\n1. item", ""),
        ("snake_case_name stays", "snake_case_name stays"),
        ("一。" * 400, "一。" * 149),
    ],
    ids=["prose", "none", "underscores", "long"],
)  # fmt: skip
def test_the_summary_is_the_first_prose(body: str, summary: str) -> None:
    found = read_document(body).summary
    assert len(found) <= LONGEST_SUMMARY
    assert found == summary


def test_front_matter_can_give_the_summary() -> None:
    assert read_document("---\ndescription: Short.\n---\nProse.").summary == "Short."


BOMB = "\n".join(
    ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)), "tags: *a39"]
)


@pytest.mark.parametrize(
    "written",
    [
        BOMB,
        "tags: &a [*a]",
        "[" * 20_000,
        "- " * 10_000,
        "a: {" * 5_000,
        "x" * (LONGEST + 1),
        "? [complex]\n: value",
        "tags: !!python/object/apply:os.system ['true']",
        "\t- a",
        "%YAML 9.9",
        "a: b\na: c\n<<: *missing",
        "\x00\x01",
    ],
    ids=["aliases", "recursion", "flow", "sequence", "mapping", "long", "complex key", "tag of an "
         "object", "tab", "directive", "merge", "controls"],
)  # fmt: skip
def test_hostile_front_matter_is_left_out(written: str) -> None:
    found = read_document(f"---\n{written}\n---\nbody")
    assert found.body == "body"
    assert all(len(tag) < 10 for tag in found.tags)


@given(st.text(max_size=300) | st.text(alphabet="-:[]{}&*!|>'\"#?,ab \n\t", max_size=300))
def test_any_front_matter_is_read(written: str) -> None:
    found = read_document(f"---\n{written}\n---\nbody")
    assert found.body.endswith("body")


HOSTILE = {
    "ticks": "``".join("`" * (n % 50 + 1) + " " for n in range(20_000)),
    "brackets": "[" * 500_000,
    "double brackets": "[[a" * 200_000,
    "empty links": "](" * 200_000,
    "stars": "*a" * 300_000,
    "fences": "> ```\n" * 20_000,
    "marks": "---\n" * 100_000,
    "comments": "<!--" * 200_000,
    "one line": "word " * 400_000,
    "backslashes": "\\" * 500_000 + "[[a]]",
    "tags": "#a " * 300_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_makes_reading_slow(text: str) -> None:
    """Each is linear: none of these would end if a rule looked back over the whole text."""
    assert read_document(text).body
