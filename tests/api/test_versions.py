"""Edits that hold only for the version that the caller has read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from flask.testing import FlaskClient

from app.factory import Application
from tests.api.answers import data_of, error_of


def version(client: FlaskClient) -> str:
    note = data_of(client.get("/api/notes/5"))
    return str(note["updated_at"] or note["created_at"])


def patch(client: FlaskClient, **body: Any) -> Any:
    return client.patch("/api/notes/5", json=body)


def test_an_edit_of_the_version_read_goes_through(editor: FlaskClient) -> None:
    changed = data_of(patch(editor, summary="更短", if_updated_at=version(editor)))
    assert changed["summary"] == "更短"
    assert "if_updated_at" not in changed


def test_an_edit_of_an_older_version_changes_nothing(editor: FlaskClient) -> None:
    old = version(editor)
    data_of(patch(editor, summary="first"))
    message = error_of(patch(editor, summary="second", if_updated_at=old), 409, "edit_conflict")
    assert "read it again" in message
    assert data_of(editor.get("/api/notes/5"))["summary"] == "first"


def test_versions_differ_within_a_second(editor: FlaskClient) -> None:
    versions = []
    for number in range(5):
        data_of(patch(editor, summary=f"text {number}"))
        versions.append(version(editor))
    assert len(set(versions)) == len(versions)
    assert versions == sorted(versions)


def test_a_version_alone_is_no_edit(editor: FlaskClient) -> None:
    error_of(patch(editor, if_updated_at=version(editor)), 400, "invalid_body")


def test_of_many_edits_of_one_version_one_goes_through(filled: Application) -> None:
    flask = filled.flask()
    seen = version(flask.test_client())

    def edit(number: int) -> int:
        body = {"summary": f"writer {number}", "if_updated_at": seen}
        return flask.test_client().patch("/api/notes/5", json=body).status_code

    with ThreadPoolExecutor(8) as threads:
        statuses = sorted(threads.map(edit, range(8)))
    assert statuses == [200, *[409] * 7]
