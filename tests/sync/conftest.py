"""What tests of writes look at: every row, and notes that are stored but not embedded."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlalchemy import text

from app.db import notes, table_copy
from app.db.engine import Database
from app.domain.notes import Note
from app.factory import Application
from tests.support.provider import Asked, Behaviour, Reply, VectorFunction, fine, status

POISON = "POISON"


def dump(application: Application) -> list[str]:
    """Every row of every table."""
    return rows_of_all(application.database)


def rows_of_all(database: Database) -> list[str]:
    """Every row of every table, by table and key."""
    with database.read() as connection:
        return [
            f"{table.name}: {row}"
            for table in table_copy.tables()
            for batch in table_copy.batches(connection, table)
            for row in batch
        ]


def note_of(application: Application, note_id: int) -> Note:
    """A stored note."""
    with application.database.read() as connection:
        found = notes.get(connection, note_id)
    assert found is not None
    return found


def rows(application: Application, statement: str) -> list[tuple[object, ...]]:
    """The rows of a statement."""
    with application.database.read() as connection:
        return [tuple(row) for row in connection.execute(text(statement))]


def statuses(application: Application) -> list[str]:
    """The embedding statuses of all notes, by id."""
    return [
        str(row[0]) for row in rows(application, "SELECT embedding_status FROM notes ORDER BY id")
    ]


def chunk_texts(application: Application, note_id: int) -> list[object]:
    """The chunk texts of a note in their order."""
    statement = f"SELECT chunk_text FROM embeddings WHERE note_id = {note_id} ORDER BY chunk_index"
    return [row[0] for row in rows(application, statement)]


def take_in(application: Application, titles: Iterable[str]) -> list[int]:
    """Store notes that are not embedded yet; return their ids."""
    start = len(rows(application, "SELECT id FROM notes"))
    records = [
        record
        for number, title in enumerate(titles, start)
        for record in (
            {"type": "conversation", "external_id": f"c{number}"},
            {"type": "note", "external_id": f"n{number}", "conversation": f"c{number}",
             "title": title},
        )
    ]  # fmt: skip
    report = application.importer.import_records(records)
    assert not report.refused
    return [int(str(row[0])) for row in rows(application, "SELECT id FROM notes ORDER BY id")][
        start:
    ]


def refusing_poison(asked: Asked, vector: VectorFunction) -> Reply:
    """A provider that refuses a call for one bad text in it."""
    is_bad = any(POISON in each for each in asked.texts)
    return (status(400) if is_bad else fine)(asked, vector)


def meanwhile(deed: Callable[[], object], times: int = 1) -> Behaviour:
    """A provider during whose first calls something else happens."""
    left = [deed] * times

    def behave(asked: Asked, vector: VectorFunction) -> Reply:
        if left:
            left.pop()()
        return fine(asked, vector)

    return behave


REFUSALS = {
    "sqlite": (
        "CREATE TRIGGER refuse BEFORE INSERT ON index_changes"
        " BEGIN SELECT RAISE(ABORT, 'refused by a trigger'); END",
    ),
    "postgresql": (
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION 'refused by a trigger' USING ERRCODE = 'check_violation'; END $$",
        "CREATE TRIGGER refuse BEFORE INSERT ON index_changes EXECUTE FUNCTION refuse()",
    ),
}
CONSENTS = {
    "sqlite": ("DROP TRIGGER refuse",),
    "postgresql": ("DROP TRIGGER refuse ON index_changes", "DROP FUNCTION refuse"),
}


def refuse_changes(application: Application) -> None:
    """Make the database refuse entries of the change feed, the last thing that a write does."""
    with application.database.write() as connection:
        for statement in REFUSALS[connection.dialect.name]:
            connection.execute(text(statement))


def allow_changes(application: Application) -> None:
    """Take that back."""
    with application.database.write() as connection:
        for statement in CONSENTS[connection.dialect.name]:
            connection.execute(text(statement))
