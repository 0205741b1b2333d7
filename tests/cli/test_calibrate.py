"""`crystal calibrate`: shows what it would change, changes it when told to, undoes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.factory import Application
from cli.session import Wiring
from tests.cli.conftest import here, run_on_terminal, run_with
from tests.cli.graded import write_lines
from tests.support.application import opened, stub_values
from tests.support.divided import ENTRIES, QUERIES, divided_vector
from tests.support.library import store
from tests.support.provider import StubProvider

NOWHERE = httpx.MockTransport(lambda _: httpx.Response(500))
NOTHING = QUERIES[-1].text
WORTH = {"relevant_recall", "rejection", "balanced_accuracy"}


@pytest.fixture
def machine(own_data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    """This machine's database with notes of two languages, and a server that runs over it."""
    with StubProvider(vector=divided_vector) as provider:
        monkeypatch.setenv("CRYSTAL_EMBEDDING_BASE_URL", provider.base_url)
        with opened(own_data, stub_values(provider)) as application:
            store(application, ENTRIES, fills=False)
            yield application


@pytest.fixture
def file(tmp_path: Path) -> str:
    lines = [
        {"query": query.text, "class": query.group, "relevant": query.grades} for query in QUERIES
    ]
    return str(write_lines(tmp_path / "queries.jsonl", lines))


def test_before_and_after_are_shown_and_nothing_is_written(machine: Application, file: str) -> None:
    ran = here("calibrate", file, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.data["space"]["provider"] == "openai"
    counts = ("queries", "with_answer", "without_answer")
    assert [ran.data[name] for name in counts] == [48, 24, 24]
    before, after = ran.data["before"], ran.data["after"]
    assert (before["border"], before["has_means"], before["balanced_accuracy"]) == (
        0.58,
        False,
        0.25,
    )
    assert (after["name"], after["has_means"], after["balanced_accuracy"]) == (
        "means and border",
        True,
        1,
    )
    assert set(after["cross_validated"]) == WORTH
    assert len(after["folds"]) == 5
    assert {form["name"] for form in ran.data["forms"]} == {"means and border", "border alone"}
    assert (ran.data["is_gain"], ran.data["applied"]) == (True, False)
    assert here("calibrate", file, "--json").data == ran.data


def test_what_is_applied_a_running_server_follows_until_it_is_undone(
    machine: Application, file: str
) -> None:
    server = Wiring(transport=httpx.WSGITransport(app=machine.flask()))
    assert len(run_with(server, ("search", NOTHING)).data) == 10
    applied = here("calibrate", file, "--apply")
    assert applied.data["applied"] is True
    assert run_with(server, ("search", NOTHING)).data == []
    space = run_with(server, ("config", "get")).data["space"]
    assert (space["border"], space["hasMeans"]) == (applied.data["after"]["border"], True)
    assert set(space["meanLengths"]) == {"query", "query_han", "passage", "passage_han"}
    assert space["meanLengths"]["query"] > 0.5 > space["meanLengths"]["query_han"] == 0

    table = run_on_terminal(httpx.WSGITransport(app=machine.flask()), "config", "get").out
    assert "of lengths query 0." in table
    assert "passage han 0." in table

    again = here("calibrate", file)
    assert again.data["before"]["balanced_accuracy"] == 1
    assert "no better" in again.err

    shown = here("calibrate", "--shipped")
    assert [each["after"] for each in shown.data["spaces"]] == [
        {"border": 0.58, "has_means": False}
    ]
    assert run_with(server, ("search", NOTHING)).data == []
    assert here("calibrate", "--shipped", "--apply").data["applied"] is True
    assert len(run_with(server, ("search", NOTHING)).data) == 10
    assert here("calibrate", "--shipped").data == {"spaces": [], "applied": False}


def test_a_terminal_gets_a_table(machine: Application, file: str) -> None:
    ran = run_on_terminal(NOWHERE, "calibrate", file)
    assert ran.code == 0
    assert "openai/text-embedding-3-small on 48 queries" in ran.out
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["before", "0.580", "no"] in [line[:3] for line in lines]
    assert "would be written by --apply." in ran.out
    assert "is written." in run_on_terminal(NOWHERE, "calibrate", file, "--apply").out
    shipped = run_on_terminal(NOWHERE, "calibrate", "--shipped").out
    assert "would become, by --apply, 0.580, without means" in shipped
    run_on_terminal(NOWHERE, "calibrate", "--shipped", "--apply")
    assert "Every space has" in run_on_terminal(NOWHERE, "calibrate", "--shipped").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Missing argument 'FILE'."),
        (("some.jsonl", "--shipped"), "Give FILE or --shipped, not both."),
    ],
    ids=["nothing", "both"],
)
def test_wrong_usage_is_told(words: tuple[str, ...], said: str) -> None:
    ran = here("calibrate", *words)
    assert (ran.code, ran.out, ran.error) == (2, "", f"Error: {said}")


def test_lines_that_do_not_fit_are_told(machine: Application, tmp_path: Path) -> None:
    lines = [
        {"query": query.text, "class": query.group, "relevant": query.grades} for query in QUERIES
    ]
    lines[0] = {**lines[0], "relevant": {"gone": 1}}
    stub = {"query": "", "class": "a", "relevant": {}, "todo": "fill in"}
    ran = here("calibrate", str(write_lines(tmp_path / "q.jsonl", [*lines, stub])))
    assert ran.code == 0
    assert ran.err.splitlines() == [
        "Warning: 1 lines are left out: their query is still to be filled in",
        "Warning: There is no note 'gone'; 1 such count as not found",
    ]
    few = here("calibrate", str(write_lines(tmp_path / "few.jsonl", lines[:9])), "--json")
    assert few.code == 1
    assert '"code":"calibration_refused"' in few.err
    assert "the file has 9 and 0" in few.err
