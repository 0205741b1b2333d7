"""Imports: what is new, grown or unchanged, and what an import that is killed leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from app.db import changes, conversations, import_files, message_documents, migrate
from app.db.engine import Database
from app.domain.conversations import Conversation, Message
from app.domain.imports import ImportProgress, ImportReport, ImportRequest, SourceReport
from app.errors import ConfigurationError, ImportFailed, InvalidParameter
from app.settings.values import SourceSettings, parse
from app.sync.conversations.importer import ConversationImporter
from app.sync.conversations.sources import sources_of
from app.sync.messages import LONGEST_STRETCH, documents_of
from fixtures.conversations import build
from fixtures.conversations.story import every
from tests.support.conversations import said, write_lines
from tests.support.databases import DATABASES
from tests.sync.conftest import rows_of_all

EVERYTHING = ImportRequest()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """An empty database."""
    opened = Database(DATABASES.url_of(tmp_path))
    migrate.upgrade(opened)
    yield opened
    opened.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder without any tool."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def settings_of(home: Path, **more: str) -> SourceSettings:
    values = {"sources.home": str(home), "sources.generic": str(home / build.GENERIC)}
    return parse(values | {f"sources.{name}": text for name, text in more.items()}, {}).sources


def run(database: Database, home: Path, request: ImportRequest = EVERYTHING) -> ImportReport:
    return ConversationImporter(database, settings_of(home)).run(request)


def total(report: ImportReport) -> SourceReport:
    """What was found at all sources together."""
    names = ("found", "new", "grown", "unchanged", "left_out", "broken_lines", "masked_secrets")
    sums = {name: sum(getattr(each, name) for each in report.sources) for name in names}
    return SourceReport("", "", "", **sums)


def session(home: Path, *texts: str, name: str = "s", **more: str) -> Path:
    """Write a session of Claude Code in which these things are said."""
    roles = ("user", "assistant")
    lines = [
        said(text, number=number, role=roles[number % 2], **more)
        for number, text in enumerate(texts)
    ]
    return write_lines(home / ".claude" / "projects" / "p" / f"{name}.jsonl", lines)


def stored(database: Database, name: str = "s") -> tuple[Conversation, list[Message]]:
    with database.read() as connection:
        found = conversations.get(connection, name)
        assert found is not None
        return found, list(conversations.messages_of(connection, name))


def test_everything_is_stored_once(database: Database, tmp_path: Path) -> None:
    build.build(tmp_path / "home")
    first = run(database, tmp_path / "home")
    assert total(first) == SourceReport("", "", "", found=60, new=60)
    assert len(first.fresh) == 60
    second = run(database, tmp_path / "home")
    assert total(second) == SourceReport("", "", "", found=60, unchanged=60)
    assert second.fresh == []


def test_a_conversation_is_stored_with_all_that_is_known(database: Database, home: Path) -> None:
    path = session(home, "why?", "because\n```\nx\n```", gitBranch="main")
    run(database, home)
    found, messages = stored(database)
    assert (found.source, found.project_name, found.cwd) == ("claude-code", "shop", "/work/shop")
    assert (found.git_branch, found.status, found.message_count) == ("main", "imported", 2)
    assert (found.file_path, found.file_size) == (str(path), path.stat().st_size)
    assert (found.created_at, found.updated_at) == ("2026-01-01 00:00:00", "2026-01-01 00:00:01")
    assert [(m.id, m.role, m.has_code, m.sort_order) for m in messages] == [
        ("s:u0", "user", 0, 0),
        ("s:u1", "assistant", 1, 1),
    ]
    assert messages[1].parent_uuid == "s:u0"


def test_a_conversation_that_grew_is_read_again(database: Database, home: Path) -> None:
    session(home, "why?", "because")
    run(database, home)
    session(home, "why?", "because, edited", "thanks")
    report = run(database, home)
    assert total(report) == SourceReport("", "", "", found=1, grown=1)
    found, messages = stored(database)
    assert [m.content for m in messages] == ["why?", "because, edited", "thanks"]
    assert (found.message_count, found.status) == (3, "imported")


def test_a_file_that_only_looks_new_changes_nothing(database: Database, home: Path) -> None:
    path = session(home, "why?")
    run(database, home)
    before = dump(database)
    os.utime(path, ns=(1, 1))
    assert total(run(database, home)) == SourceReport("", "", "", found=1, unchanged=1)
    os.utime(path, ns=(2, 2))
    run(database, home)
    assert [row for row in dump(database) if "import_files" not in row] == [
        row for row in before if "import_files" not in row
    ]


def test_an_unchanged_file_is_not_opened(database: Database, home: Path) -> None:
    path = session(home, "why?")
    run(database, home)
    state = path.stat()
    path.write_bytes(b"x" * state.st_size)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert total(run(database, home)) == SourceReport("", "", "", found=1, unchanged=1)


def test_a_note_survives_its_conversations_growth(database: Database, home: Path) -> None:
    session(home, "why?")
    run(database, home)
    with database.write() as connection:
        connection.exec_driver_sql(
            "INSERT INTO notes (conversation_id, title, summary, created_at)"
            " VALUES ('s', 'kept', '', '2026-01-01')"
        )
    session(home, "why?", "because")
    run(database, home)
    with database.read() as connection:
        assert message_documents.notes_of(connection, ["s"]) == {"s": 1}


def test_one_message_in_two_sessions_is_one_of_each(database: Database, home: Path) -> None:
    session(home, "why?", name="a")
    session(home, "why?", name="b")
    run(database, home)
    assert [stored(database, name)[1][0].id for name in "ab"] == ["a:u0", "b:u0"]


def test_the_same_id_at_two_tools_is_two_conversations(database: Database, home: Path) -> None:
    session(home, "of one")
    line = {"conversation_id": "s", "role": "user", "content": "of another"}
    write_lines(home / build.GENERIC / "x.jsonl", [line])
    for _ in range(2):
        run(database, home)
    assert stored(database)[1][0].content == "of one"
    assert stored(database, "generic:s")[1][0].content == "of another"


def test_broken_lines_and_secrets_are_counted_by_source(database: Database, home: Path) -> None:
    token = "ghp_" + "aB3d" * 9
    path = session(home, f"my token is {token}")
    path.write_bytes(path.read_bytes() + b"{broken\n")
    report = run(database, home)
    [source] = [each for each in report.sources if each.found]
    assert (source.source, source.broken_lines, source.masked_secrets) == ("claude-code", 1, 1)
    assert token not in "\n".join(dump(database))


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        (ImportRequest(sources=("codex",)), {"codex"}),
        (ImportRequest(sources=("trae", "codex")), {"codex", "trae"}),
        (ImportRequest(project="WAREHOUSE"), {"codex", "cursor"}),
        (ImportRequest(since="2026-03-04T00:00:00.000Z"), {"codex", "copilot", "trae"}),
        (ImportRequest(project="nowhere"), set()),
    ],
    ids=["source", "sources", "project", "since", "nothing"],
)
def test_only_what_is_wanted_is_stored(
    database: Database, tmp_path: Path, request_: ImportRequest, wanted: set[str]
) -> None:
    build.build(tmp_path / "home")
    report = run(database, tmp_path / "home", request_)
    assert {each.source for each in report.sources if each.new} == wanted
    rest = run(database, tmp_path / "home")
    assert total(report).new + total(rest).new == 60


def test_a_dry_run_reads_and_changes_nothing(database: Database, tmp_path: Path) -> None:
    build.build(tmp_path / "home")
    before = dump(database)
    report = run(database, tmp_path / "home", replace(EVERYTHING, is_dry_run=True))
    assert total(report).new == 60
    assert dump(database) == before


def test_a_conversation_that_was_deleted_stays_away(database: Database, home: Path) -> None:
    session(home, "why?")
    run(database, home)
    with database.write() as connection:
        conversations.remove(connection, "s")
    assert total(run(database, home)) == SourceReport("", "", "")


def test_progress_is_told_file_by_file(database: Database, home: Path) -> None:
    for name in "abc":
        session(home, "why?", name=name)
    seen: list[ImportProgress] = []
    ConversationImporter(database, settings_of(home)).run(EVERYTHING, seen.append)
    assert [(each.current, each.total, each.imported) for each in seen] == [
        (1, 3, 1),
        (2, 3, 2),
        (3, 3, 3),
    ]


def test_an_import_can_be_cancelled_between_files(database: Database, home: Path) -> None:
    for name in "abc":
        session(home, "why?", name=name)
    seen: list[ImportProgress] = []
    importer = ConversationImporter(database, settings_of(home))
    report = importer.run(EVERYTHING, seen.append, lambda: len(seen) == 2)
    assert report.fresh == ["a", "b"]
    assert run(database, home).fresh == ["c"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("claude",), "must be one of claude-code, codex, cursor, copilot, trae, generic"),
        (("generic",), "generic has no folder: set sources.generic"),
    ],
)
def test_a_source_that_cannot_be_read_is_named(
    home: Path, names: tuple[str, ...], message: str
) -> None:
    settings = parse({"sources.home": str(home)}, {}).sources
    with pytest.raises(InvalidParameter, match=message):
        sources_of(settings, names)


def test_a_setting_that_enables_no_tool_is_named(home: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"sources\.enabled has 'claud'"):
        sources_of(settings_of(home, enabled="claud,codex"))


def test_only_enabled_sources_are_read(database: Database, tmp_path: Path) -> None:
    build.build(tmp_path / "home")
    settings = settings_of(tmp_path / "home", enabled="trae")
    report = ConversationImporter(database, settings).run(EVERYTHING)
    assert [each.source for each in report.sources] == ["trae"]


def test_a_setting_names_another_folder(database: Database, home: Path, tmp_path: Path) -> None:
    session(tmp_path / "else", "why?")
    settings = settings_of(home, claude_code=str(tmp_path / "else" / ".claude" / "projects"))
    assert ConversationImporter(database, settings).run(EVERYTHING).fresh == ["s"]


def test_there_is_nothing_to_watch_without_a_tool(database: Database, home: Path) -> None:
    importer = ConversationImporter(database, settings_of(home))
    with pytest.raises(ImportFailed, match="no folder to watch"):
        next(importer.watch(EVERYTHING, threading.Event()))


def test_a_change_is_told_to_who_watches(database: Database, home: Path) -> None:
    session(home, "one")
    importer, stop = ConversationImporter(database, settings_of(home)), threading.Event()
    found = []
    for _ in importer.watch(EVERYTHING, stop):
        found.append(importer.run(EVERYTHING).fresh)
        if len(found) == 1:
            session(home, "two", name="t")
        if "t" in found[-1]:
            stop.set()
    assert found[0] == ["s"]
    assert found[-1] == ["t"]


def test_documents_cover_every_message_once_and_no_two_turns(
    database: Database, home: Path
) -> None:
    session(home, "one", "x " * LONGEST_STRETCH, "two", "short", "three")
    run(database, home)
    documents = list(documents_of(stored(database)[1]))
    assert [(d.turn, d.first_message, d.last_message) for d in documents] == [
        (1, 0, 0),
        (1, 1, 1),
        (2, 2, 3),
        (3, 4, 4),
    ]
    with database.read() as connection:
        kept = list(message_documents.every(connection))
    assert [each.postings for each in kept] == [each.postings for each in documents]


def test_the_documents_of_a_grown_conversation_are_replaced(database: Database, home: Path) -> None:
    session(home, "one")
    run(database, home)
    session(home, "one", "two")
    run(database, home)
    with database.read() as connection:
        assert message_documents.count(connection) == 1
        assert '"two"' in next(iter(message_documents.every(connection))).postings


def test_states_of_files_are_kept_by_path(database: Database, home: Path) -> None:
    path = session(home, "one")
    run(database, home)
    with database.read() as connection:
        state = path.stat()
        assert import_files.states(connection, "claude-code") == {
            str(path): f"{state.st_size}-{state.st_mtime_ns}"
        }


def dump(database: Database) -> list[str]:
    """All rows of a database; the epoch, which is drawn by lot, left out."""
    rows = [line for line in rows_of_all(database) if not line.startswith("index_state")]
    with database.read() as connection:
        state = changes.state(connection)
    return [*rows, f"{state.sequence} {state.trimmed_to}"]


def _dumped(url: str) -> list[str]:
    with closing(Database(url)) as database:
        return dump(database)


IMPORTS_UNTIL_KILLED = """
import os, signal, sys
from sqlalchemy import event
from app.db import migrate
from app.db.engine import Database
from app.domain.imports import ImportRequest
from app.settings.values import parse
from app.sync.conversations.importer import ConversationImporter

database = Database(sys.argv[1])
migrate.upgrade(database)
left = int(sys.argv[3])

def count(*arguments):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

if left:
    event.listen(database.engine, "before_cursor_execute", count)
    event.listen(database.engine, "commit", count)
values = {"sources.home": sys.argv[2], "sources.generic": sys.argv[2] + "/generic"}
ConversationImporter(database, parse(values, {}).sources).run(ImportRequest())
"""


def _import_in_a_process(url: str, home: Path, statements: int = 0) -> int:
    arguments = [url, str(home), str(statements)]
    return subprocess.run(
        [sys.executable, "-c", IMPORTS_UNTIL_KILLED, *arguments],
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ).returncode


@pytest.fixture(scope="module")
def few_stories(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A home folder with one story of each tool, and what an undisturbed import makes of it."""
    folder = tmp_path_factory.mktemp("few")
    chosen = {story.source: story for story in every() if story.name.startswith("en-")}
    build.build(folder / "home", list(chosen.values()))
    whole = DATABASES.empty(folder, "whole")
    assert _import_in_a_process(whole, folder / "home") == 0
    return folder / "home", _dumped(whole)


# PostgreSQL does not give the numbers of what was rolled back again.
@pytest.mark.sqlite
@pytest.mark.parametrize("statements", [2, 9, 14, 27, 44])
def test_an_import_that_is_killed_and_run_again_is_as_if_undisturbed(
    few_stories: tuple[Path, list[str]], tmp_path: Path, statements: int
) -> None:
    home, whole = few_stories
    url = DATABASES.empty(tmp_path, "killed")
    assert _import_in_a_process(url, home, statements) == -signal.SIGKILL
    with closing(Database(url)) as database:
        migrate.upgrade(database)
        assert dump(database) != whole
    assert _import_in_a_process(url, home) == 0
    assert _dumped(url) == whole
