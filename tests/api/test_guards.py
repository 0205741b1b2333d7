"""Who may call: host names, origins, tokens, and the headers that browsers ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient
from werkzeug.test import EnvironBuilder, run_wsgi_app

from tests.api.answers import data_of, error_of
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider

TOKEN = "tökèn-of-this-test"

CALLS = [
    ("GET", "/api/notes"),
    ("POST", "/api/queue/cancel"),
    ("PATCH", "/api/notes/1"),
    ("DELETE", "/api/notes/999"),
    ("OPTIONS", "/api/notes"),
    ("GET", "/api/health"),
    ("GET", "/api/nope"),
]


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:3721", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:1", "[::1]:3721"],
)
def test_own_names(reader: FlaskClient, host: str) -> None:
    data_of(reader.get("/api/notes", headers={"Host": host}))


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:3721",
        "localhost.evil.example",
        "evil-localhost",
        "localhost.",
        "127.0.0.1.nip.io",
        "127.0.0.2",
        "0.0.0.0:3721",
        "[::2]:3721",
        "[::1",
        "::1",
        "localhost:80:80",
        "localhost:abc",
        "localhost:８０",
        "user@localhost",
        "localhost/",
        "local host",
        ":3721",
        "",
    ],
)
@pytest.mark.parametrize(("method", "path"), CALLS)
def test_names_of_others(reader: FlaskClient, method: str, path: str, host: str) -> None:
    """A page of evil.example may make its name resolve to this machine (DNS rebinding)."""
    response = reader.open(path, method=method, environ_overrides={"HTTP_HOST": host})
    assert "server.allowed_hosts" in error_of(response, 403, "foreign_host")


def test_no_name_at_all(reader: FlaskClient) -> None:
    environ = EnvironBuilder("/api/notes").get_environ()
    del environ["HTTP_HOST"]
    content, status, _ = run_wsgi_app(reader.application, environ)
    assert status == "403 FORBIDDEN"
    assert b"foreign_host" in b"".join(content)


LISTED = [
    "http://localhost",
    "http://localhost:5173",
    "http://LOCALHOST:5173",
    "http://127.0.0.1:3721",
    "http://[::1]:8080",
]
FOREIGN = [
    "http://evil.example",
    "https://localhost:5173",
    "http://localhost.evil.example",
    "http://localhost:5173.evil.example",
    "http://localhost:",
    "http://localhost:80/",
    "http://evil.example#http://localhost",
    "http://evil.example, http://localhost",
    "http://localhost@evil.example",
    "http://xlocalhost:80",
    "file://",
    "null",
    "",
]


@pytest.mark.parametrize("origin", LISTED)
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/notes", 200),
        ("GET", "/api/notes/999", 404),
        ("POST", "/api/queue/cancel", 200),
        ("POST", "/api/notes", 415),
        ("PUT", "/api/notes", 405),
    ],
)
def test_listed_origins(
    reader: FlaskClient, origin: str, method: str, path: str, status: int
) -> None:
    headers = {"Origin": origin, "Sec-Fetch-Site": "cross-site"}
    response = reader.open(path, method=method, headers=headers)
    assert response.status_code == status
    assert response.headers["Access-Control-Allow-Origin"] == origin
    assert response.headers["Vary"] == "Origin"
    assert "Access-Control-Allow-Credentials" not in response.headers


@pytest.mark.parametrize("origin", FOREIGN)
@pytest.mark.parametrize(("method", "path"), CALLS)
def test_foreign_origins(reader: FlaskClient, method: str, path: str, origin: str) -> None:
    response = reader.open(path, method=method, headers={"Origin": origin})
    assert "server.allowed_origins" in error_of(response, 403, "foreign_origin")
    assert not [name for name, _ in response.headers if name.startswith("Access-Control")]
    assert response.headers["Vary"] == "Origin"


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_requests_from_another_site(reader: FlaskClient, method: str, path: str) -> None:
    response = reader.open(path, method=method, headers={"Sec-Fetch-Site": "cross-site"})
    error_of(response, 403, "foreign_origin")


@pytest.mark.parametrize("site", ["same-origin", "same-site", "none"])
def test_requests_from_this_site(reader: FlaskClient, site: str) -> None:
    data_of(reader.get("/api/notes", headers={"Sec-Fetch-Site": site}))


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    ],
    ids=["origin", "sandbox", "site"],
)
def test_forms_of_other_pages_change_nothing(editor: FlaskClient, headers: dict[str, str]) -> None:
    """No browser asks before it sends these; CORS only keeps the answer from the page."""
    for media_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        for path in ("/api/notes", "/api/notes/1/embed", "/api/queue/cancel", "/api/import"):
            response = editor.post(
                path, data=b'{"title":"x"}', headers=headers, content_type=media_type
            )
            error_of(response, 403, "foreign_origin")
    assert data_of(editor.get("/api/notes"))["total"] == 12


def test_plain_text_of_a_listed_page_is_no_json(reader: FlaskClient) -> None:
    response = reader.post(
        "/api/notes",
        data=b'{"title":"x"}',
        headers={"Origin": "http://localhost:5173"},
        content_type="text/plain",
    )
    error_of(response, 415, "unsupported_media_type")


@pytest.mark.parametrize("path", ["/api/notes", "/api/notes/1", "/api/import", "/api/nope"])
@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
def test_preflight(reader: FlaskClient, path: str, method: str) -> None:
    response = reader.options(
        path,
        headers={
            "Origin": "http://localhost:5173",
            "Access-Control-Request-Method": method,
            "Access-Control-Request-Headers": "content-type,authorization",
        },
    )
    assert response.status_code == 204
    assert response.get_data() == b""
    headers = response.headers
    assert headers["Access-Control-Allow-Origin"] == "http://localhost:5173"
    assert method in headers["Access-Control-Allow-Methods"].split(",")
    assert headers["Access-Control-Allow-Headers"] == "content-type,authorization"
    assert headers["Vary"] == "Origin, Access-Control-Request-Headers"
    assert int(headers["Access-Control-Max-Age"]) > 0
    assert "Content-Type" not in headers


def test_preflight_without_headers(reader: FlaskClient) -> None:
    headers = {"Origin": "http://localhost", "Access-Control-Request-Method": "DELETE"}
    response = reader.options("/api/notes/1", headers=headers)
    assert response.status_code == 204
    assert "Access-Control-Allow-Headers" not in response.headers


def test_no_origin_no_permission(reader: FlaskClient) -> None:
    response = reader.get("/api/notes")
    assert not [name for name, _ in response.headers if name.startswith("Access-Control")]
    assert response.headers["Vary"] == "Origin"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """A client of a server with a token and with names and origins of its own."""
    own = {
        "server.api_token": TOKEN,
        "server.allowed_hosts": "localhost, Notes.Example",
        "server.allowed_origins": "https://app.example, http://dev.example:*",
    }
    folder = tmp_path_factory.mktemp("guarded")
    with StubProvider() as stub, opened(folder, stub_values(stub) | own) as built:
        yield built.flask().test_client()


def bearer(token: str, scheme: str = "Bearer") -> dict[str, str]:
    """The header with which a token is sent, in bytes as they travel."""
    return {"HTTP_AUTHORIZATION": f"{scheme} {token}".encode().decode("latin-1")}


@pytest.mark.parametrize(("method", "path"), [*CALLS[:4], ("GET", "/api/nope")])
def test_without_the_token(guarded: FlaskClient, method: str, path: str) -> None:
    for environ in ({}, bearer(""), bearer("other"), bearer(TOKEN[:-1]), bearer(TOKEN, "Basic")):
        response = guarded.open(path, method=method, environ_overrides=environ)
        assert "Authorization: Bearer" in error_of(response, 401, "missing_token")
        assert TOKEN not in response.get_data(as_text=True)
        assert response.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_with_the_token(guarded: FlaskClient, scheme: str) -> None:
    data_of(guarded.get("/api/notes", environ_overrides=bearer(TOKEN, scheme)))
    data_of(guarded.post("/api/queue/cancel", environ_overrides=bearer(TOKEN, scheme)))


@pytest.mark.parametrize("path", ["/api/notes?token=" + TOKEN, "/api/notes?access_token=" + TOKEN])
def test_the_token_is_a_header(guarded: FlaskClient, path: str) -> None:
    error_of(guarded.get(path), 401, "missing_token")


def test_bare_token(guarded: FlaskClient) -> None:
    environ = {"HTTP_AUTHORIZATION": TOKEN.encode().decode("latin-1")}
    error_of(guarded.get("/api/notes", environ_overrides=environ), 401, "missing_token")


def test_health_is_open(guarded: FlaskClient) -> None:
    data_of(guarded.get("/api/health"))
    assert guarded.head("/api/health").status_code == 200
    error_of(guarded.get("/api/ready"), 401, "missing_token")
    error_of(guarded.get("/api/health/"), 401, "missing_token")


def test_preflights_carry_no_token(guarded: FlaskClient) -> None:
    headers = {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"}
    assert guarded.options("/api/notes", headers=headers).status_code == 204


def test_a_refused_page_can_read_why(guarded: FlaskClient) -> None:
    response = guarded.get("/api/notes", headers={"Origin": "https://app.example"})
    error_of(response, 401, "missing_token")
    assert response.headers["Access-Control-Allow-Origin"] == "https://app.example"


@pytest.mark.parametrize(
    ("origin", "is_listed"),
    [
        ("https://app.example", True),
        ("http://dev.example", True),
        ("http://dev.example:8080", True),
        ("https://app.example:444", False),
        ("http://app.example", False),
        ("http://dev.example.evil", False),
        ("http://devxexample:80", False),
        ("http://localhost:5173", False),
    ],
)
def test_configured_origins(guarded: FlaskClient, origin: str, is_listed: bool) -> None:
    response = guarded.get("/api/health", headers={"Origin": origin})
    assert response.status_code == (200 if is_listed else 403)


@pytest.mark.parametrize(
    ("host", "status"), [("notes.example:443", 200), ("NOTES.example", 200), ("127.0.0.1", 403)]
)
def test_configured_hosts(guarded: FlaskClient, host: str, status: int) -> None:
    assert guarded.get("/api/health", headers={"Host": host}).status_code == status


def test_a_foreign_page_learns_nothing_of_the_token(guarded: FlaskClient) -> None:
    response = guarded.get(
        "/api/notes", headers={"Origin": "http://evil.example"}, environ_overrides=bearer(TOKEN)
    )
    error_of(response, 403, "foreign_origin")
