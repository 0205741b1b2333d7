"""Text in terminal columns: one line, cut and padded, without anything that steers a terminal.

Owns widths: a Han character or an emoji is two columns wide. Pure.
"""

from __future__ import annotations

import re

from rich.cells import cell_len, set_cell_size

ELLIPSIS = "..."

# Control characters, line separators, and marks that reorder text on the screen.
_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_BLANKS = re.compile(r"\s+")
_SURROGATES = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    """Return a text of several lines that is safe to print."""
    plain = _STEERING.sub("", text.replace("\r\n", "\n").expandtabs(4))
    return _SURROGATES.sub("\ufffd", plain)


def single_line(text: str) -> str:
    """Return a text on one line that is safe to print, blanks run together."""
    return _BLANKS.sub(" ", printable(_BLANKS.sub(" ", text))).strip()


def cut(text: str, width: int) -> str:
    """Cut a line to at most so many columns; what is missing shows as ``...``."""
    if cell_len(text) <= width:
        return text
    if width <= len(ELLIPSIS):
        return ELLIPSIS[:width]
    return set_cell_size(text, width - len(ELLIPSIS)).rstrip() + ELLIPSIS


def padded(text: str, width: int, *, is_right: bool = False) -> str:
    """Fill a line up to so many columns."""
    filling = " " * (width - cell_len(text))
    return filling + text if is_right else text + filling
