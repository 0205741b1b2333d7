"""A built single-page app beside the API: what falls back to its page, and what never does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.errors import ConfigurationError
from tests.support.application import opened

PAGE = "<!doctype html><title>Notes</title>"
SCRIPT = "export const answer = 42;\n"
OUTSIDE = "not for you"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """A client of a server with a front end."""
    root = tmp_path_factory.mktemp("served")
    folder = root / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    (folder / "assets" / "app-1a2b.js").write_text(SCRIPT, encoding="utf-8")
    (root / "secret.txt").write_text(OUTSIDE, encoding="utf-8")
    (folder / "link.txt").symlink_to(root / "secret.txt")
    with opened(root / "data", {"server.frontend": str(folder)}) as application:
        yield application.flask().test_client()


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """A client of a server without one."""
    with opened(tmp_path_factory.mktemp("bare")) as application:
        yield application.flask().test_client()


@pytest.mark.parametrize("path", ["/", "/notes/7", "/笔记", "/index.html", "/a.b/c"])
def test_a_page_of_the_app_answers_its_one_file(client: FlaskClient, path: str) -> None:
    answer = client.get(path, buffered=True)
    assert (answer.status_code, answer.get_data(as_text=True)) == (200, PAGE)
    assert answer.headers["Cache-Control"] == "no-cache"


def test_a_file_is_served_and_kept_for_long(client: FlaskClient) -> None:
    answer = client.get("/assets/app-1a2b.js", buffered=True)
    assert answer.get_data(as_text=True) == SCRIPT
    assert answer.mimetype == "text/javascript"
    assert "immutable" in answer.headers["Cache-Control"]


def test_a_head_answers_like_a_get_without_the_page(client: FlaskClient) -> None:
    answer = client.head("/notes/7", buffered=True)
    assert (answer.status_code, answer.get_data()) == (200, b"")


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/nope", "/API/notes", "/Api"])
def test_the_api_never_falls_back(client: FlaskClient, path: str) -> None:
    answer = client.get(path, buffered=True)
    assert answer.status_code == 404
    assert answer.get_json()["code"] == "not_found"


@pytest.mark.parametrize("path", ["/apis", "/api.html", "/notes/api/7"])
def test_what_only_looks_like_the_api_falls_back(client: FlaskClient, path: str) -> None:
    answer = client.get(path, buffered=True)
    assert (answer.status_code, answer.get_data(as_text=True)) == (200, PAGE)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "path",
    ["/api", "/api/", "/api/nope", "/API/notes", "/api/queue/cancel", "/api/queue/status",
     "/api/notes/x", "/api/notes/1/embed"],
)  # fmt: skip
def test_the_api_answers_as_without_a_front_end(
    client: FlaskClient, bare: FlaskClient, method: str, path: str
) -> None:
    answers = [each.open(path, method=method, buffered=True) for each in (client, bare)]
    seen = [
        (answer.status_code, answer.headers.get("Allow"), answer.get_data()) for answer in answers
    ]
    assert seen[0] == seen[1]


def test_a_route_that_is_only_written_to_tells_the_method(client: FlaskClient) -> None:
    answer = client.get("/api/queue/cancel")
    assert (answer.status_code, answer.headers["Allow"]) == (405, "OPTIONS, POST")
    assert answer.get_json()["code"] == "method_not_allowed"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_no_other_method_falls_back(client: FlaskClient, method: str) -> None:
    answer = client.open("/notes/7", method=method)
    assert answer.status_code == 405
    assert answer.get_json()["success"] is False


@pytest.mark.parametrize(
    "path", ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/../../secret.txt", "/link.txt"]
)
def test_nothing_outside_the_folder_is_served(client: FlaskClient, path: str) -> None:
    assert OUTSIDE not in client.get(path, buffered=True).get_data(as_text=True)


def test_the_guards_hold_for_pages_too(client: FlaskClient) -> None:
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403
    assert client.get("/", headers={"Origin": "https://evil.example"}).status_code == 403


def test_the_api_still_answers(client: FlaskClient) -> None:
    assert client.get("/api/health").get_json()["success"] is True


def test_a_folder_without_a_page_is_refused(tmp_path: Path) -> None:
    with (
        opened(tmp_path / "data", {"server.frontend": str(tmp_path)}) as application,
        pytest.raises(ConfigurationError, match=r"index\.html"),
    ):
        application.flask()
