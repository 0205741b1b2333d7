"""What a server has promised: which notes it must still have, and in which words.

Owns the promises. A request that was not answered may have done its work or not, but never half
of it; one that was answered has.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

GONE = None
"""The state of a note that is not there."""

State = str | None


class Ledger:
    """The states that each note may be in, by its title; a state is its summary.

    ``committed`` counts the changes of notes that a server said it had made.
    """

    def __init__(self) -> None:
        self.committed = 0
        self._possible: dict[str, frozenset[State]] = {}
        self._lock = threading.Lock()

    def attempt(self, title: str, state: State) -> None:
        """Note that a request is sent which brings a note into a state."""
        with self._lock:
            self._possible[title] = self._possible.get(title, frozenset({GONE})) | {state}

    def promised(self, title: str, state: State) -> None:
        """Note that a server said that a note is in a state."""
        with self._lock:
            self.committed += 1
            self._possible[title] = frozenset({state})

    def lost(self, stored: Mapping[str, str]) -> list[str]:
        """Tell what is not as promised; what is stored is what is promised from now on."""
        with self._lock:
            wrong = [
                f"{title}: {stored.get(title, GONE)!r} is none of {sorted(map(str, states))}"
                for title, states in self._possible.items()
                if stored.get(title, GONE) not in states
            ]
            strangers = [title for title in stored if title not in self._possible]
            wrong += [f"{title}: nobody wrote it" for title in strangers]
            self._possible = {title: frozenset({state}) for title, state in stored.items()}
        return wrong


def stored_notes(database: Path) -> dict[str, str]:
    """Read the notes of a database file, by title."""
    with closing(sqlite3.connect(database)) as connection:
        return dict(connection.execute("SELECT title, summary FROM notes"))


def halves(groups: Iterable[frozenset[str]], stored: Mapping[str, str]) -> list[str]:
    """Return what is there of groups that should be there as a whole or not at all."""
    parts = ((group, group & stored.keys()) for group in groups)
    return [
        f"{len(found)} of {len(group)} records of one import"
        for group, found in parts
        if found and found != group
    ]
