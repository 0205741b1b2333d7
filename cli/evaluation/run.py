"""The work of ``crystal eval``: evaluate, compare with a baseline, draw, show.

Owns the order, so that what cannot be done is told before a server is asked a thousand times.
``cli.commands.eval`` loads it late, since numpy takes its time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from cli.evaluation import baseline, chart
from cli.evaluation.baseline import Comparison, Row
from cli.evaluation.evaluation import evaluate
from cli.evaluation.queries import QueryFile
from cli.evaluation.report import show_evaluation
from cli.evaluation.values import Wanted
from cli.failures import Failure
from cli.output import Output
from cli.session import Session
from cli.tables import show_line


def run(session: Session, file: QueryFile, wanted: Wanted) -> None:
    """Evaluate and show it; in the end hold the means against the baseline.

    Raises:
        click.UsageError: the server has no such ranker.
        Failure: the server refuses, the baseline or the chart cannot be had, or a mean fell.
    """
    before = _before(wanted)
    if wanted.chart is not None:
        chart.load()
    data = evaluate(session, file, wanted)
    compared = None
    if before is not None:
        compared = baseline.compare(before, data["rows"])
        data["baseline"] = _told(compared)
    if wanted.chart is not None:
        chart.draw(data, wanted.chart)
    session.output.show(data, lambda console: _show(console, data))
    if wanted.baseline is not None and wanted.is_renewed:
        baseline.write_rows(wanted.baseline, data["rows"])
        session.output.say(f"The means are written to {wanted.baseline}.")
    elif before is not None and compared is not None:
        _hold(session.output, compared, len(before))


def _before(wanted: Wanted) -> list[Row] | None:
    """Return the rows of the baseline; None without one, or where it is yet to be written."""
    path = wanted.baseline
    if path is None or (wanted.is_renewed and not path.exists()):
        return None
    return baseline.read_rows(path)


def _told(compared: Comparison) -> dict[str, Any]:
    return {
        "compared": compared.compared,
        "fell": [move.as_json() for move in compared.falls],
        "rose": [move.as_json() for move in compared.rises],
    }


def _show(console: Console, data: Mapping[str, Any]) -> None:
    show_evaluation(console, data)
    show_line(console)


def _hold(output: Output, compared: Comparison, rows: int) -> None:
    """Tell what rose, and fail when a mean fell."""
    if not compared.compared:
        raise Failure(
            "The baseline and this evaluation have no row in common", baseline.INVALID_BASELINE
        )
    if compared.compared < rows:
        output.warn(f"{rows - compared.compared} of {rows} rows of the baseline were not measured")
    for move in compared.moves:
        output.say(str(move))
    if falls := compared.falls:
        more = f", and {len(falls) - 1} more" if len(falls) > 1 else ""
        raise Failure(f"{falls[0]}{more}", baseline.FELL)
