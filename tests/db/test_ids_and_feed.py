"""Long lists of ids, ids that are never given twice, and the numbering of the change feed."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, text

from app.db import changes, chunks, notes, tags
from app.db.engine import ROWS_AT_ONCE, Database
from app.db.idlist import in_ids
from app.db.models import notes as note_table
from app.domain.changes import CHANGED_VECTOR, OPERATION_ADD, Change
from tests.db.conftest import add_notes, add_space, chunk_row
from tests.support.application import recorded_statements

MANY = 50_000


@pytest.fixture(scope="module")
def ten(shared: Database) -> Database:
    """A database with the notes 1 to 10."""
    with shared.write() as connection:
        add_notes(connection, [{"title": f"note {number}"} for number in range(1, 11)])
    return shared


@given(ids=st.lists(st.integers(-3, 13) | st.integers(-(2**63), 2**63 - 1), max_size=30))
def test_in_ids_is_membership(ten: Database, ids: list[int]) -> None:
    with ten.read() as connection:
        found = connection.execute(select(note_table.c.id).where(in_ids(note_table.c.id, ids)))
        assert sorted(found.scalars()) == sorted(set(ids) & set(range(1, 11)))


def test_fifty_thousand_ids_are_one_parameter(ten: Database) -> None:
    ids = range(5, MANY + 5)
    with ten.read() as connection:
        assert notes.exists(connection, ids) == {5, 6, 7, 8, 9, 10}
        assert [note.id for note in notes.get_many(connection, ids)] == [5, 6, 7, 8, 9, 10]
        assert set(notes.details(connection, ids, ("summary",))) == {5, 6, 7, 8, 9, 10}
        assert chunks.rows(connection, ids) == []
        assert len(chunks.vectors(connection, ids, 1).ids) == 0


def test_chunks_get_their_ids_in_the_order_given(database: Database) -> None:
    """More rows than the driver sends at once."""
    with database.write() as connection:
        add_notes(connection, [{}])
        add_space(connection)
        added = chunks.add(connection, [chunk_row(1, index) for index in range(2_500)])
        ids = [row.id for row in added]
        assert ids == sorted(ids)
        stored = {row.chunk_id: row.chunk_index for row in chunks.rows(connection, ids)}
    assert [stored[chunk_id] for chunk_id in ids] == list(range(2_500))


@pytest.mark.sqlite
def test_no_statement_has_more_than_some_rows(database: Database) -> None:
    """A connection keeps each number of rows as a statement of its own."""
    with database.write() as connection, recorded_statements(database) as statements:
        add_notes(connection, [{}])
        add_space(connection)
        chunks.add(connection, [chunk_row(1, index) for index in range(100)])
    rows = [each.count("(?") for each in statements if each.startswith("INSERT INTO embeddings")]
    assert rows == [ROWS_AT_ONCE, ROWS_AT_ONCE, ROWS_AT_ONCE, 4]


def entry(number: int) -> Change:
    return Change(CHANGED_VECTOR, OPERATION_ADD, number, 1, "chunk")


def numbers_after(database: Database, sequence: int) -> tuple[int, list[int]]:
    """How far the feed is, and what it says after a sequence number, in one snapshot."""
    with database.read() as connection:
        state = changes.state(connection)
        return state.sequence, [change.target_id for change in changes.since(connection, sequence)]


def test_one_transaction_is_one_number(database: Database) -> None:
    for start in (0, 3):
        with database.write() as connection:
            changes.append(connection, [entry(start + step) for step in range(3)])
    assert numbers_after(database, 0) == (2, [0, 1, 2, 3, 4, 5])
    assert numbers_after(database, 1) == (2, [3, 4, 5])
    assert numbers_after(database, 2) == (2, [])


def test_nothing_to_tell_takes_no_number(database: Database) -> None:
    with database.write() as connection:
        changes.append(connection, [])
    assert numbers_after(database, 0) == (0, [])


def test_a_number_that_was_rolled_back_is_not_skipped(database: Database) -> None:
    with pytest.raises(ValueError), database.write() as connection:
        changes.append(connection, [entry(1)])
        raise ValueError
    with database.write() as connection:
        changes.append(connection, [entry(2)])
    assert numbers_after(database, 0) == (1, [2])


def test_no_entry_is_missed_by_a_reader_who_goes_by_numbers(database: Database) -> None:
    """Writers of two processes; the reader asks again and again for what is past its number."""
    second = Database(database.engine.url)
    writers = [
        threading.Thread(target=append_many, args=(each, range(start, start + 40)))
        for each, start in ((database, 0), (second, 100))
    ]
    for writer in writers:
        writer.start()
    seen, collected = 0, []
    while True:
        is_over = not any(writer.is_alive() for writer in writers)
        sequence, fresh = numbers_after(database, seen)
        assert (sequence > seen) == bool(fresh)
        seen = sequence
        collected += fresh
        if is_over:
            break
    second.close()
    assert seen == 80
    assert sorted(collected) == [*range(40), *range(100, 140)]
    with database.read() as connection:
        stored = connection.execute(text("SELECT target_id FROM index_changes ORDER BY id"))
        assert collected == list(stored.scalars())


def append_many(database: Database, numbers: range) -> None:
    for number in numbers:
        with database.write() as connection:
            changes.append(connection, [entry(number)])


@given(sizes=st.lists(st.integers(1, 6), max_size=8), keep=st.integers(0, 12))
def test_trimming_drops_whole_transactions_and_says_up_to_which(
    shared: Database, sizes: list[int], keep: int
) -> None:
    with shared.write() as connection:
        connection.execute(text("DELETE FROM index_changes"))
        start = changes.state(connection).sequence
        for size in sizes:
            changes.append(connection, [entry(step) for step in range(size)])
        before = connection.execute(text("SELECT sequence FROM index_changes")).scalars().all()
        changes.trim(connection, keep)
        after = connection.execute(text("SELECT sequence FROM index_changes")).scalars().all()
        state = changes.state(connection)
    assert state.sequence == start + len(sizes)
    assert len(after) <= keep
    assert after == [number for number in before if number > state.trimmed_to]
    dropped = [number for number in before if number <= state.trimmed_to]
    if dropped:
        assert len(after) + dropped.count(state.trimmed_to) > keep
    else:
        assert len(before) <= keep


@pytest.mark.parametrize("table", ["notes", "embeddings", "tags", "note_relations"])
def test_ids_are_never_given_twice(database: Database, table: str) -> None:
    with database.write() as connection:
        add_space(connection)
        add_notes(connection, [{}, {}, {}])
        tags.set_of_note(connection, 1, ["a", "b", "c"])
        chunks.add(connection, [chunk_row(1, index) for index in range(3)])
        for target in (2, 3):
            connection.execute(
                text(
                    "INSERT INTO note_relations (source_note_id, target_note_id, relation_type,"
                    f" created_at) VALUES (1, {target}, 'EXTENDS', '')"
                )
            )
        newest = connection.execute(text(f"SELECT max(id) FROM {table}")).scalar_one()
        connection.execute(text(f"DELETE FROM {table} WHERE id >= {newest - 1}"))
    row = {
        "notes": "INSERT INTO notes (conversation_id, title, summary, created_at)"
        " VALUES ('conversation 3', '', '', '')",
        "embeddings": "INSERT INTO embeddings (note_id, space_id, kind, chunk_text, has_han,"
        " content_hash, created_at, vector) VALUES (1, 1, 'whole', '', 0, '', '', '0')",
        "tags": "INSERT INTO tags (name) VALUES ('d')",
        "note_relations": "INSERT INTO note_relations (source_note_id, target_note_id,"
        " relation_type, created_at) VALUES (1, 2, 'EXTENDS', '')",
    }[table]
    with database.write() as connection:
        fresh = connection.execute(text(f"{row} RETURNING id")).scalar_one()
    assert fresh == newest + 1
