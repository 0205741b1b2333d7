"""A library of notes that many requests change, and what each request promises.

Owns the texts of the notes and the requests of each kind of work. Every thread has notes of its
own, so that what a note must be is known.
"""

from __future__ import annotations

import json
import random
import sqlite3
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.soak.calls import LINES, Caller, Gone
from benchmarks.soak.ledger import GONE, Ledger

THREADS = 3
IMPORTED_AT_ONCE = 24
SESSIONS_AT_ONCE = 6
WORDS = ("pool", "索引", "retry", "缓存", "lock", "vacuum", "超时", "token", "事务", "lag")

Work = Callable[["Library", Caller, int], None]


class Library:
    """The notes of one data folder as they were promised."""

    def __init__(self, home: Path, chance: random.Random) -> None:
        self.ledger = Ledger()
        self.imports: list[frozenset[str]] = []
        self.refused: list[str] = []
        self._ids: dict[str, int] = {}
        self._home = home
        self._chance = chance
        self._count = 0
        self._lock = threading.Lock()

    def next_title(self) -> str:
        """Return a title that no note has had: one word, by which it is found."""
        with self._lock:
            self._count += 1
            number = self._count
        letters = ""
        while number:
            number, rest = divmod(number, 20)
            letters += "bcdfghjklmnpqrstvwxz"[rest]
        return f"zu{letters}o"

    def text(self, title: str) -> dict[str, str]:
        """Return texts of a note that differ at every call."""
        with self._lock:
            words = self._chance.choices(WORDS, k=60)
            number = self._chance.randrange(10**9)
            other = self._chance.choice(sorted(self._ids) or [title])
        body = f"# {words[0]}\n\n{' '.join(words[:30])} [[{other}]]\n\n## {words[1]}\n\n"
        return {"summary": f"{title} {number} {words[2]}", "body": body + " ".join(words[30:])}

    def own(self, thread: int) -> tuple[str, int] | None:
        """Choose a note of a thread; None when it has none."""
        with self._lock:
            titles = sorted(self._ids)
            mine = [title for title in titles if sum(map(ord, title)) % THREADS == thread]
            if not mine:
                return None
            title = self._chance.choice(mine)
            return title, self._ids[title]

    def first(self) -> tuple[str, int]:
        """Return the oldest note."""
        with self._lock:
            return min(self._ids.items(), key=lambda item: item[1])

    def ids(self) -> list[int]:
        """Return the ids of the notes that are known."""
        with self._lock:
            return sorted(self._ids.values())

    def made(self, title: str, note_id: int) -> None:
        """Remember the id of a note."""
        with self._lock:
            self._ids[title] = note_id

    def forget(self, title: str) -> None:
        """Forget a note that is deleted."""
        with self._lock:
            self._ids.pop(title, None)

    def look(self, database: Path) -> None:
        """Learn the ids of the notes that there are."""
        with closing(sqlite3.connect(database)) as connection:
            found = connection.execute("SELECT title, id FROM notes").fetchall()
        with self._lock:
            self._ids = dict(found)

    def expect(self, request: str, answer: Any, status: int) -> bool:
        """Tell whether a request was answered as it should be; keep it when it was not."""
        if answer.status != status:
            self.refused.append(f"{request}: {answer.status} {str(answer.body)[:200]}")
        return bool(answer.status == status)

    def sample(self, count: int) -> list[str]:
        """Choose some titles to search for."""
        with self._lock:
            titles = sorted(self._ids)
        return [*self._chance.sample(titles, min(count, len(titles))), " ".join(WORDS[:2]), "缓存"]

    def write_sessions(self, count: int) -> None:
        """Write sessions of a tool, to be imported."""
        folder = self._home / ".claude" / "projects" / "p"
        folder.mkdir(parents=True, exist_ok=True)
        for _ in range(count):
            name = self.next_title()
            lines = [_said(name, number) for number in range(12)]
            (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")

    @property
    def size(self) -> int:
        """How many notes are known."""
        return len(self._ids)


def _said(name: str, number: int) -> dict[str, Any]:
    role = ("user", "assistant")[number % 2]
    return {
        "type": role, "uuid": f"{name}{number}", "sessionId": name, "cwd": "/work/shop",
        "parentUuid": f"{name}{number - 1}" if number else None,
        "timestamp": f"2026-01-01T00:00:{number:02d}.000Z",
        "message": {"role": role, "content": f"{name} {number} {WORDS[number % len(WORDS)]}"},
    }  # fmt: skip


def create(library: Library, caller: Caller, _thread: int) -> None:
    """Create a note."""
    title = library.next_title()
    text = library.text(title)
    library.ledger.attempt(title, text["summary"])
    answer = caller.call("POST", "/api/notes", {"title": title, **text, "tags": [text["body"][2]]})
    if library.expect("create", answer, 201):
        library.ledger.promised(title, text["summary"])
        library.made(title, answer.data["id"])


def edit(library: Library, caller: Caller, thread: int) -> None:
    """Change all texts of a note."""
    chosen = library.own(thread)
    if chosen is None:
        return create(library, caller, thread)
    title, note_id = chosen
    text = library.text(title)
    library.ledger.attempt(title, text["summary"])
    answer = caller.call("PATCH", f"/api/notes/{note_id}", text)
    if library.expect("edit", answer, 200):
        library.ledger.promised(title, text["summary"])
    return None


def delete(library: Library, caller: Caller, thread: int) -> None:
    """Delete a note and create another."""
    chosen = library.own(thread)
    if chosen is not None:
        _delete(library, caller, *chosen)
    create(library, caller, thread)


def delete_one(library: Library, caller: Caller) -> None:
    """Delete the note that comes first."""
    _delete(library, caller, *library.first())


def _delete(library: Library, caller: Caller, title: str, note_id: int) -> None:
    library.ledger.attempt(title, GONE)
    # Whatever comes back, it is not asked for again.
    library.forget(title)
    if library.expect("delete", caller.call("DELETE", f"/api/notes/{note_id}"), 200):
        library.ledger.promised(title, GONE)


def embed(library: Library, caller: Caller, thread: int) -> None:
    """Embed a note anew, and all that wait."""
    chosen = library.own(thread)
    if chosen is not None:
        library.expect("embed", caller.call("POST", f"/api/notes/{chosen[1]}/embed"), 200)
    library.expect("batch", caller.call("POST", "/api/embeddings/batch"), 200)


def import_lines(library: Library, caller: Caller, _thread: int) -> None:
    """Import notes as lines; one request is one transaction."""
    texts = {title: library.text(title) for title in _titles(library, IMPORTED_AT_ONCE)}
    library.imports.append(frozenset(texts))
    for title, text in texts.items():
        library.ledger.attempt(title, text["summary"])
    body = "\n".join(json.dumps(record) for record in _records(texts)).encode()
    answer = caller.call("POST", "/api/import", body, LINES)
    if library.expect("import", answer, 200) and not answer.data["refused"]:
        for title, text in texts.items():
            library.ledger.promised(title, text["summary"])


def _titles(library: Library, count: int) -> list[str]:
    return [library.next_title() for _ in range(count)]


def _records(texts: dict[str, dict[str, str]]) -> Iterable[dict[str, Any]]:
    for title, text in texts.items():
        yield {"type": "conversation", "external_id": title, "source": "claude-code",
               "project_dir": "/p", "project_name": "p"}  # fmt: skip
        yield {"type": "note", "external_id": title, "conversation": title, "title": title, **text}


def scan(library: Library, caller: Caller, thread: int) -> None:
    """Import the sessions of a tool; one thread is enough, the others read."""
    if thread:
        library.expect("list", caller.get("/api/conversations", limit=5), 200)
        return
    library.write_sessions(SESSIONS_AT_ONCE)
    library.expect("scan", caller.call("POST", "/api/import/scan"), 200)


def until_gone(work: Work, library: Library, caller: Caller, thread: int) -> None:
    """Repeat work until the server is no more."""
    try:
        while True:
            work(library, caller, thread)
    except Gone:
        caller.close()
