"""Tells when something in a folder changes.

Owns the one place that loads the library for it. What changed is found by walking the folder anew,
so a change that is told twice, late or together with others does no harm.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from app.errors import ImportFailed
from app.importers.markdown.ignoring import RULE_FILES

QUIET_MILLISECONDS = 300
"""So long nothing more must happen before a change is told of."""

_LONGEST_MILLISECONDS = 2_000


def changes(folder: Path, stop: threading.Event) -> Iterator[None]:
    """Yield each time something changed, until stopped.

    Yields once at the beginning too, for what changed before anyone watched.

    Raises:
        ImportFailed: the folder is gone, or the system watches no more folders.
    """
    from watchfiles import watch  # noqa: PLC0415 - only who watches needs it

    is_first = True
    try:
        for found in watch(
            folder,
            watch_filter=lambda _, path: _counts(path, folder),
            debounce=_LONGEST_MILLISECONDS,
            step=QUIET_MILLISECONDS,
            stop_event=stop,
            rust_timeout=QUIET_MILLISECONDS,
            yield_on_timeout=True,
        ):
            if found or is_first:
                is_first = False
                yield
    except OSError as error:
        raise ImportFailed(f"{folder} cannot be watched: {error.strerror or error}") from error


def _counts(path: str, folder: Path) -> bool:
    """Tell whether a path is none of those that are never imported, or holds rules about them."""
    try:
        parts = Path(path).relative_to(folder).parts
    except ValueError:
        return False
    *folders, name = parts or ("",)
    is_hidden = name.startswith(".") and name not in RULE_FILES
    return not is_hidden and not any(each.startswith(".") for each in folders)
