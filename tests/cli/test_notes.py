"""`crystal notes`, `tags`, `relations`, `conversations`, `status`, `embed`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli.session import Wiring
from tests.cli.conftest import Runner, run_on_terminal, run_with, without_trailing_blanks
from tests.cli.library import CHINESE_TITLE, FAMILY, NOTES, RELATIONS
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider, status


def ids_of(data: Any) -> list[Any]:
    return [item["id"] for item in data["items"]]


NEWEST = [6, 5, 4, 3, 2, 1]

LISTS = {
    "all": ((), NEWEST),
    "first-page": (("-l", "4"), NEWEST[:4]),
    "second-page": (("-l", "4", "-p", "2"), NEWEST[4:]),
    "past-the-end": (("-p", "3"), []),
    "offset": (("--offset", "5"), NEWEST[5:]),
    "no-rows": (("-l", "0"), []),
    "over-the-maximum": (("-l", "5000", "-p", "1"), NEWEST),
    "tag": (("-t", "redis"), [1]),
    "two-tags": (("-t", "redis", "-t", "pool"), [1]),
    "search": (("-s", "连接池"), [2]),
    "wildcard": (("-s", "R_dis"), [1]),
    "literal": (("-s", "R_dis", "--match", "literal"), []),
    "columns": (("-s", "连接池", "--in", "tags"), [2]),
    "project": (("--project", "atlas"), [5, 4, 1]),
    "source": (("--source", "codex"), [1]),
    "times": (("--since", "2026-03-02", "--until", "2026-03-03"), [3, 2]),
}


@pytest.mark.parametrize(("arguments", "ids"), LISTS.values(), ids=LISTS)
def test_lists_are_pages_of_the_notes_asked_for(
    read: Runner, arguments: tuple[str, ...], ids: list[int]
) -> None:
    ran = read("notes", "list", *arguments)
    assert ran.code == 0
    assert list(ran.data) == ["items", "total", "offset", "limit"]
    assert ids_of(ran.data) == ids


def test_pages_beyond_the_largest_have_no_gaps() -> None:
    seen: list[httpx.QueryParams] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.params)
        return httpx.Response(200, json={"success": True, "data": {}})

    wiring = Wiring(transport=httpx.MockTransport(answer))
    run_with(wiring, ("notes", "list", "-l", "500", "-p", "3"))
    assert (seen[0]["offset"], seen[0]["limit"]) == ("200", "100")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("list", "-l", "x"), "'-l' / '--limit'"),
        (("list", "-p", "0"), "'-p' / '--page'"),
        (("list", "--offset", "-1"), "'--offset'"),
        (("list", "-p", "2", "--offset", "3"), "--page or --offset"),
        (("list", "--match", "nearly"), "'--match'"),
        (("get",), "NOTE"),
        (("get", " "), "'NOTE'"),
        (("get", "1", "2"), "2"),
        (("relations", ""), "'NOTE'"),
        (("add",), "--title"),
        (("add", "--title", "x", "--summary", "-", "--body", "-"), "stdin"),
        (("add", "--from-json", "/no/such/file"), "'--from-json'"),
        (("add", "--title", "x", "--body", "/no/such/file"), "'--body'"),
        (("edit", "1"), "--title"),
        (("delete", "1"), "--yes"),
        (("frob",), "frob"),
    ],
    ids=str,
)
def test_wrong_usage_is_refused(read: Runner, arguments: tuple[str, ...], named: str) -> None:
    ran = read("notes", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert named in ran.error


LIST_TABLE = """
  Notes

  ID  Title                       Project               Tags          Created
  ──────────────────────────────────────────────────────────────────────────────
   6  Far away                    elsewhere             distance      2026-03-06
   5  Red [31m alert second l...  atlas                 steering      2026-03-05
   4  Release 🎉 with FAMILY emoji    atlas                               2026-03-04
   3  A title of forty column...  a project name wi...  layout        2026-03-03
   2  数据库连接池在高峰期耗...   知识库检索平台与...   数据库,...    2026-03-02
   1  Redis pool exhausted        atlas                 redis, po...  2026-03-01

  1 to 6 of 6

""".replace("FAMILY", FAMILY)


def test_the_list_is_a_table_on_a_terminal(library: httpx.WSGITransport) -> None:
    ran = run_on_terminal(library, "notes", "list", width=80)
    assert without_trailing_blanks(ran.out) == LIST_TABLE


def test_a_note_is_shown_whole(read: Runner, library: httpx.WSGITransport) -> None:
    assert read("notes", "get", "2").data["title"] == CHINESE_TITLE
    out = run_on_terminal(library, "notes", "get", "2").out
    for shown in (CHINESE_TITLE, "Second paragraph.", "- Close what was opened", "Set x", "x = 1"):
        assert shown in out


def test_no_note_steers_the_terminal(library: httpx.WSGITransport) -> None:
    for arguments in (("notes", "get", "5"), ("notes", "list"), ("search", "x")):
        out = run_on_terminal(library, *arguments).out
        assert "\x1b" not in out
        assert "\x07" not in out
        assert "[31m alert second line [bold]" in out


def test_relations_are_listed_surest_first(read: Runner, library: httpx.WSGITransport) -> None:
    assert [row["confidence"] for row in read("notes", "relations", "1").data] == [0.95, 0.8]
    lines = run_on_terminal(library, "notes", "relations", "1").out.splitlines()
    assert [line.split()[1:5] for line in lines[5:7]] == [
        ["SIMILAR_TO", "95%", "2", "1"],
        ["CAUSED_BY", "80%", "1", "6"],
    ]
    assert "Far away" in lines[6]


EMPTY = {
    "notes": (("notes", "list", "-s", "no such text"), "No notes found."),
    "relations": (("notes", "relations", "4"), "No relations found."),
    "conversations": (("conversations", "-q", "no such text"), "No conversations found."),
}


@pytest.mark.parametrize(("arguments", "text"), EMPTY.values(), ids=EMPTY)
def test_empty_lists_say_so(
    library: httpx.WSGITransport, arguments: tuple[str, ...], text: str
) -> None:
    ran = run_on_terminal(library, *arguments)
    assert (ran.code, ran.out) == (0, f"\n  {text}\n\n")


def test_no_tags_say_so(tmp_path: Path) -> None:
    with StubProvider() as provider, opened(tmp_path, stub_values(provider)) as application:
        transport = httpx.WSGITransport(app=application.flask())
        assert run_on_terminal(transport, "tags").out == "\n  No tags found.\n\n"


def test_a_note_is_written_from_options(write: Runner) -> None:
    ran = write(
        "notes", "add", "--title", "锁等待", "--summary", "-", "--tag", "a,b", "--tag", "锁",
        "--project", "atlas", "--conclusion", "one", "--conclusion", "two",
        given="Summary from stdin\nsecond line",
    )  # fmt: skip
    assert ran.code == 0
    note = ran.data
    assert note["summary"] == "Summary from stdin\nsecond line"
    assert sorted(note["tags"]) == ["a,b", "锁"]
    assert note["key_conclusions"] == ["one", "two"]
    assert note["project_name"] == "atlas"
    assert note["embedding_status"] == "done"
    assert write("search", "锁").data[0]["note_id"] == note["id"]


def test_a_body_is_read_from_a_file(write: Runner, tmp_path: Path) -> None:
    file = tmp_path / "正文.md"
    file.write_text("# 标题\n\ntext", encoding="utf-8")
    ran = write("notes", "add", "--title", "x", "--body", str(file))
    assert ran.data["body"] == "# 标题\n\ntext"


def test_a_note_is_written_from_json(write: Runner) -> None:
    fields = {"title": "from json", "summary": "s", "aliases": ["other"], "tags": ["x"]}
    ran = write("notes", "add", "--from-json", "-", "--title", "wins", given=json.dumps(fields))
    assert ran.data["title"] == "wins"
    assert (ran.data["summary"], ran.data["aliases"]) == ("s", ["other"])


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (b"{", "no JSON object"),
        (b"[1]", "no JSON object"),
        (b"", "no JSON object"),
        (b"[" * 100_000, "no JSON object"),
        (b'{"title": "\xff"}', "not UTF-8"),
    ],
    ids=["broken", "list", "empty", "deep", "bytes"],
)
def test_json_that_is_no_object_is_refused(write: Runner, given: bytes, problem: str) -> None:
    ran = write("notes", "add", "--from-json", "-", given=given)
    assert (ran.code, ran.out) == (2, "")
    assert "'--from-json'" in ran.error
    assert problem in ran.error
    assert len(ids_of(write("notes", "list").data)) == len(NOTES)


def test_a_field_that_is_not_known_is_refused_by_the_server(write: Runner) -> None:
    ran = write("notes", "add", "--from-json", "-", given='{"title": "x", "frob": 1}')
    assert ran.code == 1
    assert "frob" in ran.error


def test_a_note_is_edited(write: Runner) -> None:
    ran = write("notes", "edit", "1", "--title", "new", "--summary", "", "--tag", "only")
    assert ran.code == 0
    assert (ran.data["title"], ran.data["summary"], ran.data["tags"]) == ("new", "", ["only"])
    assert ran.data["project_name"] == "atlas"


def test_a_provider_that_fails_is_a_warning_on_a_written_note(tmp_path: Path) -> None:
    with (
        StubProvider(usual=status(500)) as provider,
        opened(tmp_path, stub_values(provider)) as application,
    ):
        wiring = Wiring(transport=httpx.WSGITransport(app=application.flask()))
        ran = run_with(wiring, ("notes", "add", "--title", "kept"))
        assert ran.code == 0
        assert ran.data["embedding_status"] == "failed"
        assert ran.error.startswith("Warning: Not embedded")


def test_a_note_is_deleted_without_being_asked_for(write: Runner) -> None:
    ran = write("notes", "delete", "1", "--yes")
    assert (ran.code, ran.data) == (0, {"deleted": 1})
    ran = write("notes", "delete", "1", "--yes")
    assert (ran.code, ran.error) == (1, "Error: Note not found")


def test_a_deletion_nobody_confirmed_changes_nothing(write: Runner) -> None:
    assert write("notes", "delete", "1", given="y\n").code == 2
    assert write("conversations", "delete", "conv/1", given="y\n").code == 2
    assert len(ids_of(write("notes", "list").data)) == len(NOTES)


def test_tags_are_listed_most_used_first(read: Runner, library: httpx.WSGITransport) -> None:
    data = read("tags").data
    assert [list(tag) for tag in data] == [["id", "name", "count"]] * len(data)
    assert {tag["name"] for tag in data} == {tag for _, _, tags, _ in NOTES for tag in tags}
    out = run_on_terminal(library, "tags").out
    assert "Notes" in out
    assert "数据库" in out


def test_relations_are_made_and_deleted(write: Runner) -> None:
    made = write("relations", "add", "3", "caused_by", "4", "--confidence", "0.5")
    assert made.code == 0
    assert (made.data["relation_type"], made.data["confidence"]) == ("CAUSED_BY", 0.5)
    again = write("relations", "add", "3", "CAUSED_BY", "4")
    assert (again.code, again.out) == (1, "")
    gone = write("relations", "delete", str(made.data["id"]))
    assert (gone.code, gone.data) == (0, {"deleted": made.data["id"]})
    assert write("notes", "relations", "3").data == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("add", "3", "FRIENDS", "4"), 1),
        (("add", "3", "CAUSED_BY", "3"), 1),
        (("add", "3", "CAUSED_BY", "99"), 1),
        (("add", "3", "CAUSED_BY", "4", "--confidence", "2"), 2),
        (("add", "3", "CAUSED_BY"), 2),
        (("delete", "99"), 1),
    ],
    ids=["type", "self", "missing", "confidence", "argument", "unknown"],
)
def test_relations_that_cannot_be_are_refused(
    read: Runner, arguments: tuple[str, ...], code: int
) -> None:
    ran = read("relations", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert ran.error.startswith("Error: ")


CONVERSATIONS = {
    "plain": (("conversations",), [6, 5, 4, 3, 2, 1]),
    "list": (("conversations", "list"), [6, 5, 4, 3, 2, 1]),
    "limit": (("conversations", "-n", "2"), [6, 5]),
    "limit-before-list": (("conversations", "-n", "2", "list"), [6, 5]),
    "limit-after-list": (("conversations", "list", "-n", "2", "--offset", "1"), [5, 4]),
    "source": (("conversations", "-s", "codex"), [1]),
    "status": (("conversations", "--status", "imported"), []),
    "search": (("conversations", "-q", "slug-3"), [3]),
    "project": (("conversations", "--project", "知识库"), [2]),
}


@pytest.mark.parametrize(("arguments", "numbers"), CONVERSATIONS.values(), ids=CONVERSATIONS)
def test_conversations_are_listed(
    read: Runner, arguments: tuple[str, ...], numbers: list[int]
) -> None:
    ran = read(*arguments)
    assert ran.code == 0
    assert ids_of(ran.data) == [f"conv/{number}" for number in numbers]


def test_a_conversation_is_shown_with_its_messages(
    read: Runner, library: httpx.WSGITransport
) -> None:
    assert read("conversations", "get", "conv/1").data["messages"][0]["id"] == "message-1"
    assert read("conversations", "--json", "get", "conv/1").code == 0
    out = run_on_terminal(library, "conversations", "get", "conv/1").out
    assert "连接池为什么耗尽？" in out
    assert "slug-1" in run_on_terminal(library, "conversations").out
    missing = read("conversations", "get", "conv/99")
    assert (missing.code, missing.error) == (1, "Error: Conversation not found")


def test_a_conversation_is_deleted_with_its_note(write: Runner) -> None:
    ran = write("conversations", "delete", "conv/1", "-y")
    assert (ran.code, ran.data) == (0, {"deleted": "conv/1"})
    assert write("notes", "get", "1").code == 1


def test_the_status_is_shown(read: Runner, library: httpx.WSGITransport) -> None:
    assert read("status").data["stats"]["totalNotes"] == len(NOTES)
    lines = run_on_terminal(library, "status").out.splitlines()
    assert "  Notes          6" in lines
    assert "  Embedded       6 done" in lines


def test_one_note_is_embedded_anew(write: Runner) -> None:
    ran = write("embed", "2")
    assert (ran.code, ran.data) == (0, {"noteId": 2, "chunks": 1})
    assert write("embed", "99").code == 1


def test_a_note_that_is_shown_is_opened_only_where_that_is_said(
    write: Runner, tmp_path: Path
) -> None:
    def openings() -> list[int]:
        with closing(sqlite3.connect(tmp_path / "crystal.db")) as connection:
            return [row[0] for row in connection.execute("SELECT note_id FROM note_opens")]

    plain = write("notes", "get", "2")
    assert openings() == []
    assert write("notes", "get", "2", "--open").data == plain.data
    assert openings() == [2]
    assert write("notes", "get", "99", "--open").error == "Error: Note not found"
    assert openings() == [2]


@pytest.mark.parametrize("arguments", [(), ("2", "--all")], ids=["neither", "both"])
def test_embed_takes_a_note_or_all(read: Runner, arguments: tuple[str, ...]) -> None:
    assert read("embed", *arguments).code == 2


def test_all_that_is_not_embedded_is_embedded(tmp_path: Path) -> None:
    with (
        StubProvider(script=[status(400)] * 2) as provider,
        opened(tmp_path, stub_values(provider)) as application,
    ):
        wiring = Wiring(transport=httpx.WSGITransport(app=application.flask()))
        for title in ("one", "two"):
            run_with(wiring, ("notes", "add", "--title", title))
        ran = run_with(wiring, ("embed", "--all"))
        assert (ran.code, ran.err) == (0, "")
        assert (ran.data["completed"], ran.data["failed"]) == (2, 0)
        assert run_with(wiring, ("embed", "--all")).data["total"] == 0
        provider.behave(status(400, words="no such model"))
        run_with(wiring, ("notes", "add", "--title", "three"))
        ran = run_with(wiring, ("embed", "--all"))
        assert ran.code == 1
        assert ran.data["failed"] == 1
        assert ran.error.startswith("Error: 1 notes could not be embedded: three: ")


def test_the_library_has_the_relations_that_tests_count_on(read: Runner) -> None:
    assert len(read("notes", "relations", "1").data) == len(RELATIONS)
