"""The server that ``benchmarks.http`` measures: ``python -m benchmarks.http_server FOLDER PORT``.

As module ``benchmarks.http_server:app`` it is the application of one worker, over CRYSTAL_DATA_DIR.
"""

from __future__ import annotations

import logging
import sys
from functools import cache
from typing import Any

from waitress import serve

from app.factory import Application, build, tune_memory
from app.settings.store import load
from app.settings.values import Settings
from benchmarks.corpus import InstantEmbedder


def _application(settings: Settings) -> Application:
    tune_memory()
    application = build(settings, InstantEmbedder(settings.embedding))
    application.warm()
    return application


@cache
def _worker() -> Any:
    return _application(load()).flask()


def app(environ: dict[str, Any], start_response: Any) -> Any:
    """Answer a request, with the application made at the first."""
    return _worker()(environ, start_response)


def main() -> None:
    """Serve until the process is ended."""
    folder, port = sys.argv[1:]
    # It says for every request that waits how many do.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    settings = load({"data_dir": folder})
    serve(
        _application(settings).flask(),
        host="127.0.0.1",
        port=int(port),
        threads=settings.server.threads,
    )


if __name__ == "__main__":
    main()
