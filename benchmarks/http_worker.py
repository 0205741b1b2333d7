"""The application of one worker of gunicorn, for ``benchmarks.http``, over CRYSTAL_DATA_DIR."""

from __future__ import annotations

from app.settings.store import load
from benchmarks.http_server import application

app = application(load()).flask()
