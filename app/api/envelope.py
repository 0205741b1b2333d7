"""The one success and the one error envelope.

Owns their form and their bytes: UTF-8 unescaped, compact, keys in the order given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from flask import Response

from app.errors import CrystalError

CONTENT_TYPE = "application/json; charset=utf-8"
NO_DATA = object()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a handler returns when there is more to say than the data."""

    data: Any = NO_DATA
    status: int = 200
    beside: Mapping[str, Any] = field(default_factory=dict)


def success(reply: Reply) -> Response:
    """Build the success envelope; without data there is no key for it."""
    body: dict[str, Any] = {"success": True}
    if reply.data is not NO_DATA:
        body["data"] = reply.data
    return _response(body | dict(reply.beside), reply.status)


def failure(error: CrystalError, beside: Mapping[str, Any] | None = None) -> Response:
    """Build the error envelope; details of the error are its data."""
    body: dict[str, Any] = {"success": False, "error": error.message, "code": error.code}
    if error.details is not None:
        body["data"] = dict(error.details)
    return _response(body | dict(beside or {}), error.status)


def _response(body: Mapping[str, Any], status: int) -> Response:
    return Response(encode(body), status, content_type=CONTENT_TYPE)


def encode(value: Any) -> bytes:
    """Write JSON values as every answer has them, on one line."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        # Whole numbers beyond 64 bits and named tuples, which the quick one does not write.
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8")
