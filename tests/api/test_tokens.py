"""Who may call from elsewhere: tokens with scopes, made and revoked while the server runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.api.limits import MOST_CALLERS, RateLimit
from app.domain.tokens import PREFIX, SCOPE_READ, SCOPE_WRITE
from app.errors import Conflict, InvalidParameter, NotFound
from app.factory import Application
from app.maintenance.tokens import TokenKeeper
from tests.api.answers import data_of, error_of
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider

ELSEWHERE = {"server.host": "0.0.0.0"}


@pytest.fixture
def exposed(tmp_path: Path, stub: StubProvider) -> Iterator[Application]:
    """An application that other machines can reach."""
    with opened(tmp_path, stub_values(stub) | ELSEWHERE) as application:
        yield application


@pytest.fixture
def keeper(exposed: Application) -> TokenKeeper:
    return TokenKeeper(exposed.database)


@pytest.fixture
def visitor(exposed: Application) -> FlaskClient:
    return exposed.flask().test_client()


def bearing(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_nobody_gets_in_without_a_token(visitor: FlaskClient) -> None:
    error_of(visitor.get("/api/status"), 401, "missing_token")
    wrong = visitor.get("/api/status", headers=bearing(f"{PREFIX}guess"))
    error_of(wrong, 401, "missing_token")
    assert visitor.get("/api/health").status_code == 200


def test_a_reader_reads_and_does_not_write(visitor: FlaskClient, keeper: TokenKeeper) -> None:
    headers = bearing(keeper.create("laptop", SCOPE_READ))
    assert data_of(visitor.get("/api/notes", headers=headers))["total"] == 0
    refused = visitor.post("/api/notes", json={"title": "New"}, headers=headers)
    error_of(refused, 403, "insufficient_scope")
    assert data_of(visitor.get("/api/notes", headers=headers))["total"] == 0


def test_a_writer_does_both(visitor: FlaskClient, keeper: TokenKeeper) -> None:
    headers = bearing(keeper.create("ci", SCOPE_WRITE))
    assert visitor.post("/api/notes", json={"title": "新笔记"}, headers=headers).status_code == 201
    assert data_of(visitor.get("/api/notes", headers=headers))["total"] == 1


def test_a_revoked_token_stops_at_once(visitor: FlaskClient, keeper: TokenKeeper) -> None:
    headers = bearing(keeper.create("old", SCOPE_READ))
    assert visitor.get("/api/status", headers=headers).status_code == 200
    keeper.revoke("old")
    assert visitor.get("/api/status", headers=headers).status_code == 401


@pytest.mark.sqlite
def test_what_is_stored_is_not_the_token(exposed: Application, keeper: TokenKeeper) -> None:
    token = keeper.create("laptop", SCOPE_READ)
    assert exposed.database.path is not None
    stored = b"".join(
        path.read_bytes() for path in exposed.database.path.parent.glob("crystal.db*")
    )
    assert b"laptop" in stored
    assert token.encode() not in stored
    assert token not in repr(keeper.every())


def test_names_are_given_once_and_scopes_are_known(keeper: TokenKeeper) -> None:
    keeper.create("laptop", SCOPE_READ)
    with pytest.raises(Conflict, match="laptop"):
        keeper.create("laptop", SCOPE_WRITE)
    with pytest.raises(InvalidParameter, match="scope"):
        keeper.create("other", "admin")
    with pytest.raises(InvalidParameter, match="name"):
        keeper.create(" ", SCOPE_READ)
    with pytest.raises(NotFound, match="nobody"):
        keeper.revoke("nobody")


def test_on_this_machine_no_token_is_needed(client: FlaskClient) -> None:
    assert client.get("/api/status").status_code == 200


def test_every_answer_tells_browsers_to_do_nothing_with_it(client: FlaskClient) -> None:
    for path in ("/api/status", "/api/nothing", "/api/docs", "/"):
        with client.get(path) as answer:
            headers = answer.headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "no-referrer"


def test_a_bucket_fills_at_a_steady_rate() -> None:
    moment = [0.0]
    limit = RateLimit(60, clock=lambda: moment[0])
    assert [limit.wait_for("a") for _ in range(60)] == [0.0] * 60
    assert limit.wait_for("a") == pytest.approx(1.0)
    assert limit.wait_for("b") == 0.0
    moment[0] += 1.0
    assert limit.wait_for("a") == 0.0
    assert limit.wait_for("a") > 0


def test_many_callers_do_not_fill_memory() -> None:
    limit = RateLimit(60)
    for number in range(MOST_CALLERS + 100):
        limit.wait_for(str(number))
    assert len(limit._left) == MOST_CALLERS


def test_who_asks_too_often_is_told_when_to_come_back(tmp_path: Path, stub: StubProvider) -> None:
    values = stub_values(stub) | {"server.requests_per_minute": "2"}
    with opened(tmp_path, values) as application:
        client = application.flask().test_client()
        assert [client.get("/api/health").status_code for _ in range(2)] == [200, 200]
        refused = client.get("/api/health")
        error_of(refused, 429, "too_many_requests")
        assert 1 <= int(refused.headers["Retry-After"]) <= 30
