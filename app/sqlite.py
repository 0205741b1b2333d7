"""What Python's driver of SQLite leaves to whoever uses it.

Owns one fault: a message of SQLite that quotes a damaged schema may be no UTF-8, and the driver
raises ``UnicodeDecodeError`` then in the place of its own error (seen with CPython 3.11).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

_MESSAGE = b"malformed database schema"


class DamagedSchema(sqlite3.DatabaseError):
    """The schema of a file is damaged, and so are the names that SQLite says it by."""


@contextmanager
def readable_errors() -> Iterator[None]:
    """Raise what SQLite says of a damaged schema as an error of the driver, whatever it quotes.

    Raises:
        DamagedSchema: with what can be read of the message, in one line.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        if not error.object.startswith(_MESSAGE):
            raise
        message = error.object.decode("utf-8", "replace")
        raise DamagedSchema(" ".join(message.split())) from error
