"""The server that ``benchmarks.http`` measures: ``benchmarks.http_server FOLDER PORT``."""

from __future__ import annotations

import logging
import sys

from waitress import serve

from app.factory import Application, build, tune_memory
from app.settings.store import load
from app.settings.values import Settings
from benchmarks.corpus import InstantEmbedder


def application(settings: Settings) -> Application:
    """Make the application as ``crystal serve`` does, with a provider that answers at once."""
    tune_memory()
    made = build(settings, InstantEmbedder(settings.embedding))
    made.warm()
    return made


def main() -> None:
    """Serve until the process is ended."""
    folder, port = sys.argv[1:]
    # It says for every request that waits how many do.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    settings = load({"data_dir": folder})
    serve(
        application(settings).flask(),
        host="127.0.0.1",
        port=int(port),
        threads=settings.server.threads,
    )


if __name__ == "__main__":
    main()
