"""``crystal import`` and what it shows; ``crystal conversations search`` and ``show``."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.domain.imports import ImportRequest
from fixtures.conversations import build
from fixtures.conversations.story import Story, every
from tests.cli.conftest import Ran, Runner, here, run_on_terminal, runner_over
from tests.support.application import opened, planted_vector, stub_values
from tests.support.provider import StubProvider

STORIES = {story.name: story for story in every()}
FEW = ("en-01-redis-pool", "en-02-tokio-block", "en-x01-hello", "zh-12-flutter-setstate")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with a few sessions."""
    build.build(tmp_path / "home", [STORIES[name] for name in FEW])
    return tmp_path / "home"


def sources_of(ran: Ran) -> dict[str, dict[str, Any]]:
    assert ran.code == 0, ran.err
    return {each["source"]: each for each in ran.data["sources"]}


def test_an_import_makes_notes_that_are_found(own_data: Path, home: Path) -> None:
    ran = here("import", "--home", str(home))
    found = sources_of(ran)
    assert {name: each["new"] for name, each in found.items() if each["new"]} == {
        "claude-code": 2, "codex": 1, "cursor": 1,
    }  # fmt: skip
    made = ran.data["made"]
    assert (made["notes"], made["filtered"], made["errors"]) == (3, 1, [])
    assert made["not_embedded"] == 0
    again = here("import", "--home", str(home))
    assert sources_of(again)["claude-code"]["unchanged"] == 2
    assert again.data["made"]["notes"] == 0


RELATIONS = "SELECT source_note_id, target_note_id, relation_type, confidence FROM note_relations"


def test_an_import_that_was_killed_before_relations_finds_them_when_run_again(
    own_data: Path, tmp_path: Path
) -> None:
    twins = [replace(STORIES["en-01-redis-pool"], name=name) for name in ("once", "once-more")]
    build.build(tmp_path / "twins", twins)
    made = here("import", "--home", str(tmp_path / "twins")).data["made"]
    with closing(sqlite3.connect(own_data / "crystal.db")) as connection:
        whole = connection.execute(RELATIONS).fetchall()
        assert made["relations"] == len(whole) > 0
        # What one leaves that is killed when all its notes are written.
        connection.execute("DELETE FROM note_relations")
        connection.execute("INSERT INTO notes_to_relate SELECT id FROM notes")
        connection.commit()
        again = here("import", "--home", str(tmp_path / "twins")).data["made"]
        assert (again["notes"], again["relations"]) == (0, len(whole))
        assert connection.execute(RELATIONS).fetchall() == whole
        assert connection.execute("SELECT * FROM notes_to_relate").fetchall() == []


def test_a_dry_run_leaves_nothing_behind(own_data: Path, home: Path) -> None:
    ran = here("import", "--home", str(home), "--dry-run")
    assert sources_of(ran)["claude-code"]["new"] == 2
    assert ran.data["made"] is None
    assert not own_data.exists()


@pytest.mark.parametrize(
    ("options", "new"),
    [
        (("--source", "codex"), {"codex"}),
        (("--source", "codex", "--source", "cursor"), {"codex", "cursor"}),
        (("--project", "payments"), {"claude-code"}),
        (("--since", "2026-02-20"), {"cursor"}),
        (("--since", "1h"), set()),
    ],
)
def test_options_choose(
    own_data: Path, home: Path, options: tuple[str, ...], new: set[str]
) -> None:
    ran = here("import", "--home", str(home), "--no-distil", *options)
    assert {name for name, each in sources_of(ran).items() if each["new"]} == new
    assert ran.data["made"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--source", "emacs"), "'emacs' is not one of"),
        (("--since", "soon"), "must be an ISO 8601 date or time"),
        (("--since", "99999999999999d"), "must be an ISO 8601 date or time"),
        (("--watch", "--dry-run"), "exclude each other"),
        (("nowhere",), "No such command"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused(
    own_data: Path, arguments: tuple[str, ...], message: str
) -> None:
    ran = here("import", *arguments)
    assert ran.code == 2
    assert message in ran.error
    assert not own_data.exists()


def test_a_source_without_a_folder_says_which_setting(own_data: Path, home: Path) -> None:
    ran = here("import", "--home", str(home), "--source", "generic")
    assert ran.code == 1
    assert "set sources.generic" in ran.error


def test_the_other_imports_are_commands_still(own_data: Path) -> None:
    ran = here("import", "--help")
    assert ran.code == 0
    assert all(name in ran.out for name in ("chatcrystal", "jsonl", "markdown", "--watch"))


def test_a_terminal_shows_a_table_by_source(
    own_data: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRYSTAL_SOURCES_HOME", str(home))
    ran = run_on_terminal(httpx.MockTransport(_nobody), "import", "--no-distil")
    assert ran.code == 0, ran.err
    assert "Claude Code" in ran.out
    heads = [line for line in ran.out.splitlines() if "Broken lines" in line]
    assert len(heads) == 1
    assert "No tool keeps" not in ran.out


def test_a_terminal_says_when_there_is_no_tool(
    own_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRYSTAL_SOURCES_HOME", str(tmp_path / "nobody"))
    ran = run_on_terminal(httpx.MockTransport(_nobody), "import", "--no-distil")
    assert "No tool keeps conversations here." in ran.out


def _nobody(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("no server is asked", request=request)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.WSGITransport]:
    """The way to a server with a few conversations, for tests that change nothing."""
    folder = tmp_path_factory.mktemp("told")
    build.build(folder / "home", [STORIES[name] for name in FEW])
    with (
        StubProvider(vector=planted_vector) as provider,
        opened(folder, stub_values(provider)) as application,
    ):
        application.conversations.run(ImportRequest())
        yield httpx.WSGITransport(app=application.flask())


@pytest.fixture
def run(told: httpx.WSGITransport) -> Runner:
    """Runs commands on it."""
    return runner_over(told)


@pytest.fixture
def redis() -> Story:
    """The story of the pool that ran dry."""
    return STORIES["en-01-redis-pool"]


def test_conversations_are_searched(run: Runner, redis: Story) -> None:
    ran = run("conversations", "search", "connection", "pipeline", "released", "-l", "1")
    [row] = ran.data
    assert (row["conversation_id"], row["turn"]) == (redis.id, 1)


@pytest.mark.parametrize(
    ("options", "count"), [(("--source", "cursor"), 0), (("--project", "pay"), 1)]
)
def test_a_search_can_be_narrowed(run: Runner, options: tuple[str, ...], count: int) -> None:
    assert len(run("conversations", "search", "pipeline", *options, "-l", "1").data) == count


def test_what_was_found_is_shown_with_its_words(told: httpx.WSGITransport, redis: Story) -> None:
    ran = run_on_terminal(told, "conversations", "search", "pipeline", "released", colours=True)
    assert redis.id in ran.out
    assert "\x1b[1mpipeline\x1b[0m" in ran.out
    assert "turn 1" in ran.out


def test_a_search_without_an_answer_says_so(told: httpx.WSGITransport) -> None:
    ran = run_on_terminal(told, "conversations", "search", "zzzqqx")
    assert (ran.code, "Nothing was found." in ran.out) == (0, True)


def test_a_conversation_is_shown_turn_by_turn(told: httpx.WSGITransport, redis: Story) -> None:
    ran = run_on_terminal(told, "conversations", "show", redis.id)
    assert [line.strip() for line in ran.out.splitlines() if "Turn" in line] == [
        "Turn 1", "Turn 2", "Turn 3",
    ]  # fmt: skip
    assert "Grep: pattern: pipeline" in ran.out
    assert "app/sessions.py:18" not in ran.out


def test_tools_and_thoughts_can_be_unfolded(told: httpx.WSGITransport, redis: Story) -> None:
    ran = run_on_terminal(told, "conversations", "show", redis.id, "--full", "--turn", "1")
    assert "app/sessions.py:18" in ran.out
    assert "Connections leak slowly." in ran.out
    assert "Turn 2" not in ran.out


def test_a_turn_alone_is_json_as_well(run: Runner, redis: Story) -> None:
    shown = run("conversations", "show", redis.id, "--turn", "2").data
    assert {message["turn"] for message in shown["messages"]} == {2}
    assert shown["id"] == redis.id


def test_a_conversation_that_is_not_there_is_an_error(run: Runner) -> None:
    ran = run("--json", "conversations", "show", "nobody")
    assert ran.code == 1
    assert json.loads(ran.error)["code"] == "conversation_not_found"
