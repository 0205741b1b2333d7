"""Two processes over one database: what one commits, the other's next search finds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.domain.notes import NoteDraft, NotePatch
from app.factory import Application
from tests.support.application import ask, found_ids, plant, stub_values
from tests.support.databases import DATABASES
from tests.support.provider import StubProvider

ROOT = Path(__file__).parents[2]

# Obeys one line of JSON after another: the name of what to do, and its arguments.
SERVANT = """
import json, sys
from pathlib import Path
from app.domain.notes import NoteDraft, NotePatch
from tests.support.application import ask, found_ids, opened

with opened(Path(sys.argv[1]), json.loads(sys.argv[2])) as application:
    writer = application.writer
    deeds = {
        "create": lambda title, summary: writer.create_note(NoteDraft(title, summary)),
        "edit": lambda note_id, summary: writer.edit_note(note_id, NotePatch({"summary": summary})),
        "delete": writer.delete_note,
        "search": lambda: found_ids(ask(application)),
    }
    print("ready", flush=True)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(deeds[name](*arguments)), flush=True)
"""


class Servant:
    """Another process with an application over the same folder."""

    def __init__(self, folder: Path, values: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVANT, str(folder), json.dumps(values)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def wait_until_ready(self) -> None:
        """Let it open its application."""
        assert self._read() == "ready\n"

    def do(self, *deed: Any) -> Any:
        """Have something done, and return what came of it."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(deed) + "\n")
        self._process.stdin.flush()
        return json.loads(self._read())

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def dismiss(self) -> int:
        """End it, and return its exit status."""
        self._process.communicate()
        return self._process.returncode


@pytest.fixture
def servant(application: Application, provider: StubProvider, tmp_path: Path) -> Iterator[Servant]:
    """A process that opened the folder after ``application`` did."""
    servant = Servant(tmp_path, stub_values(provider) | DATABASES.setting(tmp_path))
    try:
        servant.wait_until_ready()
        yield servant
    finally:
        assert servant.dismiss() == 0


def test_each_process_finds_what_the_other_wrote(
    application: Application, servant: Servant
) -> None:
    mine = plant(application, [0.9])[0]
    assert servant.do("search") == [mine]
    theirs = servant.do("create", "theirs", "cos=0.95")
    assert found_ids(ask(application)) == [theirs, mine] == servant.do("search")
    application.writer.edit_note(theirs, NotePatch({"summary": "cos=0.8"}))
    assert servant.do("search") == [mine, theirs] == found_ids(ask(application))
    servant.do("edit", mine, "cos=0.1")
    assert found_ids(ask(application)) == [theirs] == servant.do("search")
    servant.do("delete", theirs)
    assert found_ids(ask(application)) == [] == servant.do("search")
    last = application.writer.create_note(NoteDraft("last", "cos=0.7"))
    assert last == theirs + 1
    assert servant.do("search") == [last]


def test_two_processes_may_open_an_empty_folder_at_once(
    provider: StubProvider, tmp_path: Path
) -> None:
    values = stub_values(provider)
    if DATABASES.is_postgresql:
        values |= {"database_url": DATABASES.empty(tmp_path)}
    servants = [Servant(tmp_path / "new", values) for _ in range(2)]
    for servant in servants:
        servant.wait_until_ready()
    first, second = servants
    note_id = first.do("create", "one", "cos=0.9")
    assert second.do("search") == [note_id]
    assert [servant.dismiss() for servant in servants] == [0, 0]
