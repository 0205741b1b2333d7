"""What every answer of the API must look like, whatever it says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import orjson
from werkzeug.test import TestResponse

JSON = "application/json; charset=utf-8"

_CODE = re.compile(r"[a-z]+(_[a-z]+)*")
_LEAKS = ("Traceback", 'File "', "SELECT ", "INSERT ", "sqlite3", "sqlalchemy", "no such table")


def envelope_of(response: TestResponse) -> dict[str, Any]:
    """The parsed body of an answer, after its form was checked."""
    assert response.headers["Content-Type"] == JSON
    text = response.get_data().decode("utf-8")
    envelope: dict[str, Any] = json.loads(text)
    assert text == orjson.dumps(envelope).decode("utf-8")
    assert int(response.headers["Content-Length"]) == len(response.get_data())
    assert envelope["success"] is (response.status_code < 400)
    if envelope["success"]:
        assert set(envelope) <= {"success", "data", "warnings", "explain"}
        return envelope
    # Readiness says of an unready server what does work.
    assert set(envelope) - {"data"} == {"success", "error", "code"}
    assert _CODE.fullmatch(envelope["code"])
    assert isinstance(envelope["error"], str) and envelope["error"].strip()
    assert not [leak for leak in _LEAKS if leak in text]
    return envelope


def data_of(response: TestResponse, status: int = 200) -> Any:
    """The data of a success, None where there is none to tell."""
    envelope = envelope_of(response)
    assert response.status_code == status, envelope
    return envelope.get("data")


def error_of(response: TestResponse, status: int, code: str | None = None) -> str:
    """The sentence of an error with this status and, when given, this code."""
    envelope = envelope_of(response)
    assert response.status_code == status, envelope
    if code is not None:
        assert envelope["code"] == code
    assert isinstance(envelope["error"], str)
    return envelope["error"]


def ids_of(response: TestResponse) -> list[int]:
    """The note ids of a page or of an answer to a search, in its order."""
    data = data_of(response)
    if isinstance(data, dict):
        return [item["id"] for item in data["items"]]
    return [item["note_id"] for item in data]


def json_lines(records: Iterable[Any]) -> bytes:
    """The body of an import."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def keys_in(names: str) -> list[str]:
    """The names in a text, in their order."""
    return names.split()
