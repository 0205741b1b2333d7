"""The MCP server as agents meet it: the SDK's own client over a real application."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import httpx
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent, TextResourceContents

from cli.commands import mcp as command
from cli.mcp.notes import as_markdown
from cli.mcp.server import create
from cli.mcp.tools import LISTED, TOOLS
from cli.session import Given, Session, Wiring
from tests.cli.conftest import Served, free_port, runner_over
from tests.cli.library import CHINESE_TITLE, NOTES

ORIGINAL_ARGUMENTS = {
    "search_knowledge": {"query", "limit"},
    "get_note": {"id"},
    "list_notes": {"tag", "search", "page"},
    "get_relations": {"noteId"},
    "recall_for_task": {"mode", "task", "options"},
    "write_task_memory": {"mode", "source_run_key", "scope", "task", "memory"},
}

Talk = Callable[[Client], Coroutine[Any, Any, Any]]


def alone(what: Callable[..., Coroutine[Any, Any, Any]], *given: Any) -> Any:
    """Run a coroutine in a thread of its own: the one of a test may have a loop already."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, what, *given).result()


def talk(transport: httpx.BaseTransport, what: Talk) -> Any:
    """Let a client talk to a server over a transport of the API."""

    async def run() -> Any:
        wiring = Wiring(transport=transport)
        with closing(Session(wiring, Given(asked_json=True))) as session:
            async with Client(create(session, "1.2.3")) as client:
                return await what(client)

    return alone(run)


def call(transport: httpx.BaseTransport, name: str, **arguments: Any) -> CallToolResult:
    """Call one tool."""

    async def what(client: Client) -> Any:
        return await client.call_tool(name, arguments)

    result: CallToolResult = talk(transport, what)
    return result


def text_of(result: CallToolResult) -> str:
    """The one text of an answer."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def data(transport: httpx.BaseTransport, name: str, **arguments: Any) -> Any:
    """The JSON that a tool answers."""
    result = call(transport, name, **arguments)
    assert not result.is_error, text_of(result)
    return json.loads(text_of(result))


def schemas(transport: httpx.BaseTransport) -> dict[str, Any]:
    async def what(client: Client) -> Any:
        return (await client.list_tools()).tools

    return {tool.name: tool for tool in talk(transport, what)}


def test_every_tool_has_a_description_and_described_arguments(
    library: httpx.WSGITransport,
) -> None:
    tools = schemas(library)
    assert list(tools) == [row.method.__name__ for row in TOOLS]
    for tool in tools.values():
        assert tool.description
        assert tool.input_schema["type"] == "object"


@pytest.mark.parametrize("name", ORIGINAL_ARGUMENTS)
def test_the_tools_of_the_original_take_its_arguments(
    library: httpx.WSGITransport, name: str
) -> None:
    assert set(schemas(library)[name].input_schema["properties"]) >= ORIGINAL_ARGUMENTS[name]


def test_only_tools_that_write_say_so(library: httpx.WSGITransport) -> None:
    writers = {
        name for name, tool in schemas(library).items() if not tool.annotations.read_only_hint
    }
    assert writers == {"write_task_memory", "add_note"}


def test_a_search_finds_notes_with_their_summaries(library: httpx.WSGITransport) -> None:
    found = data(library, "search_knowledge", query="数据库连接池", limit=3)
    assert len(found) == 3
    assert CHINESE_TITLE in [row["title"] for row in found]
    assert "summary" in found[0]


def test_the_ranker_is_hybrid_unless_another_is_named(library: httpx.WSGITransport) -> None:
    hybrid = data(library, "search_knowledge", query="redis pool")
    assert hybrid == data(library, "search_knowledge", query="redis pool", ranker="hybrid")
    assert hybrid != data(library, "search_knowledge", query="redis pool", ranker="vector")


@pytest.mark.parametrize("reference", [2, "2", CHINESE_TITLE], ids=["number", "digits", "title"])
def test_a_note_is_read_by_id_or_title(library: httpx.WSGITransport, reference: int | str) -> None:
    assert data(library, "get_note", id=reference)["title"] == CHINESE_TITLE


def test_notes_are_listed_by_page(library: httpx.WSGITransport) -> None:
    listed = data(library, "list_notes", tag="redis")
    assert [note["title"] for note in listed["items"]] == [NOTES[0][0]]
    assert data(library, "list_notes", page=2)["items"] == []


def test_a_list_tells_what_is_needed_to_choose_and_no_more(library: httpx.WSGITransport) -> None:
    listed = data(library, "list_notes")
    assert (listed["total"], listed["offset"], listed["limit"]) == (len(NOTES), 0, 20)
    whole = data(library, "get_note", id=1)
    (first,) = (note for note in listed["items"] if note["id"] == 1)
    assert first == {name: whole[name] for name in LISTED}


def test_relations_are_listed(library: httpx.WSGITransport) -> None:
    kinds = {row["relation_type"] for row in data(library, "get_relations", noteId=1)}
    assert kinds == {"CAUSED_BY", "SIMILAR_TO"}


def test_why_names_the_stage_that_decided(library: httpx.WSGITransport) -> None:
    verdict = data(library, "why", query="redis", note_id=6)
    assert verdict["note_id"] == 6
    assert verdict["message"]


def test_expand_and_hidden_notes_look_around_a_note(library: httpx.WSGITransport) -> None:
    assert data(library, "expand", note_id=1)
    assert data(library, "hidden_notes", note_id=1, deep=True) is not None


def test_an_added_note_is_found_at_once(own_library: httpx.WSGITransport) -> None:
    added = data(
        own_library, "add_note", title="Zebra striping", tags=["tables"], summary="cos=0.9"
    )
    found = data(own_library, "search_knowledge", query="zebra")
    assert found[0]["note_id"] == added["id"]


def test_a_lesson_is_written_once_and_recalled(own_library: httpx.WSGITransport) -> None:
    task = {"goal": "Fix the flaky retry test", "task_kind": "debug", "project_key": "atlas"}
    memory = {
        "title": "Retry tests need a frozen clock",
        "summary": "The retry test failed because the backoff read the wall clock; inject one.",
        "outcome_type": "fix",
        "root_cause": "The backoff slept by wall clock while the test counted attempts.",
        "resolution": "Inject a clock into the backoff and advance it in the test.",
        "key_conclusions": ["Freeze the clock in retry tests instead of sleeping."],
        "error_signatures": ["AssertionError: 3 != 2 attempts"],
        "tags": ["testing"],
    }
    lesson = {"mode": "auto", "source_run_key": "run-1", "task": task, "memory": memory}
    first = data(own_library, "write_task_memory", **lesson)
    again = data(own_library, "write_task_memory", **lesson)
    assert first["note_id"] == again["note_id"]
    recalled = data(own_library, "recall_for_task", task=task)
    titles = [row["title"] for row in recalled["project_memories"]]
    assert "Retry tests need a frozen clock" in titles


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("get_note", {"id": 404}, "not found"),
        ("get_note", {"id": "no such note"}, "no such note"),
        ("search_knowledge", {"query": " "}, '"q" is required'),
        ("search_knowledge", {"query": "x", "ranker": "best"}, '"ranker" must be one of'),
        ("list_notes", {"page": 0}, 'Argument "page": Input should be greater than or equal to 1'),
        ("get_relations", {}, 'Argument "noteId": Field required'),
        (
            "recall_for_task",
            {"task": {"goal": "g", "task_kind": "cook"}},
            "Argument \"task.task_kind\": Input should be 'debug', 'implement'",
        ),
    ],
    ids=[
        "missing-id",
        "missing-title",
        "blank-query",
        "unknown-ranker",
        "page-zero",
        "missing-argument",
        "unknown-kind",
    ],
)
def test_an_error_is_a_sentence_for_the_agent(
    library: httpx.WSGITransport, name: str, arguments: dict[str, Any], said: str
) -> None:
    result = call(library, name, **arguments)
    assert result.is_error
    assert said.lower() in text_of(result).lower()
    assert "Traceback" not in text_of(result)
    assert "pydantic" not in text_of(result)


def test_more_notes_than_the_most_are_the_most(library: httpx.WSGITransport) -> None:
    found = data(library, "search_knowledge", query="redis", limit=500, ranker="vector")
    assert found == data(library, "search_knowledge", query="redis", limit=50, ranker="vector")


def test_notes_are_resources(library: httpx.WSGITransport) -> None:
    async def what(client: Client) -> Any:
        templates = await client.list_resource_templates()
        note = await client.read_resource("crystal://notes/1")
        tags = await client.read_resource("crystal://tags")
        return templates, note, tags

    templates, note, tags = talk(library, what)
    assert [each.uri_template for each in templates.resource_templates] == [
        "crystal://notes/{note_id}"
    ]
    (content,) = note.contents
    assert isinstance(content, TextResourceContents)
    assert content.text.startswith(f"# {NOTES[0][0]}\n")
    assert "- redis (1)" in tags.contents[0].text


@pytest.mark.parametrize("reference", ["2", quote(CHINESE_TITLE)], ids=["id", "title"])
def test_a_note_is_a_resource_by_any_of_its_names(
    library: httpx.WSGITransport, reference: str
) -> None:
    async def what(client: Client) -> Any:
        return await client.read_resource(f"crystal://notes/{reference}")

    (content,) = talk(library, what).contents
    assert content.mime_type == "text/markdown"
    assert content.text.startswith(f"# {CHINESE_TITLE}\n")


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("crystal://notes/404", "Note not found"),
        ("crystal://notes/nobody", 'No note is called "nobody"'),
        ("crystal://elsewhere", "Unknown resource"),
    ],
    ids=["id", "name", "address"],
)
def test_a_missing_resource_is_a_sentence(
    library: httpx.WSGITransport, uri: str, said: str
) -> None:
    async def what(client: Client) -> Any:
        with pytest.raises(MCPError, match=said):
            await client.read_resource(uri)

    talk(library, what)


def test_a_fence_in_code_does_not_end_the_code() -> None:
    snippet = {"language": "md", "code": "```\ninside\n```", "description": "Fences"}
    text = as_markdown({"title": "T", "code_snippets": [snippet]})
    assert "````md\n```\ninside\n```\n````" in text


def test_a_client_speaks_to_the_command_over_its_streams(served: Served) -> None:
    async def run() -> tuple[list[str], str]:
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "cli.main", "mcp"], env=served.environment
        )
        async with Client(stdio_client(server)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("search_knowledge", {"query": "redis pool"})
            return names, text_of(found)

    names, found = alone(run)
    assert names == [row.method.__name__ for row in TOOLS]
    assert json.loads(found)[0]["title"] == NOTES[0][0]


def test_a_client_speaks_to_the_command_over_http(served: Served, tmp_path: Path) -> None:
    port = free_port()
    with (
        (tmp_path / "said").open("wb") as said,
        subprocess.Popen(
            [sys.executable, "-m", "cli.main", "mcp", "--http", "--port", str(port)],
            env=served.environment, stdout=said, stderr=said,
        ) as process,
    ):  # fmt: skip
        try:
            wait_for_port(port)
            assert alone(list_over_http, port) == [row.method.__name__ for row in TOOLS]
            foreign = httpx.post(
                f"http://127.0.0.1:{port}/mcp", headers={"Host": "evil.example"}, json={}
            )
            assert foreign.status_code == 421
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=20)


async def list_over_http(port: int) -> list[str]:
    async with Client(f"http://127.0.0.1:{port}/mcp") as client:
        return [tool.name for tool in (await client.list_tools()).tools]


def wait_for_port(port: int) -> None:
    transport = httpx.HTTPTransport(retries=12)
    with httpx.Client(transport=transport) as client:
        client.get(f"http://127.0.0.1:{port}/")


def test_without_the_sdk_the_command_says_what_to_install(
    library: httpx.WSGITransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    ran = runner_over(library)("mcp")
    assert ran.code == 1
    assert "pip install 'chatcrystal-search[mcp]'" in ran.err
