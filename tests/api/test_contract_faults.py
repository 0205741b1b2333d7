"""The faults of the original that fall to these routes, each as the test that it is gone.

Numbers are those of the list "Fix rather than copy" in the description of the original.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from app.api.application import ROUTES
from app.factory import Application
from tests.api.answers import data_of, envelope_of, error_of, ids_of
from tests.api.library import COMMA_TAG, EXAMPLES, READS, STREAM, route_id
from tests.support import provider as behaviours
from tests.support.application import opened, planted_vector, stub_values
from tests.support.provider import StubProvider


def change(application: Application, statement: str, **values: Any) -> None:
    """Do to the database what another program could do to it."""
    with application.database.write() as connection:
        connection.execute(text(statement), values)


# 5


@pytest.mark.parametrize("written", ["-1", "-50", "1.5", "NaN", "Infinity", "abc"])
@pytest.mark.parametrize("route", ["notes?", "conversations?", "search?q=pool&"])
def test_05_no_limit_dumps_everything_or_fails_inside(
    reader: FlaskClient, route: str, written: str
) -> None:
    error_of(reader.get(f"/api/{route}limit={written}"), 400, "invalid_parameter")


@pytest.mark.parametrize("route", ["notes?", "conversations?", "search?q=pool&ranker=vector&"])
def test_05_an_empty_limit_is_the_default(reader: FlaskClient, route: str) -> None:
    assert reader.get(f"/api/{route}limit=").get_data() == reader.get(f"/api/{route}").get_data()


def test_05_no_search_exceeds_the_cap(client: FlaskClient) -> None:
    for number in range(55):
        data_of(client.post("/api/notes", json={"title": f"cos=0.9 {number}"}), 201)
    assert len(data_of(client.get("/api/search?q=x&limit=1000&ranker=vector"))) == 50
    assert data_of(client.get("/api/notes?limit=1000"))["limit"] == 100


# 6


def test_06_wildcards_can_be_meant_literally(reader: FlaskClient) -> None:
    for searched, ids in (("100%", [10]), ("snake_case", [10]), ("%", [10]), ("_", [10])):
        query = {"search": searched, "match": "literal"}
        assert ids_of(reader.get("/api/notes", query_string=query)) == ids


# 7


def test_07_total_is_what_paging_shows(editor: FlaskClient, filled: Application) -> None:
    """With a note whose conversation is gone, as the original left them behind."""
    with filled.database.write_schema() as connection:
        connection.exec_driver_sql("DELETE FROM conversations WHERE id IN ('conv-2', 'conv-5')")
    for query in ("", "&search=o", "&tag=postgres", "&project=atlas", "&sourceKind=conversation"):
        shown: list[int] = []
        while True:
            page = data_of(editor.get(f"/api/notes?limit=2&offset={len(shown)}{query}"))
            shown += [item["id"] for item in page["items"]]
            if not page["items"]:
                break
        assert page["total"] == len(shown)
        assert not {2, 5} & set(shown)
    assert data_of(editor.get("/api/status"))["stats"]["totalNotes"] == 10
    counts = {tag["name"]: tag["count"] for tag in data_of(editor.get("/api/tags"))}
    assert (counts["postgres"], counts["pool"], counts["数据库"]) == (1, 1, 0)


# 8

BAD_JSON: dict[str, tuple[Any, Any]] = {
    "broken": ("{broken", []),
    "half": ('["a"', []),
    "empty": ("", []),
    "null": (None, []),
    "words": ("plain words", []),
    "nan": ("[NaN]", []),
    "infinity": ('{"a": -Infinity}', []),
    "beyond float": ("[1e999, 1]", [None, 1]),
    "digits without end": ("[" + "9" * 5_000 + "]", []),
    "surrogate": ('["\\ud800"]', ["\ufffd"]),
    "surrogate key": ('{"\\udfff": 1}', {"\ufffd": 1}),
    "nested too deeply": ("[" * 900 + "]" * 900, []),
    "nested without end": ("[" * 100_000, []),
    "object": ('{"a": [1]}', {"a": [1]}),
    "text": ('"words"', "words"),
    "number": ("42", 42),
    "mixed": ('[1, null, {"a": "b"}]', [1, None, {"a": "b"}]),
}
JSON_COLUMNS = ("key_conclusions", "code_snippets", "error_signatures", "files_touched")


@pytest.fixture(scope="module")
def harmed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An application with one note after another in which a JSON column is bad."""
    with StubProvider() as stub, opened(tmp_path_factory.mktemp("x"), stub_values(stub)) as built:
        client = built.flask().test_client()
        for title in ("before", "harmed", "after"):
            data_of(client.post("/api/notes", json={"title": title}), 201)
        yield built, client


@pytest.mark.parametrize(("stored", "shown"), BAD_JSON.values(), ids=BAD_JSON)
@pytest.mark.parametrize("column", JSON_COLUMNS)
def test_08_one_bad_column_breaks_no_page(
    harmed: tuple[Application, FlaskClient], column: str, stored: Any, shown: Any
) -> None:
    application, client = harmed
    change(application, f"UPDATE notes SET {column} = :stored WHERE id = 2", stored=stored)
    listed = data_of(client.get("/api/notes"))["items"]
    assert sorted(note["id"] for note in listed) == [1, 2, 3]
    assert next(note[column] for note in listed if note["id"] == 2) == shown
    assert data_of(client.get("/api/notes/2"))[column] == shown
    assert len(data_of(client.get("/api/search?q=harmed&ranker=vector"))) == 3
    assert data_of(client.get("/api/status"))["stats"]["totalNotes"] == 3
    assert data_of(client.post("/api/notes/2/embed"))["noteId"] == 2
    change(application, f"UPDATE notes SET {column} = NULL WHERE id = 2")


def test_08_bad_aliases_break_no_page(harmed: tuple[Application, FlaskClient]) -> None:
    application, client = harmed
    for stored, shown in (("{", []), ('"a"', []), ('["a", 1, null]', ["a"]), (None, [])):
        change(application, "UPDATE notes SET aliases = :stored WHERE id = 2", stored=stored)
        assert data_of(client.get("/api/notes/2"))["aliases"] == shown


# 9


def test_09_a_comma_does_not_split_a_tag(reader: FlaskClient) -> None:
    assert data_of(reader.get("/api/notes/4"))["tags"] == [COMMA_TAG]
    assert ids_of(reader.get("/api/notes", query_string={"tag": COMMA_TAG})) == [4]
    assert data_of(reader.get("/api/search?q=kafka+lag"))[0]["tags"] == [COMMA_TAG]
    nodes = data_of(reader.get("/api/relations/graph"))["nodes"]
    assert nodes[3]["tags"] == [COMMA_TAG]
    assert COMMA_TAG in [tag["name"] for tag in data_of(reader.get("/api/tags"))]
    assert "tags_csv" not in data_of(reader.get("/api/notes/4"))


# 10


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/search", 400),
        ("GET", "/api/search?q=a&q=b", 400),
        ("GET", "/api/notes?limit=x", 400),
        ("GET", "/api/notes/abc", 404),
        ("GET", "/api/nope", 404),
        ("GET", "/nothing", 404),
        ("POST", "/nothing", 404),
        ("POST", "/", 405),
        ("GET", "/API/notes", 404),
        ("DELETE", "/api/notes", 405),
        ("POST", "/api/tags", 405),
        ("POST", "/api/notes", 415),
    ],
)
def test_10_one_error_envelope(reader: FlaskClient, method: str, path: str, status: int) -> None:
    envelope = envelope_of(reader.open(path, method=method))
    assert list(envelope) == ["success", "error", "code"]
    assert reader.open(path, method=method).status_code == status


# 11 and 13 to 14


@pytest.mark.parametrize("ranker", ["chatcrystal", "vector"])
def test_11_ghosts_eat_no_places(
    client: FlaskClient, application: Application, ranker: str
) -> None:
    """The best forty chunks belong to notes that may not be found."""
    for number in range(40):
        data_of(client.post("/api/notes", json={"title": f"cos=0.99 ghost {number}"}), 201)
    for number in range(5):
        data_of(client.post("/api/notes", json={"title": f"cos=0.9 note {number}"}), 201)
    change(application, "UPDATE notes SET embedding_status = 'pending' WHERE id <= 40")
    found = ids_of(client.get(f"/api/search?q=anything&limit=5&ranker={ranker}"))
    assert found == [41, 42, 43, 44, 45]
    data_of(client.delete("/api/notes/42"))
    found = ids_of(client.get(f"/api/search?q=anything&limit=5&ranker={ranker}"))
    assert found == [41, 43, 44, 45]


@pytest.mark.parametrize("ranker", ["chatcrystal", "vector"])
def test_11_chunks_of_one_note_share_no_places(client: FlaskClient, ranker: str) -> None:
    paragraph = "cos=0.95 " + "word " * 95
    long = "\n\n".join([paragraph] * 12)
    data_of(client.post("/api/notes", json={"title": "long", "summary": long}), 201)
    for number in range(4):
        data_of(client.post("/api/notes", json={"title": f"cos=0.9 note {number}"}), 201)
    assert data_of(client.post("/api/notes/1/embed"))["chunks"] >= 12
    assert ids_of(client.get(f"/api/search?q=anything&limit=3&ranker={ranker}")) == [1, 2, 3]


def test_13_titles_are_never_stale(editor: FlaskClient) -> None:
    for title in ("Redis pool renamed", "Redis 池 renamed again"):
        data_of(editor.patch("/api/notes/1", json={"title": title}))
        row = data_of(editor.get("/api/search?q=redis"))[0]
        assert (row["note_id"], row["title"]) == (1, title)
    data_of(editor.patch("/api/notes/1", json={"project": "moved"}))
    row = data_of(editor.get("/api/search?q=redis"))[0]
    assert row["project"] == row["project_name"] == "moved"


def test_13_titles_changed_behind_our_back_are_not_stale(
    editor: FlaskClient, filled: Application
) -> None:
    data_of(editor.get("/api/search?q=redis"))
    change(filled, "UPDATE notes SET title = 'Redis elsewhere' WHERE id = 1")
    change(filled, "UPDATE conversations SET project_name = 'moved' WHERE id = 'conv-1'")
    row = data_of(editor.get("/api/search?q=redis"))[0]
    assert (row["title"], row["project"]) == ("Redis elsewhere", "moved")


def test_14_another_dimension_is_noticed(editor: FlaskClient, stub: StubProvider) -> None:
    stub.behave(behaviours.of_dimension(8))
    for path in ("/api/search?q=unseen+words", "/api/search?q=new&ranker=v049"):
        assert "8 dimensions" in error_of(editor.get(path), 503, "space_mismatch")
    assert "8 dimensions" in error_of(editor.post("/api/notes/1/embed"), 503, "space_mismatch")


# 16


@pytest.mark.parametrize("ranker", ["chatcrystal", "v049", "vector"])
def test_16_notes_of_deleted_conversations_are_not_found(editor: FlaskClient, ranker: str) -> None:
    path = f"/api/search?q=redis+pool&limit=50&ranker={ranker}&expand=true"
    assert 1 in ids_of(editor.get(path))
    data_of(editor.delete("/api/conversations/conv-1"))
    assert 1 not in ids_of(editor.get(path))
    assert ids_of(editor.get("/api/notes?search=redis")) == []
    assert 1 not in [node["id"] for node in data_of(editor.get("/api/relations/graph"))["nodes"]]
    error_of(editor.get("/api/search/why?q=redis&note_id=1"), 404, "note_not_found")


def test_16_orphans_of_others_are_not_found(editor: FlaskClient, filled: Application) -> None:
    data_of(editor.get("/api/search?q=redis"))
    with filled.database.write_schema() as connection:
        connection.exec_driver_sql("DELETE FROM conversations WHERE id = 'conv-1'")
    for ranker in ("chatcrystal", "v049", "vector"):
        found = ids_of(editor.get(f"/api/search?q=redis+pool&limit=50&ranker={ranker}"))
        assert 1 not in found
    error_of(editor.get("/api/notes/1"), 404, "note_not_found")
    error_of(editor.get("/api/notes/by-conversation/conv-1"), 404, "note_not_found")


# 17


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """The results of calls that begin together, each in a thread of its own."""
    start = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        start.wait(30)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_17_embeds_at_once_both_succeed(filled: Application) -> None:
    app = filled.flask()

    def embed() -> Any:
        return data_of(app.test_client().post("/api/notes/5/embed"))

    assert at_once([embed] * 4) == [{"noteId": 5, "chunks": 1}] * 4
    with filled.database.read() as connection:
        query = "SELECT count(*) FROM embeddings WHERE note_id = 5"
        assert connection.exec_driver_sql(query).scalar_one() == 1
    client = app.test_client()
    assert ids_of(client.get("/api/search?q=数据库连接池")) == [5]


def test_17_batches_at_once_queue_each_note_once(filled: Application) -> None:
    change(filled, "UPDATE notes SET embedding_status = 'pending'")
    app = filled.flask()

    def batch() -> int:
        queued = data_of(app.test_client().post("/api/embeddings/batch"))["queued"]
        assert isinstance(queued, int)
        return queued

    assert sum(at_once([batch] * 3)) >= 12
    progress = filled.queue.progress()
    while progress.count("queued", "running"):
        progress = filled.queue.wait(progress.version, 30)
    assert progress.count("completed") == len(progress.tasks)
    assert data_of(app.test_client().get("/api/status"))["embedding"]["notes"] == {"done": 12}


# 18


def state_of(folder: Path) -> dict[str, Any]:
    """Names in a data folder, and the bytes of the database with its log."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    contents = {name: (folder / name).read_bytes() for name in ("crystal.db", "crystal.db-wal")}
    return {"names": names, **contents}


@pytest.mark.sqlite
@pytest.mark.parametrize("key", [*READS, ("GET", "/api/nope")], ids=route_id)
def test_18_nothing_is_written_by_a_get(library: Application, key: tuple[str, str]) -> None:
    client = library.flask().test_client()
    path = EXAMPLES[key].path if key in EXAMPLES else key[1]
    folder = library.settings.data_dir
    with library.database.engine.connect() as observer:
        version = observer.exec_driver_sql("PRAGMA data_version").scalar_one()
        before = state_of(folder)
        for method in ("GET", "HEAD"):
            client.open(path, method=method, buffered=key != STREAM).close()
        assert state_of(folder) == before
        assert observer.exec_driver_sql("PRAGMA data_version").scalar_one() == version


def test_18_every_get_is_among_them() -> None:
    assert {(route.method, route.rule) for route in ROUTES if route.method == "GET"} == set(READS)


def test_18_two_servers_over_one_folder_agree(stub: StubProvider, tmp_path: Path) -> None:
    with (
        opened(tmp_path, stub_values(stub)) as first,
        opened(tmp_path, stub_values(stub)) as second,
    ):
        one, other = first.flask().test_client(), second.flask().test_client()
        data_of(one.post("/api/notes", json={"title": "redis pool"}), 201)
        assert ids_of(other.get("/api/search?q=redis")) == [1]
        data_of(other.post("/api/notes", json={"title": "redis cache"}), 201)
        data_of(other.patch("/api/notes/1", json={"title": "kafka lag"}))
        assert ids_of(one.get("/api/search?q=redis")) == [2]
        assert data_of(one.get("/api/search?q=kafka"))[0]["title"] == "kafka lag"
        data_of(one.delete("/api/notes/2"))
        assert ids_of(other.get("/api/search?q=redis")) == []
        assert ids_of(other.get("/api/notes")) == ids_of(one.get("/api/notes")) == [1]


# 19


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
@pytest.mark.parametrize(("method", "path"), [("GET", "/api/notes"), ("POST", "/api/queue/cancel")])
def test_19_no_page_of_another_site_reads_or_writes(
    reader: FlaskClient, origin: str, method: str, path: str
) -> None:
    response = reader.open(path, method=method, headers={"Origin": origin})
    error_of(response, 403, "foreign_origin")
    assert "Access-Control-Allow-Origin" not in response.headers


def test_19_preflights_name_every_method(reader: FlaskClient) -> None:
    headers = {"Origin": "http://localhost:5173", "Access-Control-Request-Method": "DELETE"}
    allowed = reader.options("/api/notes/1", headers=headers).headers[
        "Access-Control-Allow-Methods"
    ]
    used = {route.method for route in ROUTES}
    assert used <= set(allowed.split(","))


# 20 to 22


def test_20_words_of_the_provider_and_keys_stay_inside(tmp_path: Path) -> None:
    words, key = "quota of account 4711 exceeded", "sk-secret-of-this-test"
    with (
        StubProvider(usual=behaviours.status(400, words=words)) as stub,
        opened(tmp_path, stub_values(stub, api_key=key)) as built,
    ):
        client = built.flask().test_client()
        for response in (
            client.get("/api/search?q=x"),
            client.post("/api/notes", json={"title": "a"}),
            client.post("/api/notes/1/embed"),
            client.get("/api/notes/1"),
            client.get("/api/ready"),
            client.get("/api/config"),
        ):
            text = response.get_data(as_text=True)
            assert words not in text
            assert key not in text


def test_21_an_outage_blocks_a_search_no_longer_than_was_set(tmp_path: Path) -> None:
    with (
        StubProvider(usual=behaviours.delayed(20)) as stub,
        opened(tmp_path, stub_values(stub, timeout="0.2", retries="5")) as built,
    ):
        sentence = error_of(built.flask().test_client().get("/api/search?q=x"), 503)
        assert "did not answer within 0.2 s" in sentence


def test_22_windows_line_ends_split_paragraphs(client: FlaskClient, provider: StubProvider) -> None:
    summary = "\r\n\r\n".join(f"Paragraph {number}. " + "word " * 60 for number in range(4))
    data_of(client.post("/api/notes", json={"title": "cos=0.9", "summary": summary}), 201)
    assert data_of(client.post("/api/notes/1/embed"))["chunks"] >= 3
    assert planted_vector("cos=0.9")[0] == 0.9
    assert all(len(text) < 1_000 for asked in provider.requests for text in asked.texts)
