"""Turns errors into HTTP answers; the only place that does.

Owns the mapping of Flask's own errors to our tree. Must not decide what is an error.
"""

from __future__ import annotations

import logging

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge

from app import errors
from app.api.envelope import failure

_log = logging.getLogger(__name__)


def register(app: Flask) -> None:
    """Make every error of the application leave in the envelope."""
    app.register_error_handler(errors.CrystalError, failure)
    app.register_error_handler(errors.TooManyRequests, _too_many)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _unexpected)


def _http_error(error: HTTPException) -> Response:
    if isinstance(error, MethodNotAllowed):
        allowed = ", ".join(sorted(error.valid_methods or ()))
        answer = failure(
            errors.MethodNotAllowed(f"{request.method} is not allowed here; use {allowed}")
        )
        answer.headers["Allow"] = allowed
        return answer
    if isinstance(error, RequestEntityTooLarge):
        return failure(errors.BodyTooLarge("The body is larger than 16 MB; send it in parts"))
    if error.code == errors.NotFound.status:
        return failure(errors.NotFound("Not Found"))
    return failure(errors.RequestError("The request cannot be read"))


def _too_many(error: errors.TooManyRequests) -> Response:
    answer = failure(error)
    answer.headers["Retry-After"] = str(error.seconds)
    return answer


def _unexpected(error: Exception) -> Response:
    # The class and place are logged; messages may hold a note's text.
    _log.error("unexpected fault", exc_info=error)
    return failure(errors.CrystalError())
