"""A typed client of the HTTP API in a few lines; copy it and add the routes that you need.

with Crystal() as crystal:
    for found in crystal.search("SQLite 并发写入", limit=5):
        print(found["note_id"], found["title"], found["score"])
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self, TypedDict, cast

import httpx


class Found(TypedDict):
    """A row of a search's answer."""

    note_id: int
    title: str
    project: str
    score: float
    tags: list[str]
    via_relation: str | None


class Note(TypedDict):
    """A note, as far as this example reads it."""

    id: int
    title: str
    summary: str
    tags: list[str]
    key_conclusions: list[str]


class Refused(Exception):
    """The server answered with an error; ``code`` is for programs, the text for people."""

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code


class Crystal:
    """Calls one server; a context manager."""

    def __init__(
        self,
        base_url: str = "http://localhost:3721",
        token: str = "",
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=base_url, headers=headers, transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.close()

    def search(self, query: str, limit: int = 10, ranker: str = "hybrid") -> list[Found]:
        """Search notes, best first; an empty list means that none answers."""
        asked = {"q": query, "limit": str(limit), "ranker": ranker}
        return cast("list[Found]", self._call("GET", "/api/search", params=asked))

    def note(self, note_id: int) -> Note:
        """Read one note."""
        return cast("Note", self._call("GET", f"/api/notes/{note_id}"))

    def add(self, title: str, summary: str = "", tags: tuple[str, ...] = ()) -> Note:
        """Write a note; the next search finds it."""
        body = {"title": title, "summary": summary, "tags": list(tags)}
        return cast("Note", self._call("POST", "/api/notes", json=body))

    def _call(self, method: str, path: str, **request: Any) -> Any:
        envelope = self._http.request(method, path, **request).json()
        if not envelope["success"]:
            raise Refused(envelope["error"], envelope["code"])
        return envelope["data"]
