"""Server-sent events of the embedding queue."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.api.streams import HEARTBEAT, MOST_LISTENERS, Listeners, most_listeners, progress_events
from app.errors import Unavailable
from app.factory import Application
from tests.api.answers import data_of, error_of
from tests.api.library import import_library

PATH = "/api/queue/stream"


def listen(client: FlaskClient) -> TestResponse:
    """Open a stream and read nothing of it yet."""
    response = client.get(PATH, buffered=False)
    assert response.status_code == 200
    return response


def state_of(event: bytes) -> Any:
    """What an event says."""
    assert event.startswith(b"data: ") and event.endswith(b"\n\n")
    assert event.count(b"\n") == 2
    return json.loads(event.removeprefix(b"data: "))


def test_headers(client: FlaskClient) -> None:
    with listen(client) as response:
        assert response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert "Content-Length" not in response.headers


def test_the_state_comes_at_once(client: FlaskClient) -> None:
    with listen(client) as response:
        first = next(response.iter_encoded())
        assert state_of(first) == data_of(client.get("/api/queue/status"))


def test_every_change_comes(client: FlaskClient) -> None:
    import_library(client)
    with listen(client) as response:
        events = response.iter_encoded()
        assert state_of(next(events))["total"] == 0
        data_of(client.post("/api/embeddings/batch"))
        seen = [state_of(next(events))]
        while seen[-1]["active"]:
            seen.append(state_of(next(events)))
    assert seen[-1] == data_of(client.get("/api/queue/status"))
    assert seen[-1]["completed"] == 12
    assert [state["completed"] for state in seen] == sorted(state["completed"] for state in seen)
    assert "数据库连接池耗尽" in [task["title"] for task in seen[-1]["tasks"]]


def test_texts_are_not_escaped(client: FlaskClient) -> None:
    import_library(client)
    data_of(client.post("/api/embeddings/batch"))
    with listen(client) as response:
        assert "数据库连接池耗尽".encode() in next(response.iter_encoded())


def test_a_few_may_listen(client: FlaskClient) -> None:
    streams = [listen(client) for _ in range(MOST_LISTENERS)]
    sentence = error_of(client.get(PATH), 503, "unavailable")
    assert f"{MOST_LISTENERS} clients" in sentence
    assert client.head(PATH).status_code == 503
    data_of(client.get("/api/queue/status"))
    streams[3].close()
    streams[3].close()
    streams.append(listen(client))
    error_of(client.get(PATH), 503, "unavailable")
    for stream in streams:
        stream.close()
    listen(client).close()


def test_a_client_that_leaves_in_between_makes_room(client: FlaskClient) -> None:
    for _ in range(MOST_LISTENERS + 1):
        with listen(client) as response:
            next(response.iter_encoded())


def test_head_takes_no_place(client: FlaskClient) -> None:
    for _ in range(MOST_LISTENERS + 1):
        response = client.head(PATH)
        assert response.status_code == 200
        assert response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert response.get_data() == b""


def test_every_application_counts_its_own(client: FlaskClient, editor: FlaskClient) -> None:
    streams = [listen(client) for _ in range(MOST_LISTENERS)]
    streams.append(listen(editor))
    for stream in streams:
        stream.close()


def test_places_are_given_back_once() -> None:
    listeners = Listeners()
    first = listeners.enter(2)
    listeners.enter(2)
    first()
    first()
    listeners.enter(2)
    with pytest.raises(Unavailable, match="more than 2 clients"):
        listeners.enter(2)


@pytest.mark.parametrize(("threads", "most"), [(1, 0), (2, 1), (4, 2), (16, 8), (256, 8)])
def test_streams_leave_threads_for_others(threads: int, most: int) -> None:
    assert most_listeners(threads) == most


def test_heartbeats_fill_the_silence(application: Application) -> None:
    events = progress_events(application.queue, heartbeat=0.01)
    assert state_of(next(events))["total"] == 0
    assert [next(events) for _ in range(3)] == [HEARTBEAT] * 3
    application.queue.submit({1: "a"})
    rest = (event for event in events if event != HEARTBEAT)
    assert state_of(next(rest))["total"] == 1


def is_comment(event: bytes) -> bool:
    """Tell whether clients pass over an event, by the standard of server-sent events."""
    return event.startswith(b":") and event.endswith(b"\n\n")


def test_a_heartbeat_is_a_comment() -> None:
    assert is_comment(HEARTBEAT)


def test_a_stream_ends_by_itself(application: Application) -> None:
    events = list(progress_events(application.queue, heartbeat=0.02, longest=0.05))
    assert state_of(events[0])["total"] == 0
    assert 1 < len(events) < 10
    assert all(map(is_comment, events[1:]))


def test_a_stream_ends_with_its_queue(application: Application) -> None:
    events: Iterator[bytes] = progress_events(application.queue, heartbeat=30)
    next(events)
    application.queue.close()
    assert len(list(islice(events, 3))) <= 1
    assert list(islice(progress_events(application.queue, heartbeat=30), 1)) == []
