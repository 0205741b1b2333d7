"""Search in what was said: turns, passages, filters, and the index behind them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from app.domain.conversations import FoundTurn, MessageQuery
from app.domain.imports import ImportRequest
from app.factory import Application
from app.mirror.parts import MESSAGES
from fixtures.conversations import build
from fixtures.conversations.story import every
from tests.api.answers import data_of, error_of
from tests.support.application import opened, recorded_statements, stub_values
from tests.support.conversations import said, write_lines
from tests.support.provider import StubProvider

IDS = {story.name: story.id for story in every()}


@pytest.fixture(scope="module")
def stub() -> Iterator[StubProvider]:
    """A provider that nobody should ask."""
    with StubProvider() as running:
        yield running


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, stub: StubProvider) -> Iterator[Application]:
    """An application with all stories, for tests that change nothing."""
    folder = tmp_path_factory.mktemp("told")
    build.build(folder / "home")
    values = stub_values(stub) | {"sources.generic": str(folder / "home" / build.GENERIC)}
    with opened(folder, values) as built:
        built.conversations.run(ImportRequest())
        yield built


def ask(application: Application, query: str, **more: object) -> tuple[FoundTurn, ...]:
    return application.messages.search(MessageQuery(query, **more))  # type: ignore[arg-type]


def conversation(home: Path, *texts: str, name: str = "s") -> None:
    roles = ("user", "assistant")
    lines = [said(text, number=n, role=roles[n % 2]) for n, text in enumerate(texts)]
    write_lines(home / ".claude" / "projects" / "p" / f"{name}.jsonl", lines)


@pytest.mark.parametrize(
    ("query", "story", "turn"),
    [
        ("deadlock detected SQLSTATE 40P01", "en-06-postgres-deadlock", 1),
        ("hammer_moves", "en-06-postgres-deadlock", 2),
        ("basic_nack", "zh-11-rabbit-unacked", 2),
        ("显存稳定", "zh-17-pytorch-cuda", 2),
        ("minmax(0, 1fr)", "en-21-css-grid-overflow", 1),
        ("utf8mb4 表情", "zh-01-mysql-charset", 2),
        ("3995.2 Mark-Compact", "en-12-webpack-heap", 1),
    ],
)
def test_the_words_of_a_turn_find_it(told: Application, query: str, story: str, turn: int) -> None:
    best = ask(told, query)[0]
    assert (best.conversation_id, best.turn) == (IDS[story], turn)


@pytest.mark.parametrize("query", ["basic_nack 死信", "deadlock bins", "显存", "spawn_blocking"])
def test_extents_are_the_words_in_code_points(told: Application, query: str) -> None:
    for turn in ask(told, query, limit=3):
        assert turn.extents
        words = [turn.text[start:end] for start, end in turn.extents]
        assert all(word and not word.isspace() for word in words)


def test_what_a_model_thought_is_not_found(told: Application) -> None:
    assert [turn.conversation_id for turn in ask(told, "自调用 经典问题")] != [
        IDS["zh-04-spring-transaction"]
    ]


@pytest.mark.parametrize("limit", [0, 1, 2, 5])
def test_no_turn_comes_twice_and_no_more_than_wanted(told: Application, limit: int) -> None:
    found = ask(told, "test error 错误 file", limit=limit)
    turns = [(each.conversation_id, each.turn) for each in found]
    assert len(turns) == len(set(turns)) == limit
    assert [each.score for each in found] == sorted((e.score for e in found), reverse=True)


def test_filters_take_no_places(told: Application) -> None:
    everything = ask(told, "redis", limit=50)
    for name, value in (("source", "codex"), ("project", "缓存"), ("since", "2026-02-24")):
        kept = ask(told, "redis", limit=50, **{name: value})
        assert kept
        assert set(kept) < set(everything)
        assert ask(told, "redis", limit=1, **{name: value}) == kept[:1]


@pytest.mark.parametrize("query", ["", " ", "the of", "zzzxqy", "的 了"])
def test_a_query_without_a_word_that_was_said_finds_nothing(told: Application, query: str) -> None:
    assert ask(told, query) == ()


def test_no_provider_is_asked(told: Application, stub: StubProvider) -> None:
    before = len(stub.requests)
    ask(told, "redis")
    assert len(stub.requests) == before


def test_a_conversation_is_found_as_soon_as_it_is_stored(
    application: Application, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    conversation(home, "a marmot whistles")
    application.conversations.run(ImportRequest())
    assert [each.turn for each in ask(application, "marmot")] == [1]
    conversation(home, "a marmot whistles", "yes", "another marmot, please")
    application.conversations.run(ImportRequest())
    assert [each.turn for each in ask(application, "marmot")] == [1, 2]
    application.writer.delete_conversation("s")
    assert ask(application, "marmot") == ()


def test_searches_for_notes_do_not_load_messages(application: Application, tmp_path: Path) -> None:
    conversation(tmp_path / "home", "a marmot whistles")
    application.conversations.run(ImportRequest())
    application.mirror.warm(["chunk", "words"])
    with application.mirror.open(["words"]) as (_, view):
        assert view.messages is None
        assert view.words is not None
        assert view.words.count() == 0


def test_a_turn_names_its_note(application: Application, tmp_path: Path) -> None:
    conversation(tmp_path / "home", "a marmot whistles")
    application.conversations.run(ImportRequest())
    assert ask(application, "marmot")[0].note_id is None
    record = {"type": "note", "external_id": "n", "conversation": "s", "title": "Whistling"}
    application.importer.import_records([record])
    assert ask(application, "marmot")[0].note_id == 1


def test_messages_of_other_imports_are_found_too(application: Application) -> None:
    application.importer.import_records(
        [
            {"type": "conversation", "external_id": "c", "source": "codex"},
            {"type": "message", "external_id": "m", "conversation": "c", "role": "user",
             "content": "a marmot"},
        ]
    )  # fmt: skip
    assert [each.message_id for each in ask(application, "marmot")] == ["m"]


def test_the_index_of_an_older_database_is_written_at_the_start(
    tmp_path: Path, stub: StubProvider
) -> None:
    values = stub_values(stub)
    with opened(tmp_path, values) as built:
        conversation(tmp_path / "home", "a marmot whistles")
        built.conversations.run(ImportRequest())
        with built.database.write() as connection:
            connection.exec_driver_sql("DELETE FROM message_documents")
    with opened(tmp_path, values) as built:
        assert [each.turn for each in ask(built, "marmot")] == [1]


def test_the_route_answers_turns(told: Application) -> None:
    client: FlaskClient = told.flask().test_client()
    [row] = data_of(client.get("/api/search/messages?q=basic_nack&limit=1&source=claude-code"))
    assert list(row) == [
        "conversation_id", "turn", "message_id", "role", "timestamp", "score", "source",
        "project_name", "slug", "note_id", "passage",
    ]  # fmt: skip
    assert (row["turn"], row["project_name"], row["note_id"]) == (2, "物流跟踪", None)
    [extent] = row["passage"]["extents"]
    assert row["passage"]["text"][extent[0] : extent[1]] == "basic_nack"


@pytest.mark.parametrize("address", ["/api/search/messages", "/api/search/messages?q=%20"])
def test_a_search_for_nothing_is_refused(told: Application, address: str) -> None:
    client: FlaskClient = told.flask().test_client()
    assert "required" in error_of(client.get(address), 400)


def test_a_conversation_shows_turns_and_tools(told: Application) -> None:
    client: FlaskClient = told.flask().test_client()
    shown = data_of(client.get(f"/api/conversations/{IDS['zh-11-rabbit-unacked']}"))
    turns = [message["turn"] for message in shown["messages"]]
    assert turns == sorted(turns)
    assert set(turns) == {1, 2, 3}
    tools = [tool for message in shown["messages"] for tool in message["tools"]]
    assert [tool["name"] for tool in tools] == ["Read", "Edit", "Edit"]
    assert tools[0]["input"] == "file_path: consumer/worker.py"


@pytest.mark.sqlite
def test_what_may_be_found_is_read_once(told: Application) -> None:
    # The index reads the ids of its documents as well, when it is loaded.
    told.mirror.warm([MESSAGES])
    with recorded_statements(told.database) as statements:
        found = [ask(told, "hammer_moves", since="2001-01-01") for _ in range(3)]
    assert found[0] == found[1] == found[2] != ()
    assert sum("ORDER BY message_documents.id" in each for each in statements) == 1


def test_what_another_program_changed_counts_at_once(
    application: Application, tmp_path: Path
) -> None:
    conversation(tmp_path / "home", "the xylophone query is slow", "an index mends it")
    application.conversations.run(ImportRequest())
    [turn] = ask(application, "xylophone")
    assert ask(application, "xylophone", project="elsewhere") == ()
    with application.database.engine.begin() as connection:
        connection.execute(text("UPDATE conversations SET project_name = 'elsewhere'"))
    assert ask(application, "xylophone", project="elsewhere")[0].turn == turn.turn
