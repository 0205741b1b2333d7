"""Ids that are given by us and not by the database, as an import does to keep those it reads.

Owns what a table's counter must know of them: no id is ever given twice.
"""

from __future__ import annotations

from sqlalchemy import Connection, column, func, select, table

from app.db.models import note_relations, notes, tags

_TABLES = {"notes": notes, "tags": tags, "relations": note_relations}
_SQLITE_COUNTERS = table("sqlite_sequence", column("name"), column("seq"))


def highest(connection: Connection, kind: str) -> int:
    """Return the highest id that was ever given to notes, tags or relations; 0 for none."""
    name = _TABLES[kind].name
    if connection.dialect.name == "sqlite":
        statement = select(_SQLITE_COUNTERS.c.seq).where(_SQLITE_COUNTERS.c.name == name)
    else:
        statement = select(func.pg_sequence_last_value(func.pg_get_serial_sequence(name, "id")))
    return connection.execute(statement).scalar() or 0


def raise_to(connection: Connection, kind: str, given: int) -> None:
    """Let a table give only higher ids from now on; SQLite sees to that by itself."""
    if connection.dialect.name != "sqlite":
        name = _TABLES[kind].name
        connection.execute(select(func.setval(func.pg_get_serial_sequence(name, "id"), given)))
