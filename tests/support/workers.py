"""The application of ``app.wsgi``, whose answers name the worker that gave them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from app.wsgi import app

WORKER = "X-Worker"


def labelled(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer a request, with the process id in a header."""

    def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
        return start_response(status, [*headers, (WORKER, str(os.getpid()))], *more)

    answer: Iterable[bytes] = app.wsgi_app(environ, start)
    return answer
