"""`crystal import jsonl`: what is sent, what is refused, and what becomes of the notes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli.commands.jsonl import LARGEST_BATCH
from tests.cli.conftest import Runner, run_on_terminal, runner_over
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider, status


@pytest.fixture
def provider() -> Iterator[StubProvider]:
    with StubProvider() as running:
        yield running


@pytest.fixture
def transport(tmp_path: Path, provider: StubProvider) -> Iterator[httpx.WSGITransport]:
    with opened(tmp_path / "data", stub_values(provider)) as application:
        yield httpx.WSGITransport(app=application.flask())


@pytest.fixture
def run(transport: httpx.WSGITransport) -> Runner:
    return runner_over(transport)


def pair(number: int, **more: Any) -> list[dict[str, Any]]:
    """A conversation and its note."""
    return [
        {"type": "conversation", "external_id": f"c{number}"},
        {
            "type": "note",
            "external_id": f"n{number}",
            "conversation": f"c{number}",
            "title": f"笔记 {number}",
            **more,
        },
    ]


def written(folder: Path, lines: list[Any], end: str = "\n") -> str:
    """A file of lines, objects as JSON."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path = folder / "records.jsonl"
    path.write_text(end.join(texts) + end, encoding="utf-8", newline="")
    return str(path)


def test_records_are_sent_and_notes_embedded(run: Runner, tmp_path: Path) -> None:
    file = written(tmp_path, pair(1) + pair(2))
    ran = run("import", "jsonl", file)
    assert (ran.code, ran.err) == (0, "")
    assert ran.data["added"] | {"conversation": 2, "note": 2} == ran.data["added"]
    assert (ran.data["refused"], ran.data["embedded"]) == ([], 2)
    assert {note["embedding_status"] for note in run("notes", "list").data["items"]} == {"done"}


def test_records_that_are_known_change_nothing(run: Runner, tmp_path: Path) -> None:
    file = written(tmp_path, pair(1))
    run("import", "jsonl", file)
    again = run("import", "jsonl", file)
    assert again.code == 0
    assert again.data["unchanged"]["note"] == 1
    assert set(again.data["added"].values()) == {0}


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_refused_lines_are_named_by_their_number(run: Runner, tmp_path: Path, end: str) -> None:
    lines = [*pair(1), "", "{broken", {"type": "nothing"}, *pair(2), "[1]"]
    ran = run("import", "jsonl", written(tmp_path, lines, end))
    assert ran.code == 1
    assert [each["line"] for each in ran.data["refused"]] == [4, 5, 8]
    assert ran.data["embedded"] == 2
    assert ran.error.startswith("Error: 3 lines were refused, the first of them line 4: ")


def test_a_large_file_goes_in_batches(run: Runner, tmp_path: Path) -> None:
    filling = "x" * (LARGEST_BATCH // 3)
    records = [record for number in range(4) for record in pair(number, raw_llm_response=filling)]
    ran = run("import", "jsonl", written(tmp_path, [*records, "{broken"]), "--no-embed")
    assert ran.data["added"]["note"] == 4
    assert [each["line"] for each in ran.data["refused"]] == [9]
    assert ran.data["embedded"] == 0
    statuses = {note["embedding_status"] for note in run("notes", "list").data["items"]}
    assert statuses == {"pending"}


def test_a_line_that_is_too_large_is_refused_alone(run: Runner, tmp_path: Path) -> None:
    huge = pair(1, raw_llm_response="x" * (17 * 1024 * 1024))
    ran = run("import", "jsonl", written(tmp_path, [*huge, *pair(2)]))
    assert ran.code == 1
    assert [each["line"] for each in ran.data["refused"]] == [2]
    assert ran.data["added"]["note"] == 1


def test_stdin_and_a_byte_order_mark_are_read(run: Runner) -> None:
    content = "\ufeff" + "\n".join(json.dumps(record) for record in pair(1))
    ran = run("import", "jsonl", "-", given=content.encode())
    assert ran.code == 0
    assert ran.data["added"]["note"] == 1


def test_an_empty_file_is_nothing_to_do(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.touch()
    ran = run("import", "jsonl", str(path))
    assert ran.code == 0
    assert (ran.data["added"], ran.data["refused"]) == ({}, [])


@pytest.mark.parametrize("name", ["missing.jsonl", "."], ids=["missing", "folder"])
def test_a_file_that_cannot_be_read_is_a_usage_error(
    run: Runner, tmp_path: Path, name: str
) -> None:
    ran = run("import", "jsonl", str(tmp_path / name))
    assert (ran.code, ran.out) == (2, "")
    assert "'FILE'" in ran.error


def test_notes_that_cannot_be_embedded_are_told(
    run: Runner, tmp_path: Path, provider: StubProvider
) -> None:
    provider.behave(status(400, words="no such model"))
    ran = run("import", "jsonl", written(tmp_path, pair(1)))
    assert ran.code == 1
    assert ran.data["not_embedded"] == 1
    assert ran.error == "Error: 1 notes could not be embedded"


def test_a_terminal_shows_counts_and_refusals(
    transport: httpx.WSGITransport, tmp_path: Path
) -> None:
    ran = run_on_terminal(transport, "import", "jsonl", written(tmp_path, [*pair(1), "{broken"]))
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["note", "1", "0"] in lines
    assert ["Line", "Why", "it", "was", "refused"] in lines
    assert ran.err.splitlines()[-1].startswith("Error: 1 lines were refused")
