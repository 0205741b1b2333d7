"""The server's log: one JSON object a line, on stderr.

Owns its form. What is logged is the application's business; texts of notes and queries are not.
"""

from __future__ import annotations

import logging
import sys

from pythonjsonlogger.json import JsonFormatter

# They tell of every request that they make, with its address.
_TALKATIVE = ("httpx", "httpcore", "alembic")


def log_to_stderr(level: str) -> None:
    """Log from now on, what is at least as severe as a level."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        JsonFormatter(
            ("levelname", "name", "message"),
            rename_fields={"levelname": "level", "name": "logger"},
            timestamp=True,
            json_ensure_ascii=False,
        )
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)
