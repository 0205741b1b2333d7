"""``crystal doctor``: what is wrong with this machine's database, and what can be mended."""

from __future__ import annotations

from dataclasses import asdict

import click
from rich.console import Console

from app import factory
from app.maintenance.doctor import examination
from app.maintenance.doctor.checks import Check, Report
from app.maintenance.doctor.configuration import settings_of_this_machine
from cli.admin.faults import reported
from cli.failures import Failure
from cli.options import with_session
from cli.output import Output
from cli.session import Session
from cli.tables import show_facts, show_line

BAR_LENGTH = 100


@click.command()
@click.option("--repair", is_flag=True, help="Mend what can be derived from notes and settings.")
@with_session
def doctor(session: Session, *, repair: bool) -> None:
    """Check the database of this machine, and mend it.

    One line a check; exit 1 when something is wrong, with --repair: when something is wrong
    still. A server may run meanwhile, and follows what is mended. What people wrote is never
    changed.
    """
    report = _report(session.output, is_repair=repair)
    data = {"checks": [asdict(check) for check in report.checks], "repaired": report.repaired}
    session.output.show(data, lambda console: _draw(console, report))
    if any(name in report.repaired for name in examination.MADE_PENDING):
        session.output.say("Notes wait to be embedded again; run: crystal reindex")
    if report.wrong:
        advice = "what is left cannot be derived" if repair else "crystal doctor --repair may help"
        problem = f"{report.wrong} of {len(report.checks)} checks found something wrong"
        raise Failure(f"{problem}; {advice}", "unhealthy")


def _report(output: Output, *, is_repair: bool) -> Report:
    run = examination.repair if is_repair else examination.examine
    with reported():
        settings = settings_of_this_machine()
        with (
            examination.opened(factory.database_url(settings), settings.data_dir) as patient,
            output.progress("Checking", BAR_LENGTH) as advance,
        ):
            return run(
                patient,
                lambda done, total: advance(BAR_LENGTH * done // max(total, 1)),
                settings.embedding,
            )


def _draw(console: Console, report: Report) -> None:
    show_line(console)
    show_facts(console, [(check.name, _state(check)) for check in report.checks])
    for check in report.checks:
        if check.remedy:
            show_line(console, f"Remedy for {check.name}: {check.remedy}")
    if report.repaired:
        mended = ", ".join(f"{name} {count}" for name, count in report.repaired.items())
        show_line(console)
        show_line(console, f"Mended: {mended}")
    show_line(console)


def _state(check: Check) -> str:
    if not check.ok:
        return f"WRONG: {check.message}"
    return f"ok ({check.message})" if check.message else "ok"
