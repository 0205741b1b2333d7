"""Ids that are given by us and not by the database, as an import does to keep those it reads.

Owns what a table's counter must know of them: no id is ever given twice.
"""

from __future__ import annotations

from sqlalchemy import Connection, Table, column, delete, func, insert, select, table

from app.db.models import metadata, note_relations, notes, tags

_TABLES = {"notes": notes, "tags": tags, "relations": note_relations}
_SQLITE_COUNTERS = table("sqlite_sequence", column("name"), column("seq"))


def counted_tables() -> tuple[Table, ...]:
    """Return the tables whose ids the database gives."""
    return tuple(
        each for each in metadata.sorted_tables if each.dialect_options["sqlite"]["autoincrement"]
    )


def highest(connection: Connection, kind: str) -> int:
    """Return the highest id that was ever given to notes, tags or relations; 0 for none."""
    return last_given(connection, _TABLES[kind])


def last_given(connection: Connection, counted: Table) -> int:
    """Return the highest id that was ever given to rows of a table; 0 for none."""
    if connection.dialect.name == "sqlite":
        statement = select(_SQLITE_COUNTERS.c.seq).where(_SQLITE_COUNTERS.c.name == counted.name)
    else:
        sequence = func.pg_get_serial_sequence(counted.name, "id")
        statement = select(func.pg_sequence_last_value(sequence))
    return connection.execute(statement).scalar() or 0


def raise_to(connection: Connection, kind: str, given: int) -> None:
    """Let a table give only higher ids from now on; SQLite sees to that by itself."""
    if connection.dialect.name != "sqlite":
        set_last(connection, _TABLES[kind], given)


def set_last(connection: Connection, counted: Table, given: int) -> None:
    """Have a table continue after an id, 0 for one that never gave any."""
    if connection.dialect.name == "sqlite":
        name = counted.name
        connection.execute(delete(_SQLITE_COUNTERS).where(_SQLITE_COUNTERS.c.name == name))
        connection.execute(insert(_SQLITE_COUNTERS).values(name=name, seq=given))
    elif given:
        sequence = func.pg_get_serial_sequence(counted.name, "id")
        connection.execute(select(func.setval(sequence, given)))
