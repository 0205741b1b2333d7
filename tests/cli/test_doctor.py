"""`crystal doctor`: a line a check, an exit code that says whether all is well, and repairs."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from app.settings import store
from tests.cli.conftest import here, run_on_terminal
from tests.support.application import opened, plant, stub_values
from tests.support.provider import StubProvider

NOWHERE = httpx.MockTransport(lambda _: httpx.Response(500))


@pytest.fixture
def noted(own_data: Path, provider: StubProvider) -> Path:
    """The data folder of this machine, with two embedded notes."""
    with opened(own_data, stub_values(provider)) as application:
        plant(application, (0.9, 0.8))
    return own_data


def breaking(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "crystal.db")) as connection, connection:
        connection.execute(statement)


def test_a_sound_database_is_told_as_json(noted: Path) -> None:
    ran = here("doctor")
    assert (ran.code, ran.err) == (0, "")
    assert list(ran.data) == ["checks", "repaired"]
    assert {tuple(check) for check in ran.data["checks"]} == {
        ("name", "ok", "count", "message", "remedy")
    }
    assert all(check["ok"] is True for check in ran.data["checks"])
    assert ran.data["repaired"] == {}
    assert here("doctor", "--repair").data == ran.data


def test_what_is_wrong_is_told_with_exit_1_and_mended(noted: Path) -> None:
    breaking(noted, "UPDATE embeddings SET vector = zeroblob(32) WHERE note_id = 2")
    ran = here("doctor")
    assert ran.code == 1
    wrong = [check for check in ran.data["checks"] if not check["ok"]]
    assert [(check["name"], check["count"]) for check in wrong] == [("vectors", 1)]
    assert ran.error == (
        f"Error: 1 of {len(ran.data['checks'])} checks found something wrong; "
        "crystal doctor --repair may help"
    )

    mended = here("doctor", "--repair")
    assert mended.code == 0
    assert mended.error == "Notes wait to be embedded again; run: crystal reindex"
    assert mended.data["repaired"] == {"vectors": 1}
    assert all(check["ok"] for check in mended.data["checks"])
    assert here("reindex").data["embedded"] == 1
    assert here("doctor").code == 0


def test_what_cannot_be_mended_is_still_wrong(noted: Path) -> None:
    (noted / store.FILE_NAME).write_text("{")
    (noted / store.FILE_NAME).chmod(0o600)
    ran = here("doctor", "--repair", "--json")
    assert ran.code == 1
    assert ran.data["repaired"] == {}
    shown = json.loads(ran.error)
    assert (shown["code"], "cannot be derived" in shown["error"]) == ("unhealthy", True)


def test_a_terminal_gets_a_line_a_check(noted: Path) -> None:
    breaking(noted, "DELETE FROM lexical_documents WHERE note_id = 1")
    breaking(noted, "UPDATE notes SET embedding_status = 'failed' WHERE id = 2")
    ran = run_on_terminal(NOWHERE, "doctor")
    assert ran.code == 1
    lines = [line.split(maxsplit=1) for line in ran.out.splitlines() if line.strip()]
    assert ["integrity", "ok"] in lines
    assert ["statuses", "WRONG: 1 note not in step with the state in the active space"] in lines
    (missing,) = (rest for name, rest in lines if name == "documents_missing")
    assert missing.startswith("WRONG: 1 note ")
    (unused,) = (rest for name, rest in lines if name == "chunks_unused")
    assert unused.startswith("ok (1 vector ")

    mended = run_on_terminal(NOWHERE, "doctor", "--repair")
    assert mended.code == 0
    assert "WRONG" not in mended.out
    assert "  Mended: statuses 1, documents_missing 1, chunk_documents 1\n" in mended.out


def test_a_machine_without_a_database_is_one_line(own_data: Path) -> None:
    ran = here("doctor")
    assert (ran.code, ran.out) == (1, "")
    assert ran.error.startswith(f"Error: There is no database at {own_data}/crystal.db")
    assert not own_data.exists()


def test_a_setting_that_cannot_be_read_is_one_line(
    noted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRYSTAL_PORT", "high")
    ran = here("doctor", "--json")
    assert (ran.code, ran.out) == (1, "")
    assert json.loads(ran.error)["code"] == "configuration_error"
