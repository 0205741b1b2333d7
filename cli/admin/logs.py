"""The server's log: one JSON object a line, on stderr.

Owns its form. What is logged is the application's business; texts of notes and queries are not.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from pythonjsonlogger.json import JsonFormatter

from cli.admin.log_files import LOG_NAME, LogFileHandler, is_stderr

# They tell of every request that they make, with its address.
_TALKATIVE = ("httpx", "httpcore", "alembic")


def log_to_stderr(level: str, folder: Path | None = None) -> None:
    """Log from now on, what is at least as severe as a level.

    Where stderr is the log file of a data folder, that file is kept from growing without end.
    """
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if folder is not None and is_stderr(folder / LOG_NAME):
        handler = LogFileHandler(folder / LOG_NAME)
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
