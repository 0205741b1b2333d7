"""What the HTTP server itself refuses, before the application sees it, in the one error envelope.

Owns the texts. Limits are set so that the application's own refusals come first where it can
make them.
"""

from __future__ import annotations

import json
from typing import cast

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.task import ErrorTask
from waitress.utilities import Error

from app import errors

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes; the application refuses bodies from 16 MB on, and answers best once it has read them."""

LARGEST_HEAD = 256 * 1024
"""Bytes of the request line and headers; a query of 4,000 Han characters takes 36,000."""

_REFUSALS: dict[int, tuple[str, str]] = {
    413: (errors.BodyTooLarge.code, "The body is larger than 16 MB; send it in parts"),
    431: (errors.RequestError.code, "The address and headers are larger than 256 kB"),
    500: (errors.CrystalError.code, "Something went wrong on our side"),
}
_UNREADABLE = (errors.RequestError.code, "The request cannot be read")


class EnvelopeErrorTask(ErrorTask):
    """Answers what cannot be handed to the application."""

    def execute(self) -> None:
        """Write the envelope and close the connection."""
        # Such a task is made for requests with an error only.
        refusal = cast("Error", cast("HTTPRequestParser", self.request).error)
        code, text = _REFUSALS.get(refusal.code, _UNREADABLE)
        envelope = {"success": False, "error": text, "code": code}
        body = json.dumps(envelope, separators=(",", ":")).encode("ascii")
        self.status = f"{refusal.code} {refusal.reason}"
        self.response_headers = [("Content-Type", "application/json; charset=utf-8")]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class EnvelopeChannel(HTTPChannel):
    """A connection whose errors come in the envelope."""

    error_task_class = EnvelopeErrorTask
