"""Conversations: list, one with its messages, deletion with all that hangs on it."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from app.factory import Application
from tests.api.answers import data_of, error_of, ids_of, keys_in

COLUMNS = keys_in(
    "id slug source project_dir project_name cwd git_branch message_count first_message_at "
    "last_message_at file_path file_size file_mtime status experience_score "
    "experience_gate_reason experience_gate_details created_at updated_at"
)
MESSAGE_COLUMNS = keys_in(
    "id conversation_id parent_uuid type role content has_tool_use has_code thinking timestamp "
    "sort_order tools turn"
)

# Number 8 is a memory of an agent.
LAST_ACTIVE_FIRST = [12, 11, 10, 9, 7, 5, 6, 2, 3, 4, 1]


def numbers_of(page: Any) -> list[int]:
    return [int(item["id"].removeprefix("conv-")) for item in page["items"]]


def test_order(reader: FlaskClient) -> None:
    page = data_of(reader.get("/api/conversations"))
    assert list(page) == ["items", "total", "offset", "limit"]
    assert numbers_of(page) == LAST_ACTIVE_FIRST
    assert all(list(item) == COLUMNS for item in page["items"])


FILTERS: dict[str, tuple[dict[str, str], list[int]]] = {
    "source": ({"source": "claude-code"}, LAST_ACTIVE_FIRST),
    "source of memories": ({"source": "chatcrystal-memory"}, []),
    "source by case": ({"source": "Claude-Code"}, []),
    "project part": ({"project": "infra"}, [12, 11, 10, 9]),
    "project is a pattern": ({"project": "infra_ops"}, [12, 11, 10, 9]),
    "project without case": ({"project": "ATLAS"}, [2, 3, 4, 1]),
    "project han": ({"project": "知识"}, [7, 5, 6]),
    "status": ({"status": "summarized"}, LAST_ACTIVE_FIRST),
    "other status": ({"status": "imported"}, []),
    "search slug": ({"search": "slug-1%"}, [12, 11, 10, 1]),
    "search project": ({"search": "知识库"}, [7, 5, 6]),
    "search percent": ({"search": "%"}, LAST_ACTIVE_FIRST),
    "search no titles": ({"search": "Redis"}, []),
    "together": ({"search": "slug-1", "project": "atlas", "status": "summarized"}, [1]),
    "empty": ({"search": "", "project": "", "status": "", "source": ""}, LAST_ACTIVE_FIRST),
}


@pytest.mark.parametrize(("query", "numbers"), FILTERS.values(), ids=FILTERS)
def test_filters(reader: FlaskClient, query: dict[str, str], numbers: list[int]) -> None:
    page = data_of(reader.get("/api/conversations", query_string=query))
    assert numbers_of(page) == numbers
    assert page["total"] == len(numbers)
    seen: list[int] = []
    for offset in range(0, len(numbers) + 2, 2):
        asked = query | {"limit": "2", "offset": str(offset)}
        seen += numbers_of(data_of(reader.get("/api/conversations", query_string=asked)))
    assert seen == numbers


def test_one(reader: FlaskClient) -> None:
    found = data_of(reader.get("/api/conversations/conv-1"))
    assert list(found) == [*COLUMNS, "messages"]
    assert [list(message) for message in found["messages"]] == [MESSAGE_COLUMNS] * 3
    assert [message["id"] for message in found["messages"]] == [
        "message-1",
        "message-2",
        "message-3",
    ]
    assert [message["has_code"] for message in found["messages"]] == [1, 0, 1]
    assert all(type(message["has_code"]) is int for message in found["messages"])


def test_one_without_messages(reader: FlaskClient) -> None:
    assert data_of(reader.get("/api/conversations/conv-5"))["messages"] == []


def test_memories_are_shown_by_their_id(reader: FlaskClient) -> None:
    found = data_of(reader.get("/api/conversations/conv-8"))
    assert found["source"] == "chatcrystal-memory"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("name", ["missing", "Conv-1", "conv-1%20", "conv-%25"])
def test_missing(reader: FlaskClient, method: str, name: str) -> None:
    response = reader.open(f"/api/conversations/{name}", method=method)
    assert error_of(response, 404, "conversation_not_found") == "Conversation not found"


def test_conversations_of_hand_made_notes_are_hidden(client: FlaskClient) -> None:
    created = data_of(client.post("/api/notes", json={"title": "a"}), 201)
    assert data_of(client.get("/api/conversations"))["total"] == 0
    assert data_of(client.get("/api/status"))["stats"]["totalConversations"] == 1
    found = data_of(client.get(f"/api/conversations/{created['conversation_id']}"))
    assert found["source"] == "manual"


def test_deletion_takes_all_along(editor: FlaskClient, filled: Application) -> None:
    assert editor.delete("/api/conversations/conv-1").get_json() == {"success": True}
    error_of(editor.delete("/api/conversations/conv-1"), 404)
    error_of(editor.get("/api/conversations/conv-1"), 404)
    error_of(editor.get("/api/notes/1"), 404)
    error_of(editor.get("/api/notes/by-conversation/conv-1"), 404)
    assert 1 not in ids_of(editor.get("/api/notes?limit=100"))
    assert data_of(editor.get("/api/status"))["stats"]["totalNotes"] == 11
    with filled.database.read() as connection:
        for table, column in (
            ("messages", "conversation_id = 'conv-1'"),
            ("embeddings", "note_id = 1"),
            ("note_spaces", "note_id = 1"),
            ("note_tags", "note_id = 1"),
            ("note_relations", "1 IN (source_note_id, target_note_id)"),
        ):
            query = f"SELECT count(*) FROM {table} WHERE {column}"
            assert connection.exec_driver_sql(query).scalar_one() == 0, table


def test_deletion_leaves_the_rest(editor: FlaskClient) -> None:
    before = data_of(editor.get("/api/notes?limit=100"))["items"]
    data_of(editor.delete("/api/conversations/conv-1"))
    after = data_of(editor.get("/api/notes?limit=100"))["items"]
    assert after == [note for note in before if note["id"] != 1]
