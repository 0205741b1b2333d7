"""A database with everything that is awkward to export, and ways to export and compare it.

Owns the awkward values. Notes made here are embedded by the stub, the examples are not.
"""

from __future__ import annotations

import io
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

from sqlalchemy import select, text

from app.db.columns import read_json
from app.db.models import metadata
from app.domain.notes import NoteDraft, NotePatch, Snippet
from app.domain.relations import RelationDraft
from app.factory import Application
from app.maintenance.export.formats import FORMATS, ExportReport, FileFormat, export_to_path
from app.maintenance.export.source import Tally, reading
from app.maintenance.fixtures import example_records
from app.sync.records import JSON_COLUMNS

FENCED = "```python\nprint('`')\n```"
LINE_ENDS = "one\u2028two\u2029three\x85four\r\nfive"

AWKWARD = (
    "UPDATE notes SET updated_at = NULL, code_snippets = NULL WHERE external_id = 'en-001'",
    "UPDATE notes SET key_conclusions = '{\"a\": [1.5, null]}' WHERE external_id = 'en-002'",
    "UPDATE notes SET key_conclusions = '\"only a text\"', is_edited = 1 "
    "WHERE external_id = 'en-003'",
    "UPDATE notes SET files_touched = '', error_signatures = '[1, null, {\"x\": 1e999}]' "
    "WHERE external_id = 'en-004'",
    "UPDATE notes SET code_snippets = '[\"bare\", {\"code\": 5}]' WHERE external_id = 'en-005'",
    "UPDATE notes SET slug = 'a-slug', path = 'a/b.md', content_digest = 'f00', "
    "project_key = 'cwd:1', outcome_type = 'fix', task_kind = 'debug' WHERE external_id = 'en-006'",
    "UPDATE notes SET external_id = NULL, raw_llm_response = '{broken' "
    "WHERE external_id = 'en-007'",
    "UPDATE notes SET external_id = ' ' WHERE external_id = 'en-008'",
    f"UPDATE notes SET summary = '{LINE_ENDS}' WHERE external_id = 'en-009'",
    "UPDATE conversations SET experience_score = 0.53, experience_gate_reason = 'a fix', "
    "experience_gate_details = '{\"score\": 3}', file_size = 9007199254740993, "
    "file_mtime = '2026-01-01T00:00:00.000Z' WHERE id = 'conv-en-001'",
    "UPDATE conversations SET experience_score = :infinity, slug = NULL, cwd = NULL "
    "WHERE id = 'conv-en-002'",
    "UPDATE note_relations SET confidence = NULL, description = NULL, created_by = 'auto', "
    "created_at = '2020-02-02T02:02:02Z' WHERE id = 1",
    "INSERT INTO note_relations (source_note_id, target_note_id, relation_type, created_at) "
    "SELECT id, id, 'REFERENCES', '2020-02-02' FROM notes WHERE external_id = 'zh-001'",
    "INSERT INTO messages (id, conversation_id, type, content, timestamp, sort_order) VALUES "
    "('z', 'conv-en-001', 'summary', '', '2026-01-01', 1)",
    "INSERT INTO messages (id, conversation_id, parent_uuid, type, role, content, has_tool_use, "
    "has_code, thinking, timestamp, sort_order) VALUES "
    "('a', 'conv-en-001', 'z', 'tool', 'assistant', '嗯 🎉', 1, 1, '想', '2026-01-02', 2)",
    "INSERT INTO tags (name) VALUES ('of no note')",
)


def fill_awkwardly(application: Application) -> None:
    """Store the examples, notes made by hand, and what only other programs would write."""
    writer = application.writer
    by_hand = writer.create_note(
        NoteDraft(
            "手写的笔记 🎉 [a|b]",
            "第一段 cos=0.9\n\n第二段",
            body=f"# 标题\n\n{FENCED}",
            key_conclusions=("一", "two\nlines"),
            code_snippets=(Snippet("c++ `x`", FENCED, "说明"), Snippet("", "plain", "")),
            tags=("c,c++", "zeta", "alpha", "数据库"),
            aliases=("别名", "a, b"),
            project="知识库",
        )
    )
    memory = writer.create_note(
        NoteDraft(
            "Agent's memory",
            "cos=0.8",
            project="知识库",
            source_type="agent-writeback",
            source_agent="codex",
            error_signatures=("TimeoutError",),
            files_touched=("src/ws.ts",),
            raw_llm_response=json.dumps({"root_cause": "timing", "pitfalls": ["too early"]}),
            external_id="memory-1",
        )
    )
    plain = writer.create_note(NoteDraft("", "no title, no project"))
    writer.edit_note(memory, NotePatch({"title": "Edited memory", "tags": ("beta", "alpha")}))
    assert not application.importer.import_records(example_records()).refused
    for source, target in ((by_hand, memory), (memory, by_hand), (by_hand, plain)):
        writer.create_relation(RelationDraft(source, target, "EXTENDS", 0.25, "说明\nof two lines"))
    run(application, *AWKWARD)


def run(application: Application, *statements: str) -> None:
    """Run statements past the application."""
    with application.database.write() as connection:
        for statement in statements:
            values = {"infinity": math.inf} if ":infinity" in statement else {}
            connection.execute(text(statement), values)


def lines_of(application: Application) -> bytes:
    """The database in the JSON Lines form."""
    stream = io.BytesIO()
    chosen = FORMATS["jsonl"]
    assert isinstance(chosen, FileFormat)
    with reading(application.database) as source:
        chosen.write(source, stream, Tally(lambda _: None))
    return stream.getvalue()


def records_of(content: bytes) -> list[dict[str, Any]]:
    """The objects of the JSON Lines form."""
    return [json.loads(line) for line in content.split(b"\n") if line]


def export(application: Application, name: str, path: Path) -> ExportReport:
    """Write a form to a path."""
    settings = application.settings.embedding
    with reading(application.database, settings) as source:
        return export_to_path(source, name, path, lambda _: None)


Rows = list[dict[str, Any]]


def rows_of(application: Application, name: str) -> Rows:
    """The rows of a table in the order of their ids, JSON columns parsed."""
    table = metadata.tables[name]
    with application.database.read() as connection:
        rows = connection.execute(select(table).order_by(*table.primary_key)).mappings()
        return [
            {
                column: read_json(value) if column in JSON_COLUMNS else value
                for column, value in row.items()
            }
            for row in rows
        ]


def meaning_of(application: Application) -> dict[str, Any]:
    """Everything that the JSON Lines form keeps, without ids that are given anew."""
    notes = rows_of(application, "notes")
    conversation_of = {note["id"]: note["conversation_id"] for note in notes}
    tag_names = {tag["id"]: tag["name"] for tag in rows_of(application, "tags")}
    own = {"id", "external_id", "embedding_status", "note_id", "source_note_id", "target_note_id"}

    def without(row: dict[str, Any], names: set[str]) -> dict[str, Any]:
        return {name: value for name, value in row.items() if name not in names}

    return {
        "tags": list(tag_names.values()),
        "conversations": [
            without(row, {"external_id"}) for row in rows_of(application, "conversations")
        ],
        "messages": rows_of(application, "messages"),
        "notes": [without(note, own) for note in notes],
        "note_tags": [
            (conversation_of[row["note_id"]], tag_names[row["tag_id"]])
            for row in rows_of(application, "note_tags")
        ],
        "relations": [
            without(row, own)
            | {end: conversation_of[row[f"{end}_note_id"]] for end in ("source", "target")}
            for row in rows_of(application, "note_relations")
        ],
    }


def kinds_of(content: bytes) -> Counter[str]:
    """How many objects of each type there are."""
    return Counter(record["type"] for record in records_of(content))
