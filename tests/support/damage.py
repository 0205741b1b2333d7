"""Damage to files."""

from __future__ import annotations

from pathlib import Path


def add_noise(path: Path, statement: bytes) -> None:
    """Write a byte that is no UTF-8 into a word of a statement in the schema of a SQLite file."""
    content = path.read_bytes()
    if statement not in content:
        raise ValueError(f"{path} does not hold {statement!r}")
    verb, _, rest = statement.partition(b" ")
    path.write_bytes(content.replace(statement, verb + b" \x99" + rest[1:], 1))
