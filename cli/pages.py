"""Pages of lists: where one begins, and the line below it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from rich.console import Console

from cli.options import Whole
from cli.tables import show_line

LARGEST_PAGE = 100
"""The largest page of the server; pages counted by a larger one would leave gaps."""

PAGE = Whole(1)


def offset_of(page: int | None, limit: int, offset: int | None) -> tuple[int, int]:
    """Return the size of a page and how many rows come before it.

    Raises:
        click.UsageError: both a page and an offset were given.
    """
    if page is not None and offset is not None:
        raise click.UsageError("Give --page or --offset, not both.")
    size = min(limit, LARGEST_PAGE)
    return size, (offset or 0) if page is None else (page - 1) * size


def show_page_line(console: Console, page: Mapping[str, Any]) -> None:
    """Print which rows of how many a page shows."""
    first = page["offset"] + 1
    show_line(console)
    show_line(console, f"{first} to {first + len(page['items']) - 1} of {page['total']}", "dim")
    show_line(console)
