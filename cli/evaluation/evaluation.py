"""One evaluation: every query asked in every way, judged, and put into the form that is shown.

Owns the run and the parts of its JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cli.evaluation.asking import Asker, look, methods_of, served_notes
from cli.evaluation.figures import (
    Judged,
    comparisons_of,
    false_matches_of,
    intervals_of,
    judge,
    queries_of,
    rows_of,
)
from cli.evaluation.naming import named
from cli.evaluation.queries import QueryFile
from cli.evaluation.values import Judgement, Method, Wanted
from cli.evaluation.worst import worst_of
from cli.output import Output
from cli.session import Session

SHOWN_NAMES = 5


def evaluate(session: Session, file: QueryFile, wanted: Wanted) -> dict[str, Any]:
    """Ask every query in every way; return rows, queries, false matches and comparisons.

    Beside them ``intervals`` of the rows and ``worst``, the queries that went worst.

    Raises:
        click.UsageError: the server has no such ranker.
        Failure: the server refuses or does not answer, or has none of the notes.
    """
    output = session.output
    server = look(session)
    methods = methods_of(server, wanted.rankers, wanted.entrances, wanted.expansions)
    notes = list(served_notes(session))
    meant = named(file.queries, notes)
    _warn(output, file, meant.unknown)
    asker = Asker(session)
    judged = _judged(asker, meant.judgements, methods, output)
    titles = {str(note.id): note.title for note in notes}
    worst = worst_of(asker, judged, titles, wanted.worst)
    for text, count in asker.warnings.items():
        output.warn(f"{text} ({count} answers)")
    return {
        "rows": rows_of(judged),
        "intervals": intervals_of(judged),
        "comparisons": comparisons_of(judged),
        "false_matches": false_matches_of(judged),
        "worst": worst,
        "queries": queries_of(judged),
    }


def _judged(
    asker: Asker, judgements: Sequence[Judgement], methods: Iterable[Method], output: Output
) -> list[Judged]:
    """Ask query by query, since a server keeps the vector of a query for a while."""
    listed = tuple(methods)
    judged = []
    with output.progress("Asking", len(judgements) * len(listed)) as advance:
        for judgement in judgements:
            for method in listed:
                answered = asker.ask(method, judgement.query.text)
                judged.append(judge(judgement, method, answered))
                advance(len(judged))
    return judged


def _warn(output: Output, file: QueryFile, unknown: Sequence[str]) -> None:
    if file.stubs:
        output.warn(f"{file.stubs} lines are left out: their query is still to be filled in")
    if unknown:
        more = f" and {len(unknown) - SHOWN_NAMES} more" if len(unknown) > SHOWN_NAMES else ""
        shown = ", ".join(map(repr, unknown[:SHOWN_NAMES]))
        output.warn(f"The server has no note {shown}{more}; they count as not found")
