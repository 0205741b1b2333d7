"""Many clients at once: every answer is right, and so is what remains."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from flask import Flask

from app.factory import Application
from tests.api.answers import data_of, envelope_of, ids_of
from tests.support.application import ask, opened, stub_values

THREADS = 8
STEPS = 12


def word_of(worker: int, step: int) -> str:
    """A word that one note has and no other."""
    return f"w{worker}x{step}"


def work(app: Flask, worker: int) -> dict[int, str]:
    """Create, rename, join, delete, search and list; return the words of the notes that stay."""
    client = app.test_client()
    choose = random.Random(worker)
    words: dict[int, str] = {}
    for step in range(STEPS):
        word = word_of(worker, step)
        made = envelope_of(client.post("/api/notes", json={"title": f"{word} note"}))
        assert "warnings" not in made, made
        note_id = made["data"]["id"]
        words[note_id] = word
        found = envelope_of(client.get(f"/api/search?q={word}"))
        assert [row["note_id"] for row in found["data"]][:1] == [note_id], (made, found)
        other = choose.choice(sorted(words))
        action = choose.randrange(5)
        if action == 0:
            words[other] = f"{words[other]}r{step}"
            data_of(client.patch(f"/api/notes/{other}", json={"title": f"{words[other]} new"}))
            row = data_of(client.get(f"/api/search?q={words[other]}"))[0]
            assert (row["note_id"], row["title"]) == (other, f"{words[other]} new")
        elif action == 1:
            word = words.pop(other)
            data_of(client.delete(f"/api/notes/{other}"))
            assert other not in ids_of(client.get(f"/api/search?q={word}"))
        elif action == 2 and other != note_id:
            body = {"target_note_id": other, "relation_type": "EXTENDS"}
            data_of(client.post(f"/api/notes/{note_id}/relations", json=body), 201)
        elif action == 3:
            data_of(client.post(f"/api/notes/{other}/embed"))
            data_of(client.post("/api/embeddings/batch"))
        page = data_of(client.get("/api/notes?limit=100"))
        assert len(page["items"]) == min(page["total"], 100)
        assert data_of(client.get("/api/tags")) == []
    return words


def test_mixed_reads_and_writes(stub: Any, tmp_path: Any) -> None:
    # As many tries as by default: this is about our side of a busy machine.
    values = stub_values(stub, retries="2")
    with opened(tmp_path, values) as built:
        app = built.flask()
        with ThreadPoolExecutor(THREADS) as pool:
            words = {
                note_id: word
                for part in pool.map(lambda worker: work(app, worker), range(THREADS))
                for note_id, word in part.items()
            }
        check(built, words)
    with opened(tmp_path, values) as again:
        check(again, words)


def check(application: Application, words: dict[int, str]) -> None:
    """Every note is embedded once, counted once, and found by its word."""
    client = application.flask().test_client()
    status = data_of(client.get("/api/status"))
    assert status["stats"]["totalNotes"] == status["stats"]["totalConversations"] == len(words)
    assert status["embedding"]["notes"] == {"done": len(words)}
    shown: list[int] = []
    while page := data_of(client.get(f"/api/notes?limit=7&offset={len(shown)}"))["items"]:
        shown += [note["id"] for note in page]
    assert sorted(shown) == sorted(words)
    for note_id, word in words.items():
        assert ids_of(client.get(f"/api/search?q={word}"))[0] == note_id
    ready = data_of(client.get("/api/ready"))
    with application.database.read() as connection:
        counts = connection.exec_driver_sql(
            "SELECT count(*), count(DISTINCT note_id), count(DISTINCT id) FROM embeddings"
        ).one()
        edges = connection.exec_driver_sql("SELECT count(*) FROM note_relations").scalar_one()
    assert tuple(counts) == (len(words),) * 3
    assert ready["index"]["vectors"] == len(words)
    graph = data_of(client.get("/api/relations/graph"))
    assert (len(graph["nodes"]), len(graph["edges"])) == (len(words), edges)


def test_readers_see_whole_states(stub: Any, tmp_path: Any) -> None:
    """A page, its total and the ids of an answer belong to one moment, whatever is written."""
    with opened(tmp_path, stub_values(stub)) as built:
        app = built.flask()

        def write() -> None:
            client = app.test_client()
            for number in range(30):
                made = data_of(client.post("/api/notes", json={"title": f"pool {number}"}), 201)
                if number % 3 == 0:
                    data_of(client.delete(f"/api/notes/{made['id']}"))

        def read(_: int) -> None:
            client = app.test_client()
            for _step in range(30):
                page = data_of(client.get("/api/notes?limit=100"))
                assert page["total"] == len(page["items"])
                envelope = envelope_of(client.get("/api/search?q=pool&limit=50&explain=true"))
                assert len(envelope["data"]) == envelope["explain"]["searched_chunks"]

        with ThreadPoolExecutor(THREADS) as pool:
            writer = pool.submit(write)
            list(pool.map(read, range(THREADS - 1)))
            writer.result()
        assert len(ask(built, "pool", limit=50).found) == 20
