"""The JSON Lines form comes back without loss."""

import io
from typing import Any

import pytest
from sqlalchemy import event

from app.db import whole_tables
from app.db.models import conversations, messages, notes
from app.factory import Application
from app.maintenance.export.formats import FORMATS, FileFormat
from app.maintenance.export.source import Tally, reading
from app.sync import records
from app.sync.importing import RECORD_TYPES
from tests.maintenance.export.library import (
    kinds_of,
    lines_of,
    meaning_of,
    records_of,
    rows_of,
)


def test_a_trip_through_an_empty_database_changes_no_byte(
    filled: Application, application: Application
) -> None:
    content = lines_of(filled)
    report = application.importer.import_records(records_of(content))
    assert report.refused == []
    assert report.added == {kind: kinds_of(content)[kind] for kind in RECORD_TYPES}
    assert lines_of(application) == content


def test_a_trip_loses_nothing_that_the_form_has_a_place_for(
    filled: Application, application: Application
) -> None:
    application.importer.import_records(records_of(lines_of(filled)))
    before, after = meaning_of(filled), meaning_of(application)
    for row in before["conversations"]:
        if row["experience_score"] == float("inf"):
            row["experience_score"] = None
    assert after == before


def test_the_server_takes_an_export_as_it_is(filled: Application, application: Application) -> None:
    content = lines_of(filled)
    answer = application.flask().test_client().post(
        "/api/import", data=content, content_type="application/x-ndjson"
    )  # fmt: skip
    assert answer.get_json()["data"]["refused"] == []
    assert lines_of(application) == content


def test_an_export_imported_where_it_came_from_changes_nothing(
    filled: Application,
) -> None:
    content = lines_of(filled)
    report = filled.importer.import_records(records_of(content))
    assert report.refused == []
    assert set(report.added.values()) == {0}
    assert lines_of(filled) == content


def test_everything_is_counted_and_there(awkward: Application) -> None:
    found = kinds_of(lines_of(awkward))
    assert found == {
        "tag": len(rows_of(awkward, "tags")),
        "conversation": len(rows_of(awkward, "conversations")),
        "message": 2,
        "note": len(rows_of(awkward, "notes")),
        "relation": len(rows_of(awkward, "note_relations")),
    }


def test_tags_of_no_note_and_with_commas_are_there(golden: Application) -> None:
    names = [record["name"] for record in records_of(lines_of(golden)) if record["type"] == "tag"]
    assert names[0] == "unused-tag"
    assert "c,c++" in names


def test_a_line_is_a_line_for_every_program(awkward: Application) -> None:
    content = lines_of(awkward)
    assert len(content.decode("utf-8").splitlines()) == len(records_of(content))
    assert "手写的笔记 🎉" in content.decode("utf-8")


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("updated_at", None, None),
        ("key_conclusions", None, None),
        ("key_conclusions", {"a": 1}, '{"a": 1}'),
        ("aliases", ["别名"], '["别名"]'),
        ("slug", "a-slug", "a-slug"),
        ("content_digest", "f00", "f00"),
    ],
    ids=["no-time", "no-list", "object", "list", "slug", "digest"],
)
def test_a_note_keeps_what_its_columns_can_hold(name: str, value: Any, stored: Any) -> None:
    record = {"external_id": "n", "title": "t", "created_at": "2026-01-01", name: value}
    assert records.note_columns(record, "c")[name] == stored


@pytest.mark.parametrize(
    ("name", "default"), [("updated_at", "2026-01-01"), ("key_conclusions", "[]")]
)
def test_a_missing_field_of_a_note_has_its_default(name: str, default: str) -> None:
    record = {"external_id": "n", "title": "t", "created_at": "2026-01-01"}
    assert records.note_columns(record, "c")[name] == default


@pytest.mark.parametrize(
    ("more", "confidence"),
    [({}, 1.0), ({"confidence": None}, None), ({"confidence": 0}, 0.0)],
    ids=["missing", "null", "zero"],
)
def test_nobody_has_to_say_how_sure_a_relation_is(
    more: dict[str, Any], confidence: float | None
) -> None:
    draft = records.relation_draft({"relation_type": "EXTENDS", **more}, 1, 1)
    assert draft.confidence == confidence


@pytest.mark.parametrize("value", ["1", True, 10**400], ids=["text", "bool", "beyond-all-bounds"])
def test_a_score_that_is_no_number_is_refused(application: Application, value: Any) -> None:
    record = {"type": "conversation", "external_id": "c", "experience_score": value}
    report = application.importer.import_records([record])
    assert report.refused == [(1, 'Parameter "experience_score" must be a number')]


def test_every_column_is_read() -> None:
    given_anew = {"id"}
    conversation = records.conversation_columns({"external_id": "c"})
    message = records.message_columns({"external_id": "m", "content": ""}, "c")
    note = records.note_columns({"external_id": "n", "title": ""}, "c")
    assert set(conversation) == set(conversations.c.keys())
    assert set(message) == set(messages.c.keys())
    assert set(note) == set(notes.c.keys()) - given_anew


def test_an_export_is_of_one_moment(application: Application) -> None:
    application.importer.import_records(
        [{"type": "conversation", "external_id": "before"}, {"type": "tag", "name": "before"}]
    )
    chosen = FORMATS["jsonl"]
    assert isinstance(chosen, FileFormat)
    before = lines_of(application)

    class Stream(io.BytesIO):
        """A target under which the database changes."""

        def write(self, line: Any) -> int:
            if not self.tell():
                application.importer.import_records(
                    [{"type": "conversation", "external_id": "meanwhile"}]
                )
            return super().write(line)

    stream = Stream()
    with reading(application.database) as source:
        chosen.write(source, stream, Tally(lambda _: None))
    assert stream.getvalue() == before
    assert b"meanwhile" in lines_of(application)


STREAMS = {
    "tags": whole_tables.all_tags,
    "note_tags": whole_tables.all_note_tags,
    "conversations": whole_tables.all_conversations,
    "notes": whole_tables.all_notes,
    "relations": whole_tables.all_relations,
    "chunks": lambda connection: whole_tables.all_chunks(connection, 1, with_vectors=True),
}


@pytest.mark.sqlite
@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_a_table_is_walked_and_never_sorted(golden: Application, stream: Any) -> None:
    statements: list[tuple[str, Any]] = []

    def record(*arguments: Any) -> None:
        statements.append((arguments[2], arguments[3]))

    with golden.database.read() as connection:
        event.listen(connection, "before_cursor_execute", record)
        assert list(stream(connection))
        event.remove(connection, "before_cursor_execute", record)
        plans = connection.exec_driver_sql(
            f"EXPLAIN QUERY PLAN {statements[0][0]}", statements[0][1]
        )
        assert not [row[3] for row in plans if "TEMP B-TREE" in row[3]]
