"""Passages on a terminal: the words of the query in bold, nothing that steers the terminal."""

from __future__ import annotations

import io

from rich.cells import cell_len
from rich.console import Console

from cli.answers import show_found

ROW = {
    "note_id": 7,
    "title": "写锁",
    "project_name": "p",
    "score": 0.8,
    "tags": [],
    "via_relation": None,
    "passage": {"text": "先启用 WAL\n再重试\x1b[2J", "extents": [[4, 7]]},
}


def shown(text: str | None = None, width: int = 80) -> str:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=width, color_system="standard")
    passage = ROW["passage"] if text is None else {"text": text, "extents": []}
    show_found(console, [ROW | {"passage": passage}], "wal")
    return stream.getvalue()


def test_the_words_of_the_query_are_bold() -> None:
    assert "先启用 \x1b[1mWAL\x1b[0m 再重试" in shown()


def test_a_passage_cannot_steer_the_terminal() -> None:
    assert "\x1b[2J" not in shown()


def test_a_passage_is_wrapped_at_the_edge() -> None:
    lines = shown("写事务要尽量短。" * 20, width=60).splitlines()
    wrapped = [line for line in lines if "事务" in line]
    assert len(wrapped) > 4
    assert max(cell_len(line) for line in wrapped) <= 60
