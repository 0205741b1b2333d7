"""Explanations of searches as compact tables: what each stage took in, kept and dropped.

Owns how the record of a run reads. Must not call the server, nor know how a ranker works: what
it does not know of a record, it shows by its names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from cli.answers import number, text_of
from cli.tables import Column, show_facts, show_heading, show_line, show_table, show_text

SHOWN_ROWS = 10

_TOLD_ABOVE = ("note_id", "stage", "rule", "reason")

_CANDIDATES = (
    Column("Rank", is_number=True),
    Column("Note", is_number=True),
    Column("Raw", is_number=True),
    Column("Adjusted", is_number=True),
    Column("Outcome"),
    Column("Why"),
)
_RELATIONS = (
    Column("From", is_number=True),
    Column("To", is_number=True),
    Column("Type"),
    Column("Confidence", is_number=True),
    Column("Score", is_number=True),
    Column("Skipped"),
)


def show_explanation(console: Console, explanation: Mapping[str, Any]) -> None:
    """Print the record of a search, stage by stage."""
    show_line(console, "How this was found", "bold cyan")
    show_line(console)
    _show_record(console, explanation)
    show_line(console)


def show_why(console: Console, why: Mapping[str, Any]) -> None:
    """Print why a note stands where it stands, or is missing."""
    place = why.get("place")
    outcome = f"found at place {place}" if why.get("returned") else "not in the answer"
    show_heading(console, f"Note {text_of(why.get('note_id'))} is {outcome}")
    chunk = why.get("best_chunk")
    facts = [
        ("Note", text_of(why.get("title"))),
        ("Stage", text_of(why.get("stage"))),
        ("Rule", text_of(why.get("rule"))),
        ("Reason", text_of(why.get("message"))),
        *([("Score", number(why["score"]))] if why.get("score") is not None else []),
        *([("Relation", str(why["via_relation"]))] if why.get("via_relation") else []),
    ]
    show_facts(console, facts)
    if isinstance(chunk, Mapping):
        show_line(console)
        show_line(console, "Its best chunk", "bold")
        shown = {name: value for name, value in chunk.items() if name not in _TOLD_ABOVE}
        show_facts(console, _scalars(shown))
    search = why.get("search")
    if isinstance(search, Mapping):
        show_line(console)
        show_line(console, "The search", "bold")
        _show_record(console, search)
    show_line(console)


def _show_record(console: Console, record: Mapping[str, Any]) -> None:
    show_facts(console, [*_scalars(record), *_facts(record)])
    for name, value in record.items():
        if not _is_table(value) or name == "rounds":
            continue
        show_line(console)
        if name == "candidates":
            _show_rows(console, "Candidates", _CANDIDATES, [_candidate(row) for row in value])
        elif name == "relations":
            _show_rows(console, "Relations", _RELATIONS, [_relation(row) for row in value])
        else:
            _show_unknown(console, name, value)


def _facts(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what a record holds in short lists."""
    facts = []
    for name, value in record.items():
        label = _label(name)
        if name == "rounds" and _is_table(value):
            steps = (f"k={each.get('k')}: {each.get('notes')} notes" for each in value)
            facts.append((label, ", ".join(steps)))
        elif name == "milliseconds" and isinstance(value, Mapping):
            times = (f"{stage} {number(spent, '.1f')}" for stage, spent in value.items())
            facts.append((label, ", ".join(times)))
        elif isinstance(value, list) and value and not _is_table(value):
            facts.append((label, ", ".join(_short(each) for each in value)))
        elif isinstance(value, Mapping) and value:
            facts.append((label, _short(value)))
    return facts


def _scalars(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (_label(name), number(value, ".3f") if isinstance(value, float) else _short(value))
        for name, value in record.items()
        if value is not None and not isinstance(value, list | Mapping)
    ] + [
        (_label(name), ", ".join(map(_short, value)))
        for name, value in record.items()
        if name.startswith("terms_") and isinstance(value, list) and value
    ]


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _short(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_table(value: Any) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)
    )


def _candidate(row: Mapping[str, Any]) -> list[str]:
    beaten_by = row.get("beaten_by")
    reason = row.get("reason") or (f"chunk {beaten_by} of its note" if beaten_by else None)
    return [
        text_of(row.get("rank")),
        text_of(row.get("note_id")),
        number(row.get("raw", row.get("cosine"))),
        number(row.get("adjusted")),
        text_of(row.get("outcome")),
        text_of(reason),
    ]


def _relation(row: Mapping[str, Any]) -> list[str]:
    return [
        text_of(row.get("from_note_id")),
        text_of(row.get("to_note_id")),
        text_of(row.get("type")),
        number(row.get("confidence"), ".0%"),
        number(row.get("score")),
        text_of(row.get("skipped")),
    ]


def _show_unknown(console: Console, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    heads = [key for key in rows[0] if not isinstance(rows[0][key], list | Mapping)]
    columns = [Column(_label(head), isinstance(rows[0][head], int | float), 40) for head in heads]
    cells = [
        [
            number(row.get(head)) if isinstance(row.get(head), float) else text_of(row.get(head))
            for head in heads
        ]
        for row in rows
    ]
    _show_rows(console, _label(name), columns, cells)


def _show_rows(
    console: Console, title: str, columns: Sequence[Column], rows: Sequence[Sequence[str]]
) -> None:
    more = len(rows) - SHOWN_ROWS
    show_line(console, title, "bold")
    show_table(console, columns, rows[:SHOWN_ROWS])
    if more > 0:
        show_text(console, f"... and {more} more (--json shows all)")
