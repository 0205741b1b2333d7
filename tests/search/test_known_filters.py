"""Ids that pass filters, kept between searches: as new as a reading of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from app.db import changes
from app.domain.notes import NoteDraft, NoteFilters
from app.factory import Application
from app.index.protocol import Ids
from app.search.known_filters import KnownFilters
from tests.support.application import ask, found_ids, opened, recorded_statements, stub_values
from tests.support.provider import StubProvider

WAL = NoteFilters(tags=("wal",))
LOCKS = NoteFilters(tags=("locks",))
RENAME = text("UPDATE tags SET name = :name WHERE name = 'locks'")


@pytest.fixture
def application(provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """A note of each tag."""
    with opened(tmp_path, stub_values(provider)) as built:
        for title, tag in (("One", "wal"), ("Two", "locks")):
            built.writer.create_note(NoteDraft(title, "cos=0.9", tags=(tag,)))
        yield built


def readings(statements: list[str]) -> int:
    """How many statements look for what passes."""
    return sum("FROM note_tags" in each and "EXISTS" in each for each in statements)


@pytest.mark.sqlite
def test_they_are_read_once_while_nothing_is_committed(application: Application) -> None:
    with recorded_statements(application.database) as statements:
        for _ in range(3):
            assert found_ids(ask(application, filters=WAL)) == [1]
            assert found_ids(ask(application, filters=LOCKS)) == [2]
    assert readings(statements) == 2


@pytest.mark.parametrize("ranker", ["chatcrystal", "hybrid", "fusion"])
def test_whatever_was_committed_makes_them_read_anew(application: Application, ranker: str) -> None:
    def found() -> list[int]:
        answer = ask(application, ranker=ranker, cut=False, filters=WAL)
        return sorted(found_ids(answer))

    assert found() == [1]
    application.writer.create_note(NoteDraft("Three", "cos=0.9", tags=("wal",)))
    assert found() == [1, 3]
    # As another program would, without a word in the feed.
    with application.database.engine.begin() as connection:
        connection.execute(text("DELETE FROM note_tags WHERE note_id = 1"))
    assert found() == [3]


@pytest.mark.sqlite
def test_finder_reads_what_passes_once_too(application: Application) -> None:
    def found() -> list[int]:
        return found_ids(ask(application, ranker="finder", filters=WAL))

    with recorded_statements(application.database) as first:
        assert found() == [1]
    with recorded_statements(application.database) as later:
        assert found() == found() == [1]
    # Of vectors, of documents and of notes.
    assert readings(first) >= 3
    assert readings(later) == 0


@pytest.mark.sqlite
def test_they_are_bounded_and_nobody_changes_them(application: Application) -> None:
    loaded: list[str] = []

    def ids(name: str) -> Ids:
        loaded.append(name)
        return np.arange(3)

    known = KnownFilters(application.database.version, most=6)
    with application.database.read() as connection:
        epoch = changes.state(connection).epoch
        for name in ("a", "b", "a", "b", "c", "a"):
            found = known.read(connection, epoch, name, lambda name=name: ids(name))  # type: ignore[misc]
            assert found.tolist() == [0, 1, 2]
            with pytest.raises(ValueError, match="read-only"):
                found[0] = 7
        known.read(connection, "another", "a", lambda: ids("anew"))
    assert loaded == ["a", "b", "c", "a", "anew"]
