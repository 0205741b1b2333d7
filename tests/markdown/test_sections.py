"""Where Markdown texts are split into sections, and what the sections are called."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.markdown.sections import Section, sections
from app.text import is_blank


def paths(text: str) -> list[str]:
    """The heading paths, in which a blank stands for no heading at all."""
    return [" > ".join(section.heading_path) for section in sections(text)]


def test_sections_nest_and_have_extents() -> None:
    text = "intro\n# A\none\n### B ###\ntwo\n## C\n\n# D"
    assert sections(text) == (
        Section((), 0, 0, 0, 6, "intro\n"),
        Section(("A",), 1, 6, 10, 14, "# A\none\n"),
        Section(("A", "B"), 3, 14, 24, 28, "### B ###\ntwo\n"),
        Section(("A", "C"), 2, 28, 33, 34, "## C\n\n"),
        Section(("D",), 1, 34, 37, 37, "# D"),
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# a", ["a"]),
        ("###### a", ["a"]),
        ("####### a", [""]),
        ("#a", [""]),
        ("#\ta", ["a"]),
        ("   # a", ["a"]),
        ("    # a", [""]),
        ("\t# a", [""]),
        ("#  a  ", ["a"]),
        ("# a #", ["a"]),
        ("# a ####  ", ["a"]),
        ("# a#", ["a#"]),
        (r"# a \#", ["a #"]),
        (r"# a #\##", ["a ###"]),
        (r"# \*a\* \b", [r"*a* \b"]),
        (r"\# a", [""]),
        ("# a\u3000b", ["a\u3000b"]),
        ("# **a** `b` [[c|d]]", ["**a** `b` [[c|d]]"]),
        ("# 数据库", ["数据库"]),
        ("＃ a", [""]),
        ("#", [""]),
        ("## ##", [""]),
        ("> # a", [""]),
        ("- # a", [""]),
    ],
)
def test_atx_headings(line: str, expected: list[str]) -> None:
    assert paths(line) == expected


def test_a_heading_without_text_is_a_heading() -> None:
    assert [(each.level, each.heading_path) for each in sections("# a\n##\n### b")] == [
        (1, ("a",)),
        (2, ("a", "")),
        (3, ("a", "", "b")),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n===", [(1, "a", 0)]),
        ("a\n-", [(2, "a", 0)]),
        ("a\n  ---  ", [(2, "a", 0)]),
        ("a\n    ---", []),
        ("a\nb \n---", [(2, "a b", 0)]),
        ("p\n\na\n    b\n===", [(1, "a b", 3)]),
        ("a\n\n---", []),
        ("---", []),
        ("===", []),
        ("a\n= =", []),
        ("- a\n---", []),
        ("- a\nb\n---", []),
        ("> a\n---", []),
        ("> a\nb\n---", []),
        ("> # a\nb\n---", [(2, "b", 6)]),
        ("a\n2. b\n---", [(2, "a 2. b", 0)]),
        ("a\n1. b\n---", []),
        ("```\na\n```\n---", []),
        ("    a\n---", []),
        ("***\n---", []),
        ("[a]: /b\n---", []),
        ("[^1]: note\n---", []),
        ("</details>\n---", []),
        ("<b>\n---", []),
        ("<https://a.b>\n---", [(2, "<https://a.b>", 0)]),
        ("| a |\n|---|\n| b |", []),
        (r"\# a" + "\n===", [(1, "# a", 0)]),
    ],
)
def test_setext_headings(text: str, expected: list[tuple[int, str, int]]) -> None:
    found = [each for each in sections(text) if each.level]
    assert [(each.level, each.heading_path[-1], each.start) for each in found] == expected


HIDDEN = "# no\n  ## no either\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("```\n", "```\n"),
        ("```python title='x'\n", "```\n"),
        ("~~~\n", "~~~\n"),
        ("~~~ a`b~c\n", "~~~\n"),
        ("`````\n```\n", "`````\n"),
        ("~~~\n```\n", "~~~~~\n"),
        ("   ```\n", "   ```   \n"),
        ("```\n    ```\n```x\n", "```\n"),
        ("- ```\n  ", "  ```\n"),
        ("- a\n\n  ", "\n"),
        ("* a\n  - b\n  ", "b\n"),
        ("+ > ", "\n"),
        ("<!--\n", "-->\n"),
        ("text\n<!-- a\n\n", "b --> c\n"),
        ("<pre>\n\n", "</pre>\n"),
        ("<style>\n", "</STYLE>\n"),
        ("<?\n", "?>\n"),
        ("<![CDATA[\n", "]]>\n"),
        ("<div>\n", "\n"),
        ("</details>\n", "\n"),
        ("<x-y a='b'>\n", "\n"),
    ],
)
def test_headings_inside_other_blocks_do_not_split(before: str, after: str) -> None:
    assert paths(f"# yes\n{before}{HIDDEN}{after}# done") == ["yes", "done"]


@pytest.mark.parametrize("opening", ["```", "~~~~", "<!--", "<script>"])
def test_an_unclosed_block_goes_to_the_end(opening: str) -> None:
    assert paths(f"# yes\n{opening}\n{HIDDEN}~~~\n\n# no") == ["yes"]


@pytest.mark.parametrize(
    "before",
    [
        "`` ` ``\n",
        "```a`\n",
        "``` a ```\n",
        "<!-- a -->\n",
        "<!-->\n",
        "text <!-- a\n",
        "<b> text\n",
        "text\n<b>\n",
        "- a\n",
        "- a\nb\n",
        "1. a\n\nb\n",
        "> ```\n",
        "    code\n",
        "***\n",
        "[a]: /b\n",
        "text\n",
    ],
)
def test_a_heading_right_after_other_text_splits(before: str) -> None:
    assert paths(f"{before}# yes") == ["", "yes"]


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("---\ntitle: x\n---\n# a", 17),
        ("---\n# comment\n--- \n# a", 19),
        ("\ufeff---\nx\n---\n# a", 11),
        ("---\r\nx\r\n---\r\n# a", 13),
        ("---\n---\n# a", 8),
        ("\ufeff# a", 1),
        ("\n\n# a", 2),
    ],
)
def test_front_matter_and_blank_lines_belong_to_no_section(text: str, start: int) -> None:
    assert [(each.heading_path, each.start) for each in sections(text)] == [(("a",), start)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\ntitle: x\n# a", ["", "a"]),
        ("\n---\nx\n---\n# a", ["", "x", "a"]),
        ("----\nx\n----\n# a", ["", "x", "a"]),
    ],
    ids=["unclosed", "not-at-the-start", "four-dashes"],
)
def test_what_is_no_front_matter_is_text(text: str, expected: list[str]) -> None:
    assert [each.heading_path[-1] if each.level else "" for each in sections(text)] == expected


@pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff", "---\nx: y\n---\n", "---\n---\n\n"])
def test_a_text_without_a_body_has_no_section(text: str) -> None:
    assert sections(text) == ()


markdown_lines = st.sampled_from(
    [
        *("# a", "## b ##", "###### c", "#", "a", "b c", "", "", "===", "---"),
        *("- d", "1. e", "> f", "  # g"),
        *("```", "~~~~", "    g", "\th", "<!--", "-->", "<div>", "<b>", "[j]: /k", "锁。"),
        *("- ```", "> # l", "***", "\ufeff", "\x0b# m", "\u2028# n"),
    ]
)
line_ends = st.sampled_from(["\n", "\r\n", "\r"])
documents = st.lists(st.tuples(markdown_lines | st.text(max_size=4), line_ends), max_size=12).map(
    lambda lines: "".join(line + end for line, end in lines)
)


@given(documents)
def test_sections_cover_the_body_once(text: str) -> None:
    found = sections(text)
    for section in found:
        assert section.start <= section.content_start <= section.end
        assert section.text == text[section.start : section.end]
        assert len(section.heading_path) <= section.level
        assert (section.level == 0) == (section.start == section.content_start)
    assert [each.end for each in found[:-1]] == [each.start for each in found[1:]]
    if found:
        assert found[-1].end == len(text)
        before = text[: found[0].start]
        assert is_blank(before) or before.lstrip("\ufeff").startswith("---")


@given(documents)
def test_ends_of_lines_do_not_matter(text: str) -> None:
    unix = text.replace("\r\n", "\n").replace("\r", "\n")
    windows = unix.replace("\n", "\r\n")
    assert paths(windows) == paths(unix) == paths(text)
    assert [each.text.replace("\r\n", "\n") for each in sections(windows)] == [
        each.text for each in sections(unix)
    ]


@given(documents, documents)
def test_sections_behind_a_heading_of_level_one_stand_for_themselves(
    before: str, after: str
) -> None:
    first = f"# first\n{before}\n\n"
    second = f"# second\n{after}"
    assume(paths(f"{first}# second") == [*paths(first), "second"])
    assert paths(first + second) == [*paths(first), *paths(second)]


@pytest.mark.parametrize(
    "text",
    [
        "- " * 100_000 + "x",
        "# x" + " " * 200_000 + "#",
        "# " + " #" * 100_000,
        "<a" * 100_000,
        "> " * 100_000 + "x",
        "`" * 200_000,
        "a" + " " * 200_000 + "b",
        "[a" * 100_000,
    ],
    ids=["bullets", "blanks", "closing", "tags", "quotes", "fence", "gap", "references"],
)
def test_odd_lines_are_read_in_linear_time(text: str) -> None:
    assert sections(text)[0].end == len(text)
