"""A stream of JSON that ends in an error when it is nested deeper than any file of worth.

Owns the counting of brackets. The parser keeps the whole path of every level, so that 100 KB of
opening brackets would take all memory; it must not get them.
"""

from __future__ import annotations

import re
from typing import BinaryIO

from app.errors import ImportFailed

DEEPEST = 100
"""Levels; the files that are read this way have six."""

_MARK = re.compile(rb'["\\\[\]{}]')


class ShallowStream:
    """Hands on what a file holds, piece by piece, as long as it is shallow."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        """Read a file; ``name`` is what an error calls it."""
        self._file = file
        self._name = name
        self._depth = 0
        self._in_text = False
        self._skips = False

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, at most so many.

        Raises:
            ImportFailed: they open a level too many.
        """
        piece = self._file.read(size)
        # A mark behind a backslash that ended the piece before is none.
        start, self._skips = int(self._skips), False
        while found := _MARK.search(piece, start):
            start = found.end()
            mark = found[0]
            if self._in_text:
                if mark == b"\\":
                    self._skips = start == len(piece)
                    start += 1
                elif mark == b'"':
                    self._in_text = False
            elif mark == b'"':
                self._in_text = True
            else:
                self._count(mark)
        return piece

    def _count(self, mark: bytes) -> None:
        if mark in b"[{":
            self._depth += 1
        elif mark in b"]}":
            self._depth -= 1
        if self._depth > DEEPEST:
            raise ImportFailed(
                f"{self._name} is damaged: it is nested more than {DEEPEST} levels deep"
            )
