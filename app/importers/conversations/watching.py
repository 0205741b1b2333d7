"""Tells when tools have written something.

Owns the watching of folders. Must not read what was written.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.errors import ImportFailed

QUIET_MILLISECONDS = 1_000
"""So long nothing more must happen before a change is told of: tools write line by line."""

_LONGEST_MILLISECONDS = 10_000


def changes(folders: Sequence[Path], stop: threading.Event) -> Iterator[None]:
    """Yield after each change below some folders, until stopped, also by Ctrl-C.

    Yields once at the beginning too, for what changed before anyone watched. Folders that do not
    exist are left out.

    Raises:
        ImportFailed: none exists, or they cannot be watched.
    """
    from watchfiles import watch  # noqa: PLC0415 - only who watches needs it

    existing = [folder for folder in folders if folder.exists()]
    if not existing:
        raise ImportFailed("No tool keeps conversations here: there is no folder to watch")
    is_first = True
    try:
        for found in watch(
            *existing,
            watch_filter=None,
            debounce=_LONGEST_MILLISECONDS,
            step=QUIET_MILLISECONDS,
            stop_event=stop,
            rust_timeout=QUIET_MILLISECONDS,
            yield_on_timeout=True,
            raise_interrupt=False,
        ):
            if found or is_first:
                is_first = False
                yield
    except OSError as error:
        reason = error.strerror or error
        raise ImportFailed(f"The folders of the tools cannot be watched: {reason}") from error
