"""``crystal calibrate``: fits how this machine's active space reads its cosines."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from app import factory
from app.domain.calibration import LabelledQuery
from app.factory import Application
from app.maintenance.calibration import scales
from app.maintenance.calibration.calibrator import Calibration, Form, calibrate
from app.maintenance.calibration.scales import Offer
from app.settings import store
from cli.admin.faults import reported
from cli.answers import number
from cli.evaluation.queries import QueryFile, read_queries
from cli.options import with_session
from cli.output import Output
from cli.session import Session
from cli.tables import Column, show_heading, show_line, show_table

DECIMALS = 6
SHOWN_NAMES = 5


@click.command("calibrate")
@click.argument("file", metavar="[FILE]", type=click.Path(path_type=Path), required=False)
@click.option("--apply", "is_applied", is_flag=True, help="Write it; without this, only show it.")
@click.option(
    "--shipped",
    is_flag=True,
    help="Take the border and means that come with this version instead of fitting any.",
)
@with_session
def command(session: Session, *, file: Path | None, is_applied: bool, shipped: bool) -> None:
    """Fit the means and the border of the active space.

    FILE holds labelled queries, as for crystal eval. The border is fitted so that it separates
    answers from non-answers best, the means are averages of the space's own vectors and of the
    queries. Reads this machine's database; what is written, a server that runs follows at once.
    """
    if shipped and file is not None:
        raise click.UsageError("Give FILE or --shipped, not both.")
    if not shipped and file is None:
        raise click.UsageError("Missing argument 'FILE'.")
    queries = None if file is None else read_queries(file)
    with reported(), closing(factory.build(store.load())) as application:
        if queries is None:
            _take_shipped(session.output, application, is_applied=is_applied)
        else:
            _fit(session.output, application, queries, is_applied=is_applied)


def _fit(output: Output, application: Application, file: QueryFile, *, is_applied: bool) -> None:
    labelled = [LabelledQuery(each.text, each.group, each.grades) for each in file.queries]
    with output.progress("Embedding", len(labelled)) as advance:
        found = calibrate(application.database, application.active, labelled, advance)
    _warn(output, file, found)
    if is_applied:
        scales.write(application.database, found.space.id, found.chosen.scale)
    output.show(
        _fitted_data(found, is_applied=is_applied),
        lambda console: _draw_fitted(console, found, is_applied=is_applied),
    )


def _warn(output: Output, file: QueryFile, found: Calibration) -> None:
    if file.stubs:
        output.warn(f"{file.stubs} lines are left out: their query is still to be filled in")
    if found.unknown:
        shown = ", ".join(map(repr, found.unknown[:SHOWN_NAMES]))
        output.warn(f"There is no note {shown}; {len(found.unknown)} such count as not found")
    if not found.is_gain:
        output.warn("What is fitted is no better on queries that it was chosen without")


def _fitted_data(found: Calibration, *, is_applied: bool) -> dict[str, Any]:
    spec = found.space.spec
    answered = sum(query.has_answer for query in found.queries)
    return {
        "space": {"provider": spec.provider, "model": spec.model, "dimension": spec.dimension},
        "queries": len(found.queries),
        "with_answer": answered,
        "without_answer": len(found.queries) - answered,
        "before": _form_data(found.before),
        "after": _form_data(found.chosen),
        "forms": [_form_data(form) for form in found.fitted],
        "is_gain": found.is_gain,
        "applied": is_applied,
    }


def _form_data(form: Form) -> dict[str, Any]:
    return {
        "name": form.name,
        "border": form.scale.border,
        "has_means": form.scale.means is not None,
        "ndcg@10": round(form.ndcg, DECIMALS),
        **_worth(form.worth.recall, form.worth.rejection),
        "cross_validated": _worth(form.held_out.recall, form.held_out.rejection),
        "folds": [
            {"border": fold.border, **_worth(fold.worth.recall, fold.worth.rejection)}
            for fold in form.folds
        ],
    }


def _worth(recall: float, rejection: float) -> dict[str, float]:
    return {
        "relevant_recall": round(recall, DECIMALS),
        "rejection": round(rejection, DECIMALS),
        "balanced_accuracy": round((recall + rejection) / 2, DECIMALS),
    }


def _draw_fitted(console: Console, found: Calibration, *, is_applied: bool) -> None:
    spec = found.space.spec
    show_heading(console, f"{spec.provider}/{spec.model} on {len(found.queries)} queries")
    columns = (
        Column(""),
        Column("Border", is_number=True),
        Column("Means"),
        Column("nDCG@10", is_number=True),
        Column("Relevant", is_number=True),
        Column("Rejects", is_number=True),
        Column("Both", is_number=True),
        Column("Unseen", is_number=True),
    )
    show_table(console, columns, [_row(form) for form in (found.before, *found.fitted)])
    show_line(console)
    folds = ", ".join(number(fold.border) for fold in found.chosen.folds)
    show_line(console, f"Unseen: on queries that it was chosen without; borders there: {folds}")
    verb = "is written" if is_applied else "would be written by --apply"
    chosen = found.chosen
    show_line(console, f"{chosen.name}, border {number(chosen.scale.border)}, {verb}.")
    show_line(console)


def _row(form: Form) -> list[str]:
    return [
        form.name,
        number(form.scale.border),
        "yes" if form.scale.means else "no",
        number(form.ndcg),
        number(form.worth.recall),
        number(form.worth.rejection),
        number(form.worth.mean),
        number(form.held_out.mean),
    ]


def _take_shipped(output: Output, application: Application, *, is_applied: bool) -> None:
    found = scales.offered(application.database)
    if is_applied:
        for offer in found:
            scales.write(application.database, offer.space.id, offer.shipped)
    data = {"spaces": [_offer_data(offer) for offer in found], "applied": is_applied}
    output.show(data, lambda console: _draw_offers(console, found, is_applied=is_applied))


def _offer_data(offer: Offer) -> dict[str, Any]:
    spec, shipped = offer.space.spec, offer.shipped
    return {
        "provider": spec.provider,
        "model": spec.model,
        "before": {"border": spec.border, "has_means": spec.means is not None},
        "after": {"border": shipped.border, "has_means": shipped.means is not None},
    }


def _draw_offers(console: Console, found: Sequence[Offer], *, is_applied: bool) -> None:
    verb = "is" if is_applied else "would become, by --apply,"
    for offer in found:
        spec, shipped = offer.space.spec, offer.shipped
        change = f"border {number(spec.border)} {verb} {number(shipped.border)}"
        means = "with means" if shipped.means else "without means"
        show_line(console, f"{spec.provider}/{spec.model}: {change}, {means}")
    if not found:
        show_line(console, "Every space has the border and the means that come with this version.")
