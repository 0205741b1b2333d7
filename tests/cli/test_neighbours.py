"""Notes by other names than their ids, and the commands that show what lies around a note."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from cli.session import Wiring
from tests.cli.conftest import Runner, run_on_terminal, run_with, runner_over
from tests.support.application import opened, planted_vector, stub_values
from tests.support.provider import StubProvider

NOTES = (
    ("Alpha", "# One\n\nSee [[Beta]] and [[Phantom]]. cos=0.9\n\n## Two\n\ncos=0.8\n",
     ("lang", "lang/go")),
    ("Beta", "![[Alpha]] [[数据库连接池]] cos=0.7\n", ("lang",)),
    ("数据库连接池", "cos=0.6\n", ("lang/go", "lang")),
    ("Notes", "cos=0.5\n", ()),
    ("Notes", "cos=0.4\n", ()),
    ("2024", "cos=0.3\n", ()),
)  # fmt: skip


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.WSGITransport]:
    """The way to a server whose notes are linked."""
    with (
        StubProvider(vector=planted_vector) as provider,
        opened(tmp_path_factory.mktemp("linked"), stub_values(provider)) as application,
    ):
        client = application.flask().test_client()
        for title, body, tags in NOTES:
            client.post("/api/notes", json={"title": title, "body": body, "tags": list(tags)})
        client.post(
            "/api/notes/3/relations", json={"target_note_id": 4, "relation_type": "CAUSED_BY"}
        )
        application.companions.fill()
        yield httpx.WSGITransport(app=application.flask())


@pytest.fixture
def run(linked: httpx.WSGITransport) -> Runner:
    """Runs commands over these notes, their output in a pipe."""
    return runner_over(linked)


NAMED = {"3": 3, " 3 ": 3, "+3": 3, "数据库连接池": 3, "连接池": 3, "ALPHA": 1, "2024": 6}


@pytest.mark.parametrize(("reference", "note_id"), NAMED.items(), ids=NAMED)
def test_every_command_takes_other_names(run: Runner, reference: str, note_id: int) -> None:
    assert run("notes", "get", reference).data["id"] == note_id
    assert run("why", "anything", reference).data["note_id"] == note_id
    assert run("notes", "relations", reference).data == run("notes", "relations", str(note_id)).data
    for question in ("hidden", "connections", "backlinks", "shared-tags"):
        named = run("notes", question, reference)
        assert (named.code, named.err) == (0, "")
        assert named.data == run("notes", question, str(note_id)).data


def test_names_where_notes_are_changed(run: Runner) -> None:
    assert run("notes", "edit", "beta", "--project", "p").data["id"] == 2
    assert run("embed", "beta").data["noteId"] == 2
    joined = run("relations", "add", "beta", "similar_to", "2024", "--confidence", "0.2")
    assert (joined.data["source_note_id"], joined.data["target_note_id"]) == (2, 6)
    assert run("relations", "delete", str(joined.data["id"])).code == 0


@pytest.mark.parametrize("command", [("notes", "get"), ("notes", "hidden"), ("why", "x")])
def test_several_notes_of_a_name(run: Runner, command: tuple[str, ...]) -> None:
    ran = run(*command, "notes")
    assert (ran.code, ran.out) == (1, "")
    assert ran.error == (
        'Error: "notes" may mean several notes: 4 (Notes), 5 (Notes); give an id or a whole path'
    )


def test_no_note_of_a_name(run: Runner) -> None:
    ran = run("notes", "get", "Alfa", "--json")
    assert ran.code == 1
    assert '"code":"note_not_found"' in ran.error
    assert 'No note is called \\"Alfa\\"; near: Alpha' in ran.error
    assert run("notes", "get", "99").error == "Error: Note not found"
    assert run("notes", "get", "").code == 2


def test_a_server_that_knows_ids_alone_takes_ids() -> None:
    """The original answers for a note as `resolve` that there is no such id."""

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/api/notes/7":
            return httpx.Response(200, json={"success": True, "data": {"id": 7, "title": "t"}})
        return httpx.Response(404, json={"success": False, "error": "Note not found"})

    run = runner_over(httpx.MockTransport(answer))
    assert run("notes", "get", "7").data["id"] == 7
    assert run("notes", "get", "title").error == "Error: Note not found"


def test_an_unreachable_server_is_no_unknown_note() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("[Errno 111] Connection refused")

    wiring = Wiring(transport=httpx.MockTransport(refuse))
    ran = run_with(wiring, ("-b", "http://localhost:9", "notes", "get", "7"))
    assert (ran.code, ran.error.startswith("Error: Cannot reach")) == (1, True)


def test_options_reach_the_server(run: Runner) -> None:
    def ids(*arguments: str) -> list[int]:
        ran = run("notes", *arguments)
        assert ran.code == 0, ran.err
        return [row["note_id"] for row in ran.data["items"]]

    assert ids("connections", "alpha") == [2, 3]
    assert ids("connections", "alpha", "--hops", "1") == [2]
    assert ids("connections", "alpha", "--hops", "3", "-l", "1") == [2]
    assert ids("connections", "alpha", "--direction", "in", "--hops", "1") == [2]
    assert ids("backlinks", "alpha") == [2]
    assert ids("shared-tags", "alpha") == [3, 2]
    assert ids("shared-tags", "alpha", "--min-shared", "2") == [3]
    assert 2 not in ids("hidden", "alpha")
    assert ids("hidden", "alpha", "--include-linked", "-l", "1") == [2]
    assert ids("boosted", "alpha", "some", "words", "--boost", "10", "-l", "1") == [2]
    assert len(ids("boosted", "alpha", "-q", "one", "-q", "two", "-l", "3")) == 3
    deep = run("notes", "hidden", "alpha", "--deep", "--per-note", "1").data
    assert deep["sections"] == 3
    assert all(row["matched_sections"] >= 1 for row in deep["items"])


@pytest.mark.parametrize(
    "arguments",
    [
        ("notes", "connections", "1", "--direction", "up"),
        ("notes", "connections", "1", "--hops", "-1"),
        ("notes", "boosted", "1"),
        ("notes", "boosted", "1", "x", "--boost", "-1"),
        ("notes", "hidden"),
        ("tags", "lang", "--like", "x"),
    ],
    ids=" ".join,
)
def test_wrong_usage(run: Runner, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")


TABLES = {
    ("notes", "hidden", "alpha"): ["Hidden behind alpha", "数据库连接池"],
    ("notes", "hidden", "alpha", "--deep"): ["Matched target sections (3):", "One > Two", "Part 1"],
    ("notes", "hidden", "3", "-l", "0"): ["No hidden notes found."],
    ("notes", "connections", "alpha"): ["2 notes from alpha", "wiki", "Phantom"],
    ("notes", "connections", "3", "-l", "1"): ["1 note from 3", "CAUSED_BY"],
    ("notes", "connections", "2024"): ["No connections found."],
    ("notes", "backlinks", "alpha"): ["1 note to alpha", "embed"],
    ("notes", "backlinks", "2024"): ["No backlinks found."],
    ("notes", "shared-tags", "alpha"): ["2 notes with tags of alpha", "lang, lang/go"],
    ("notes", "shared-tags", "2024"): ["No notes share its tags."],
    ("notes", "boosted", "alpha", "words"): ['"words" around alpha', "Linked", "yes"],
    ("notes", "boosted", "alpha", "words", "-l", "0"): ["No results found."],
    ("tags", "--prefix", "lang"): ["Nested tags", "lang/go"],
    ("tags", "--like", "zzz"): ["No tags found."],
    ("tags", "#LANG/go"): ["Notes with the tag #LANG/go", "Alpha", "数据库连接池"],
    ("tags", "none"): ["No notes found."],
    ("search", "--ranker", "notebrain", "a", "-q", "b"): ['"a + b"', "Alpha"],
}


@pytest.mark.parametrize(("arguments", "texts"), TABLES.items(), ids=map(" ".join, TABLES))
def test_tables(linked: httpx.WSGITransport, arguments: tuple[str, ...], texts: list[str]) -> None:
    ran = run_on_terminal(linked, *arguments)
    assert ran.code == 0, ran.err
    for text in texts:
        assert text in ran.out


def test_what_is_near_is_told_on_stderr(run: Runner) -> None:
    ran = run("tags", "--like", "lamg")
    assert ran.data == []
    assert ran.error == 'Warning: No tag matches "lamg"; near: lang, lang/go'


def test_several_topics_of_a_search(run: Runner) -> None:
    rows = run("search", "--ranker", "notebrain", "one", "-q", "two", "--per-note", "1").data
    assert rows[0]["matched_queries"] == 2
    assert [len(row["chunks"]) for row in rows] == [1] * len(rows)
    refused = run("search", "one", "-q", "two", "--ranker", "vector")
    assert refused.error == 'Error: Parameter "q" must be given once'
