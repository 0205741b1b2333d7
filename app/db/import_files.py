"""Queries on the files of tools that were read."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, insert, select

from app.db.models import conversations, import_files


def states(connection: Connection, source: str) -> dict[str, str]:
    """Return the state in which each file of a source was read, by path."""
    columns = import_files.c
    rows = connection.execute(select(columns.path, columns.state).where(columns.source == source))
    return {row[0]: row[1] for row in rows}


def remember(connection: Connection, source: str, path: str, state: str) -> None:
    """Store the state in which a file was read."""
    connection.execute(delete(import_files).where(import_files.c.path == path))
    row = {"path": path, "source": source, "state": state}
    connection.execute(insert(import_files).values(row))


def counts(connection: Connection, source: str) -> dict[str, int]:
    """Return how many stored conversations came of each file of a source."""
    columns = conversations.c
    rows = connection.execute(
        select(columns.file_path, func.count())
        .where(columns.source == source)
        .group_by(columns.file_path)
    )
    return {row[0]: row[1] for row in rows}
