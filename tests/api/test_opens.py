"""Opening a note: recorded once a minute, the latest first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from flask.testing import FlaskClient

from app.db import opens
from app.factory import Application
from app.sync import writer
from tests.api.answers import error_of
from tests.sync.conftest import rows

START = datetime(2026, 3, 1, 23, 59, 30, 250_000, tzinfo=UTC)


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.now = START

    def after(self, seconds: float) -> None:
        """Let time pass, or go back."""
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which openings are recorded."""
    found = Clock()
    monkeypatch.setattr(writer, "_moment", lambda: found.now)
    return found


def opened(client: FlaskClient, note_id: int) -> None:
    answer = client.post(f"/api/notes/{note_id}/open")
    assert (answer.status_code, answer.get_json()) == (200, {"success": True})


def times(application: Application, note_id: int) -> list[object]:
    statement = f"SELECT opened_at FROM note_opens WHERE note_id = {note_id} ORDER BY id"
    return [row[0] for row in rows(application, statement)]


def latest(application: Application, limit: int = 10) -> list[int]:
    with application.database.read() as connection:
        return opens.latest(connection, limit)


def test_the_latest_comes_first_and_each_once(
    editor: FlaskClient, filled: Application, clock: Clock
) -> None:
    for note_id in (3, 5, 1, 5, 3):
        opened(editor, note_id)
        clock.after(61)
    assert latest(filled) == [3, 5, 1]
    assert latest(filled, 2) == [3, 5]
    assert len(times(filled, 3)) == len(times(filled, 5)) == 2


def test_the_time_is_utc_with_milliseconds(
    editor: FlaskClient, filled: Application, clock: Clock
) -> None:
    opened(editor, 3)
    clock.after(60)
    opened(editor, 3)
    assert times(filled, 3) == ["2026-03-01T23:59:30.250Z", "2026-03-02T00:00:30.250Z"]


def test_within_a_minute_a_note_is_opened_once(
    editor: FlaskClient, filled: Application, clock: Clock
) -> None:
    for seconds in (0, 0, 30, 29.999):
        clock.after(seconds)
        opened(editor, 3)
        opened(editor, 5)
    assert len(times(filled, 3)) == len(times(filled, 5)) == 1
    clock.after(0.001)
    opened(editor, 3)
    assert len(times(filled, 3)) == 2
    assert latest(filled) == [3, 5]


def test_a_clock_that_is_set_back_does_not_hide_openings(
    editor: FlaskClient, filled: Application, clock: Clock
) -> None:
    opened(editor, 3)
    clock.after(-86_400)
    opened(editor, 3)
    assert times(filled, 3) == ["2026-03-01T23:59:30.250Z", "2026-02-28T23:59:30.250Z"]


def test_by_the_clock_of_this_machine(editor: FlaskClient, filled: Application) -> None:
    before = datetime.now(UTC)
    opened(editor, 3)
    opened(editor, 3)
    (recorded,) = times(filled, 3)
    found = datetime.fromisoformat(str(recorded))
    assert before - timedelta(milliseconds=1) <= found <= datetime.now(UTC)


@pytest.mark.parametrize("note_id", ["0", "999", "999999999999999999"])
def test_an_unknown_note_is_not_found(
    editor: FlaskClient, filled: Application, note_id: str
) -> None:
    error_of(editor.post(f"/api/notes/{note_id}/open"), 404, "note_not_found")
    assert latest(filled) == []


def test_the_openings_of_a_note_go_with_it(editor: FlaskClient, filled: Application) -> None:
    opened(editor, 3)
    editor.delete("/api/notes/3")
    assert latest(filled) == []
