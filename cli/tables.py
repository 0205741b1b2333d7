"""Tables on a terminal, as the original meant them to look.

Owns the layout: a bold cyan heading, two columns of indent, bold heads, a rule, cells two columns
apart. Must not know what is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from cli.cells import cut, padded, printable, single_line

INDENT = "  "
GAP = "  "
RULE = "\u2500"
NARROWEST = 12
"""A column of text is not narrowed below this to fit a terminal."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: numbers stand right, text left; ``widest`` cuts longer cells.

    Where a table is too wide, texts that give way are cut before the others.
    """

    head: str
    is_number: bool = False
    widest: int | None = None
    gives_way: bool = False


def show_line(console: Console, text: str = "", style: str = "") -> None:
    """Print one line, indented, never wrapped."""
    safe = printable(text).replace("\n", " ")
    line = Text(f"{INDENT}{safe}" if safe else "", style)
    console.print(line, no_wrap=True, overflow="ignore", crop=False, highlight=False)


def show_heading(console: Console, text: str) -> None:
    """Print a heading between blank lines."""
    show_line(console)
    show_line(console, single_line(text), "bold cyan")
    show_line(console)


def show_text(console: Console, text: str, style: str = "") -> None:
    """Print text of several lines, indented, wrapped at the edge."""
    width = max(console.width - len(INDENT), NARROWEST)
    for paragraph in printable(text).splitlines():
        for line in Text(paragraph).wrap(console, width) or [Text()]:
            show_line(console, line.plain.rstrip(), style)


def show_marked(console: Console, text: str, extents: Sequence[Sequence[int]]) -> None:
    """Print a text as one paragraph, indented and wrapped, with some extents in bold."""
    marked = Text("".join(printable(character).replace("\n", " ") or " " for character in text))
    for start, end in extents:
        marked.stylize("bold", start, end)
    for line in marked.wrap(console, max(console.width - len(INDENT), NARROWEST)):
        line.rstrip()
        console.print(Text(INDENT) + line, no_wrap=True, crop=False, highlight=False)


def show_facts(console: Console, facts: Sequence[tuple[str, str]]) -> None:
    """Print names and values, one pair a line, values aligned and wrapped."""
    name_width = max((cell_len(name) for name, _ in facts), default=0)
    width = max(console.width - len(INDENT) - name_width - len(GAP), NARROWEST)
    for name, value in facts:
        shown = padded(name, name_width)
        for line in Text(single_line(value)).wrap(console, width) or [Text()]:
            text = Text(INDENT).append(shown, "bold").append(f"{GAP}{line.plain.rstrip()}")
            console.print(text, no_wrap=True, overflow="ignore", crop=False, highlight=False)
            shown = " " * name_width


def show_table(console: Console, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
    """Print a table that fits the width of the console, where its texts can be cut so far."""
    cells = [[single_line(cell) for cell in row] for row in rows]
    widths = _widths(columns, cells, console.width)
    heads = GAP.join(
        padded(column.head, width, is_right=column.is_number)
        for column, width in zip(columns, widths, strict=True)
    )
    show_line(console, heads, "bold")
    show_line(console, (RULE * len(GAP)).join(RULE * width for width in widths))
    for row in cells:
        line = GAP.join(
            padded(cut(cell, width), width, is_right=column.is_number)
            for cell, column, width in zip(row, columns, widths, strict=True)
        )
        show_line(console, line)


def _widths(columns: Sequence[Column], cells: Sequence[Sequence[str]], available: int) -> list[int]:
    widths = []
    for place, column in enumerate(columns):
        width = max([cell_len(column.head), *(cell_len(row[place]) for row in cells)])
        widths.append(width if column.widest is None else min(width, column.widest))
    excess = len(INDENT) + sum(widths) + len(GAP) * (len(widths) - 1) - available
    for gives_way in (True, False):
        texts = [
            place
            for place, column in enumerate(columns)
            if column.gives_way is gives_way and not column.is_number
        ]
        excess = _narrowed(widths, texts, excess)
    return widths


def _narrowed(widths: list[int], places: Sequence[int], excess: int) -> int:
    """Narrow some columns, the widest first, and return by how much all are still too wide."""
    while excess > 0 and places:
        place = max(places, key=lambda each: widths[each])
        if widths[place] <= NARROWEST:
            break
        widths[place] -= 1
        excess -= 1
    return excess
