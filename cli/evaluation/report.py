"""An evaluation as tables: means by class, uncertainty, comparisons, false matches, the worst.

Owns what is left out of the tables; JSON has it all. Must not compute a figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from cli.answers import TITLE_WIDTH, number, text_of
from cli.evaluation.figures import FIGURES, NDCG
from cli.evaluation.queries import OVERALL
from cli.tables import Column, show_heading, show_line, show_table, show_text

MOST_LINES = 20
QUERY_WIDTH = 36
HEADS = ("nDCG@10", "MRR", "rec@5", "relevant", "precision", "rejects")
WAYS = ("entrance", "ranker", "expand")

Row = Mapping[str, Any]


def show_evaluation(console: Console, data: Mapping[str, Any]) -> None:
    """Print an evaluation, the means by class first."""
    _show_rows(console, data["rows"])
    _show_intervals(console, data["intervals"])
    _show_comparisons(console, data["comparisons"], data["rows"])
    _show_false_matches(console, data["false_matches"])
    _show_worst(console, data["worst"])


def way(row: Row) -> str:
    """Return the name of a way to ask."""
    return f"{row['ranker'] or row['entrance']}{' +expand' if row['expand'] else ''}"


def _show_rows(console: Console, rows: Sequence[Row]) -> None:
    classes = dict.fromkeys(row["class"] for row in rows)
    queries = max(row["queries"] for row in rows)
    show_heading(console, f"{queries} queries, means by class")
    columns = [
        Column("Class"),
        Column("Ranker"),
        Column("n", is_number=True),
        *(Column(head, is_number=True) for head in HEADS),
        Column("median ms", is_number=True),
        Column("p95 ms", is_number=True),
    ]
    cells = [_row(row) for name in classes for row in rows if row["class"] == name]
    show_table(console, columns, cells)


def _row(row: Row) -> list[str]:
    figures = [number(row[name]) for name in FIGURES]
    times = [number(row[name], ".1f") for name in ("median_ms", "p95_ms")]
    return [row["class"], way(row), str(row["queries"]), *figures, *times]


def _show_intervals(console: Console, intervals: Sequence[Row]) -> None:
    show_heading(console, "Over all: 95 of 100 bootstrapped means lie within")
    columns = [Column("Ranker"), *(Column(head, is_number=True) for head in HEADS)]
    cells = [
        [way(row), *(_bounds(row[name]) for name in FIGURES)]
        for row in intervals
        if row["class"] == OVERALL
    ]
    show_table(console, columns, cells)


def _bounds(interval: Sequence[float] | None, form: str = ".2f") -> str:
    return "-" if interval is None else " to ".join(format(bound, form) for bound in interval)


def _show_comparisons(console: Console, comparisons: Sequence[Row], rows: Sequence[Row]) -> None:
    """Print each way beside the best one."""
    best = max((row for row in rows if row["class"] == OVERALL), key=lambda row: row[NDCG] or 0.0)
    cells = [
        _comparison(compared, best)
        for compared in comparisons
        if compared["figure"] == NDCG and way(best) in map(way, _pair(compared))
    ]
    if not cells:
        return
    show_heading(console, f"{way(best)} against the others, nDCG@10 on the same queries")
    columns = (
        Column("Against"),
        Column("Better by", is_number=True),
        Column("95 %", is_number=True),
        Column("p by chance", is_number=True),
        Column("n", is_number=True),
    )
    show_table(console, columns, cells)


def _pair(compared: Row) -> tuple[Row, Row]:
    return compared["one"], compared["other"]


def _comparison(compared: Row, best: Row) -> list[str]:
    one, other = _pair(compared)
    is_first = way(one) == way(best)
    bounds = compared["interval"]
    signed = bounds if is_first or bounds is None else [-bound for bound in reversed(bounds)]
    return [
        way(other if is_first else one),
        number(compared["difference"] * (1 if is_first else -1), "+.3f"),
        _bounds(signed, "+.3f"),
        number(compared["p_value"], ".4f"),
        str(compared["queries"]),
    ]


def _show_false_matches(console: Console, matches: Sequence[Row]) -> None:
    """Print, of each way, what was shown for queries that have no answer."""
    groups: dict[str, list[Row]] = {}
    for match in matches:
        if not match["has_answer"]:
            groups.setdefault(way(match), []).append(match)
    columns = (
        Column("Query", widest=QUERY_WIDTH, gives_way=True),
        Column("Note", is_number=True),
        Column("Title", widest=TITLE_WIDTH),
        Column("Score", is_number=True),
    )
    for name, members in groups.items():
        show_heading(console, f"{name}: {len(members)} false matches of queries without an answer")
        shown = [
            [match["query"], str(match["note_id"]), match["title"], number(match["score"])]
            for match in members[:MOST_LINES]
        ]
        show_table(console, columns, shown)
        if len(members) > MOST_LINES:
            show_line(console, f"... and {len(members) - MOST_LINES} more (--json lists all)")


def _show_worst(console: Console, worst: Sequence[Row]) -> None:
    if not worst:
        return
    show_heading(console, f"The worst queries of {way(worst[0])}, and why")
    for told in worst:
        show_line(console, f"{told[NDCG]:.3f}  {told['query']}  ({told['class']})", "bold")
        if told["note_id"] is None:
            show_text(console, "The note that answers it is not on this server.")
        else:
            place = f"place {told['rank']}" if told["rank"] else "not among the first ten"
            show_text(console, f"Note {told['note_id']}, {told['title']}: {place}.")
        if told["first"]:
            show_text(console, f"First came: {told['first']}")
        if told["explanation"]:
            show_text(console, text_of(told["explanation"]["message"]))
        show_line(console)
