"""The tools: each calls one route and returns its data as JSON text.

Owns the table ``TOOLS``. Names and arguments that the original has are the original's; optional
arguments of ours stand behind them. Must not know the protocol.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from cli.mcp import arguments
from cli.options import query_of
from cli.session import Session

RANKER = "hybrid"
"""Agents want the best order; who wants the original's says so."""

PAGE_SIZE = 20

LISTED = ("id", "title", "summary", "project_name", "tags", "created_at")
"""What a list tells of a note; the rest fills a context, and get_note has it."""


class Tools:
    """What agents may call, over one session; safe among threads."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def search_knowledge(
        self,
        *,
        query: arguments.Query,
        limit: arguments.Limit = 10,
        ranker: arguments.Ranker = None,
        project: arguments.Project = None,
        tag: arguments.Tag = None,
        expand: bool = False,
    ) -> str:
        """Search the notes by meaning and by words; the best come first.

        Returns titles, summaries and scores; read a note whole with get_note. An empty list means
        that no note answers the query.
        """
        wanted = {"q": query, "limit": limit, "ranker": ranker or RANKER, "project": project,
                  "tag": tag, "expand": expand, "fields": "summary"}  # fmt: skip
        return self._get("/api/search", wanted)

    def get_note(self, id: arguments.NoteReference) -> str:
        """Read a note whole: summary, conclusions, code, tags, body."""
        return self._get(f"/api/notes/{self.id_of(id)}")

    def list_notes(
        self,
        tag: arguments.Tag = None,
        search: arguments.Keyword = None,
        page: arguments.Page = 1,
    ) -> str:
        """Browse notes, newest first, by tag or by a keyword in title and summary.

        Returns titles and summaries; read a note whole with get_note.
        """
        offset = (page - 1) * PAGE_SIZE
        wanted = {"tag": tag, "search": search, "offset": str(offset), "limit": PAGE_SIZE}
        found = self._session.get("/api/notes", query_of(wanted.items()))
        items = [{name: note[name] for name in LISTED if name in note} for note in found["items"]]
        return _text(found | {"items": items})

    def get_relations(self, noteId: arguments.NoteReference) -> str:
        """List the notes that a note is related to, with kind and confidence."""
        return self._get(f"/api/notes/{self.id_of(noteId)}/relations")

    def why(
        self,
        query: arguments.Query,
        note_id: arguments.NoteReference,
        ranker: arguments.Ranker = None,
    ) -> str:
        """Tell why a note stands where it stands in the answer to a query, or is missing."""
        wanted = {"q": query, "note_id": self.id_of(note_id), "ranker": ranker or RANKER}
        return self._get("/api/search/why", wanted)

    def expand(self, note_id: arguments.NoteReference) -> str:
        """Show what surrounds a note: its fragments, their relations, neighbouring notes."""
        return self._get(f"/api/notes/{self.id_of(note_id)}/expand")

    def hidden_notes(
        self, note_id: arguments.NoteReference, deep: bool = False, limit: arguments.Limit = 10
    ) -> str:
        """Find notes that are close to a note in meaning but not linked to it.

        With deep, section by section instead of as a whole.
        """
        wanted = {"deep": deep, "limit": limit}
        return self._get(f"/api/notes/{self.id_of(note_id)}/hidden", wanted)

    def add_note(
        self,
        *,
        title: str,
        summary: str = "",
        body: str | None = None,
        key_conclusions: arguments.Texts = None,
        tags: arguments.Texts = None,
        project: str | None = None,
    ) -> str:
        """Write a new note; the next search finds it."""
        fields = {"title": title, "summary": summary, "body": body, "tags": tags,
                  "key_conclusions": key_conclusions, "project": project}  # fmt: skip
        return self._post("/api/notes", {name: value for name, value in fields.items() if value})

    def recall_for_task(
        self,
        task: arguments.RecalledTask,
        mode: Literal["task", "debug"] = "task",
        options: arguments.RecallOptions | None = None,
    ) -> str:
        """Recall what was learned in this project, and beyond it, before starting a task.

        Use mode debug when the task starts from an error, and hand over the error and the files.
        """
        body = {"mode": mode, "task": _plain(task)}
        if options is not None:
            body["options"] = _plain(options)
        return self._post("/api/memory/recall", body)

    def write_task_memory(
        self,
        mode: Literal["auto", "manual"],
        task: arguments.Task,
        memory: arguments.Memory,
        source_run_key: str | None = None,
        scope: Literal["project", "global"] | None = None,
    ) -> str:
        """Keep a lesson of a finished task: a pitfall, fix, decision or pattern worth recalling.

        In mode auto source_run_key is required: the same key writes once.
        """
        body: dict[str, Any] = {"mode": mode, "task": _plain(task), "memory": _plain(memory)}
        given = {"source_run_key": source_run_key, "scope": scope}
        body |= {name: value for name, value in given.items() if value is not None}
        return self._post("/api/memory/writeback", body)

    def id_of(self, reference: int | str) -> int:
        """Return the id that a reference stands for; the original knows ids alone."""
        text = str(reference).strip()
        if text.isascii() and text.isdigit():
            return int(text)
        found = self._session.get("/api/notes/resolve", [("ref", text)])
        return int(found["id"])

    def _get(self, path: str, wanted: dict[str, Any] | None = None) -> str:
        return self._told("GET", path, query=query_of((wanted or {}).items()))

    def _post(self, path: str, body: dict[str, Any]) -> str:
        return self._told("POST", path, body=body)

    def _told(self, method: str, path: str, **request: Any) -> str:
        answer = self._session.call(method, path, **request)
        data: Any = answer.data
        if answer.warnings:
            data = {"data": data, "warnings": list(answer.warnings)}
        return _text(data)


def _text(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2)


def _plain(value: BaseModel) -> dict[str, Any]:
    return value.model_dump(exclude_none=True)


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool as clients see it; one that writes says so."""

    method: Callable[..., str]
    writes: bool = False


TOOLS: tuple[ToolRow, ...] = (
    ToolRow(Tools.search_knowledge),
    ToolRow(Tools.get_note),
    ToolRow(Tools.list_notes),
    ToolRow(Tools.get_relations),
    ToolRow(Tools.recall_for_task),
    ToolRow(Tools.write_task_memory, writes=True),
    ToolRow(Tools.why),
    ToolRow(Tools.expand),
    ToolRow(Tools.hidden_notes),
    ToolRow(Tools.add_note, writes=True),
)
