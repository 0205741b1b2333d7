"""The soak run notices what it is there to notice: lost notes, half imports, faults, growth."""

from __future__ import annotations

import json

import pytest

from benchmarks.soak.__main__ import conclude
from benchmarks.soak.calls import Answer, Tally
from benchmarks.soak.concurrency import growth_of
from benchmarks.soak.kills import Bounds
from benchmarks.soak.ledger import GONE, Ledger, halves
from benchmarks.soak.outcome import Part, Row, table

KEYS = ["kills", "committed", "lost", "faults", "survived", "requests", "server_errors", "growth"]


@pytest.fixture
def ledger() -> Ledger:
    """One note was promised, one is being edited, one was sent and never answered."""
    made = Ledger()
    for title in ("kept", "edited"):
        made.attempt(title, "first")
        made.promised(title, "first")
    made.attempt("edited", "second")
    made.attempt("sent", "first")
    return made


@pytest.mark.parametrize(
    "stored",
    [
        {"kept": "first", "edited": "first"},
        {"kept": "first", "edited": "second", "sent": "first"},
    ],
    ids=["before the requests at work", "after them"],
)
def test_a_request_without_an_answer_may_have_worked_or_not(
    ledger: Ledger, stored: dict[str, str]
) -> None:
    assert ledger.lost(stored) == []
    assert ledger.committed == 2
    # From now on what was stored is what is promised.
    assert len(ledger.lost({})) == len(stored)


@pytest.mark.parametrize(
    "stored",
    [
        {"edited": "first"},
        {"kept": "other", "edited": "first"},
        {"kept": "first", "edited": "first", "sent": "half"},
        {"kept": "first", "edited": "first", "stranger": ""},
    ],
    ids=["a note is gone", "an old text is back", "half a note", "nobody wrote it"],
)
def test_what_is_not_as_promised_is_lost(ledger: Ledger, stored: dict[str, str]) -> None:
    assert len(ledger.lost(stored)) == 1


def test_a_deleted_note_must_stay_away(ledger: Ledger) -> None:
    ledger.attempt("kept", GONE)
    ledger.promised("kept", GONE)
    assert ledger.lost({"kept": "first", "edited": "first"})


def test_an_import_is_there_as_a_whole_or_not_at_all() -> None:
    group = frozenset("abc")
    assert halves([group], {}) == halves([group], dict.fromkeys("abcd", "")) == []
    assert halves([group], {"b": ""}) == ["1 of 3 records of one import"]


def test_growth_is_from_the_middle_to_the_end() -> None:
    assert growth_of([10] * 50 + [100] * 40 + [110] * 10) == pytest.approx(10.0)
    assert growth_of([7]) == 0.0


@pytest.mark.parametrize(
    ("passed", "kills", "is_over"),
    [(59.0, 99, False), (60.0, 7, True), (60.0, 6, False), (90.0, 0, True)],
    ids=["time is left", "enough", "too few kills", "no longer than that"],
)
def test_kills_go_on_for_their_time_and_number(passed: float, kills: int, is_over: bool) -> None:
    assert Bounds(60.0, 90.0, 7).is_over(passed, kills) is is_over


@pytest.mark.parametrize(
    ("wrong", "lost", "status", "code"),
    [
        ([], [], 200, 0),
        (["slow"], [], 200, 1),
        ([], ["a note"], 200, 1),
        ([], [], 500, 1),
        ([], [], 503, 0),
    ],
    ids=["well", "wrong", "lost", "a fault of ours", "told to be unavailable"],
)
def test_the_last_line_tells_all_and_the_exit_code_too(
    capsys: pytest.CaptureFixture[str], wrong: list[str], lost: list[str], status: int, code: int
) -> None:
    row, left_out, tally = Row("kill", "edit"), Row("kill", "import"), Tally()
    row.add()
    row.add(wrong, lost)
    tally.add("GET /", Answer(status, "", 0.1))
    part = Part((row, left_out), kills=2, committed=5, growth=0.123)
    assert conclude([part], tally, as_json=True) == code
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert list(figures) == KEYS
    assert figures == {
        "kills": 2, "committed": 5, "lost": len(lost), "faults": 2,
        "survived": 2 - len(wrong) - len(lost), "requests": 1,
        "server_errors": int(status == 500), "growth": 0.12,
    }  # fmt: skip
    assert table([row, left_out]).splitlines()[2:] == [
        f"| kill | edit | 2 | {figures['survived']} | {len(lost)} |  |"
    ]
