"""The server's own import of conversations, followed and waited for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.api import scans
from app.api.scans import events
from app.api.streams import HEARTBEAT
from app.domain.imports import ImportProgress
from app.errors import DatabaseUnavailable
from app.factory import Application
from app.settings.values import parse
from app.sync.conversations.importer import ConversationImporter
from app.sync.conversations.scanner import ConversationScanner, Scan
from fixtures.conversations import build
from tests.api.answers import data_of, error_of
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider

STREAM = "/api/import/scan/stream"


@pytest.fixture
def served(tmp_path: Path, stub: StubProvider) -> Iterator[Application]:
    """An application in whose home folder tools keep conversations."""
    build.build(tmp_path / "home")
    values = stub_values(stub) | {"sources.generic": str(tmp_path / "home" / build.GENERIC)}
    with opened(tmp_path, values) as built:
        yield built


@pytest.fixture
def scanning(served: Application) -> FlaskClient:
    """A client of it."""
    return served.flask().test_client()


def events_of(body: bytes) -> list[tuple[str, Any]]:
    """The names and data of a stream's events."""
    found = []
    for event in body.decode("utf-8").removesuffix("\n\n").split("\n\n"):
        name, _, data = event.partition("\ndata: ")
        found.append((name.removeprefix("event: "), json.loads(data)))
    return found


def test_a_scan_answers_what_the_original_does(scanning: FlaskClient) -> None:
    first = data_of(scanning.post("/api/import/scan"))
    assert [first[name] for name in ("total", "imported", "skipped", "errors")] == [60, 60, 0, 0]
    assert [each["source"] for each in first["sources"]] == [
        "claude-code", "codex", "cursor", "copilot", "trae", "generic",
    ]  # fmt: skip
    second = data_of(scanning.post("/api/import/scan"))
    assert [second[name] for name in ("total", "imported", "skipped")] == [60, 0, 60]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_stream_tells_progress_and_ends_with_done(scanning: FlaskClient, method: str) -> None:
    response = scanning.open(STREAM, method=method)
    assert response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert response.headers["Cache-Control"] == "no-store"
    *progress, last = events_of(response.data)
    assert last[0] == "done"
    assert last[1]["imported"] == 60
    assert {name for name, _ in progress} == {"progress"}
    currents = [data["current"] for _, data in progress]
    assert currents == sorted(currents)
    assert list(progress[-1][1]) == [
        "total", "current", "currentFile", "imported", "skipped", "errors",
    ]  # fmt: skip
    assert progress[-1][1]["current"] == progress[-1][1]["total"]


def test_asking_for_the_head_of_a_stream_starts_nothing(scanning: FlaskClient) -> None:
    assert scanning.head(STREAM).status_code == 200
    assert data_of(scanning.get("/api/conversations"))["total"] == 0


def test_a_folder_is_never_taken_from_a_request(scanning: FlaskClient, tmp_path: Path) -> None:
    given = {"folder": str(tmp_path), "sources": {"home": "/nowhere"}, "dataDir": "/nowhere"}
    answer = data_of(scanning.post("/api/import/scan?folder=/nowhere", json=given))
    assert answer["imported"] == 60
    refused = scanning.post("/api/config", json={"sources": {"home": "/nowhere"}})
    assert refused.status_code == 400


def test_the_configuration_shows_the_tools_that_are_there(
    scanning: FlaskClient, tmp_path: Path
) -> None:
    shown = data_of(scanning.get("/api/config"))
    counts = {each["name"]: each["conversationCount"] for each in shown["sources"]}
    assert counts == {
        "claude-code": 19, "codex": 13, "cursor": 10, "copilot": 9, "trae": 5, "generic": 1,
    }  # fmt: skip
    assert shown["sources"][1]["displayName"] == "Codex CLI"
    assert shown["claudeProjectsDir"] == str(tmp_path / "home" / ".claude" / "projects")
    assert shown["enabledSources"] == list(counts)


def test_without_tools_only_stored_conversations_name_a_source(reader: FlaskClient) -> None:
    shown = data_of(reader.get("/api/config"))
    [source] = shown["sources"]
    assert (source["name"], source["dataDir"]) == ("claude-code", "")
    assert shown["claudeProjectsDir"] == ""


class _Broken(ConversationImporter):
    """An importer whose database is gone."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def run(self, *_: Any) -> Any:
        raise self._error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (DatabaseUnavailable("The database is locked"), "The database is locked"),
        (RuntimeError("secret detail"), "Something went wrong on our side"),
    ],
)
def test_a_scan_that_fails_says_so(error: Exception, message: str) -> None:
    scan = Scan(_Broken(error))
    scan.start()
    [(name, data)] = events_of(b"".join(events(scan)))
    assert (name, data) == ("error", {"error": message})
    with pytest.raises(type(error), match=str(error)):
        scan.result()


def test_a_bad_setting_is_told(tmp_path: Path, stub: StubProvider) -> None:
    values = stub_values(stub) | {"sources.enabled": "claud"}
    with opened(tmp_path, values) as built:
        response = built.flask().test_client().post("/api/import/scan")
        assert "sources.enabled" in error_of(response, 500)


def test_a_silence_is_filled(served: Application) -> None:
    scan = Scan(served.conversations)
    silent = events(scan, heartbeat=0.01)
    assert next(silent) == HEARTBEAT
    scan.start()
    assert events_of(b"".join(silent).replace(HEARTBEAT, b""))[-1][0] == "done"


def test_who_asks_while_a_scan_runs_follows_that(served: Application) -> None:
    scanner = ConversationScanner(served.conversations)
    first = scanner.scan()
    assert scanner.scan() is first or first.state.is_over
    report = first.result()
    assert len(report.fresh) == 60
    assert scanner.scan() is not first
    scanner.close()


def test_progress_counts_what_is_skipped() -> None:
    progress = ImportProgress(total=3, current=2, file="x", imported=1, skipped=4, broken=5)
    assert scans._progress(progress) == {
        "total": 3, "current": 2, "currentFile": "x", "imported": 1, "skipped": 4, "errors": 5,
    }  # fmt: skip


def test_sources_have_no_default_outside_the_home_folder() -> None:
    assert parse({}, {}).sources.generic == ""
