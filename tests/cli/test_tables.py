"""Tables: the layout of the original, at every width and for every script."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from cli.cells import cut, padded, printable, single_line
from cli.tables import Column, show_facts, show_heading, show_line, show_table, show_text

COLUMNS = (
    Column("ID", is_number=True),
    Column("Title", widest=40),
    Column("Tags", gives_way=True),
)


def printed(width: int = 200, **options: object) -> tuple[Console, io.StringIO]:
    screen = io.StringIO()
    settings = {"force_terminal": True, "color_system": None, **options}
    return Console(file=screen, width=width, legacy_windows=False, **settings), screen  # type: ignore[arg-type]


def table_lines(rows: list[list[str]], width: int = 200) -> list[str]:
    console, screen = printed(width)
    show_table(console, COLUMNS, rows)
    return screen.getvalue().splitlines()


def test_a_table_has_the_layout_of_the_original() -> None:
    rows = [["1", "Redis", "a, b"], ["12", "数据库", ""]]
    assert table_lines(rows) == [
        "  ID  Title   Tags",
        "  ────────────────",
        "   1  Redis   a, b",
        "  12  数据库      ",
    ]


@pytest.mark.parametrize("width", [200, 80, 60, 40])
@pytest.mark.parametrize(
    "title",
    ["plain", "x" * 300, "数据库连接池" * 20, "🎉" * 50, "👨\u200d👩\u200d👧" * 30, "e\u0301" * 90],
    ids=["plain", "long", "chinese", "emoji", "family", "combining"],
)
def test_every_line_is_equally_wide_and_fits(title: str, width: int) -> None:
    lines = table_lines([["1", title, "tag, " * 20], ["2", "short", "x"]], width)
    widths = {cell_len(line) for line in lines}
    assert len(widths) == 1
    assert widths.pop() <= width


def test_a_terminal_that_is_too_narrow_keeps_what_can_be_read() -> None:
    lines = table_lines([["1", "数据库连接池" * 20, "tag, " * 20]], 10)
    assert [cell_len(line) for line in lines] == [2 + 2 + 2 + 12 + 2 + 12] * 3


def test_tags_give_way_before_titles() -> None:
    (_, _, line) = table_lines([["1", "t" * 40, "tag " * 10]], 70)
    assert line == "   1  " + "t" * 40 + "  tag tag tag tag tag..."


CUTS = {
    "fits": ("abcdef", 6, "abcdef"),
    "cut": ("abcdefg", 6, "abc..."),
    "wide-even": ("数据库连接池", 11, "数据库连..."),
    "wide-odd": ("数据库连接池", 10, "数据库..."),
    "emoji": ("🎉🎉🎉🎉", 7, "🎉🎉..."),
    "blank-before-dots": ("abc defgh", 7, "abc..."),
    "tiny": ("abcdef", 2, ".."),
}


@pytest.mark.parametrize(("text", "width", "shown"), CUTS.values(), ids=CUTS)
def test_a_line_is_cut_by_columns(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown
    assert cell_len(shown) <= width


@pytest.mark.parametrize(
    ("text", "is_right", "shown"),
    [("锁", False, "锁   "), ("锁", True, "   锁"), ("x" * 9, False, "x" * 9)],
    ids=["left", "right", "too-wide"],
)
def test_a_line_is_padded_by_columns(text: str, is_right: bool, shown: str) -> None:
    assert padded(text, 5, is_right=is_right) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("red \x1b[31mtext\x1b[0m", "red [31mtext[0m"),
        ("bell\x07 and\x00 nul", "bell and nul"),
        ("two\nlines\r\n\tand a tab", "two lines and a tab"),
        ("\u202ereversed\u2066", "reversed"),
        ("one\u2028two", "one two"),
        ("lone \udcff", "lone \ufffd"),
        ("\u3000全角\u3000空格 ", "全角 空格"),
    ],
    ids=["escape", "control", "lines", "bidi", "separator", "surrogate", "ideographic-space"],
)
def test_nothing_in_a_text_steers_the_terminal(text: str, shown: str) -> None:
    assert single_line(text) == shown


def test_texts_of_several_lines_keep_them() -> None:
    assert printable("a\r\n\tb\x1b\nc") == "a\n    b\nc"


@pytest.mark.parametrize("text", ["[bold]mark[/bold]", ":bomb:", "[/]", "100 [red]"])
def test_nothing_in_a_text_is_markup(text: str) -> None:
    console, screen = printed()
    show_line(console, text)
    show_heading(console, text)
    show_text(console, text)
    show_facts(console, [(text, text)])
    show_table(console, [Column(text)], [[text]])
    assert screen.getvalue().count(text) == 7


def test_long_texts_are_wrapped_inside_their_indent() -> None:
    console, screen = printed(20)
    show_text(console, "数据库连接池在高峰期耗尽\n\nand English words that go on")
    lines = screen.getvalue().splitlines()
    assert all(cell_len(line) <= 20 for line in lines)
    assert all(line.startswith("  ") for line in lines if line)
    assert "".join(line.strip() for line in lines[:2]) == "数据库连接池在高峰期耗尽"


def test_colours_are_left_out_where_no_color_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    console, screen = printed(color_system="standard")
    show_heading(console, "Notes")
    assert "\x1b[1;36m" in screen.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    console, screen = printed(color_system="standard")
    show_heading(console, "Notes")
    assert "36m" not in screen.getvalue()
