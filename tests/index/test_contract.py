"""What every backend promises, on real rows: the mirror writes and follows, each searches.

Exact backends answer as brute force does, digits and order; hnsw finds nearly all of it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, insert, select, text

from app.db import changes, chunks, migrate
from app.db import spaces as db_spaces
from app.db.engine import Database
from app.db.models import conversations, embeddings, notes
from app.domain.calibration import Scale
from app.domain.changes import CHANGED_VECTOR, OPERATION_ADD, OPERATION_REMOVE, Change
from app.domain.chunks import KIND_CHUNK
from app.domain.evidence import Candidate, Standing
from app.domain.spaces import SpaceMeans, SpaceSpec
from app.errors import ConfigurationError
from app.index import faiss_flat, pgvector
from app.index.shared import SharedIndex
from app.mirror import held_vectors, shared_vectors
from app.mirror.backends import holding
from app.mirror.mirror import Mirror
from app.settings.values import parse
from app.sync import spaces
from app.sync.transaction import transaction
from tests.support.databases import DATABASES, sqlite_url

DIMENSION = 12
ROWS = 240
RECALL = 0.95
MOMENT = "2026-01-01 00:00:00"
EXACT = ("flat", "pgvector", "milvus")
BACKENDS = (*EXACT, "hnsw")
Vectors = NDArray[np.float32]
Ids = NDArray[np.int64]


@dataclass
class House:
    """A database with one space, its rows, and mirrors over it as processes have them."""

    backend: str
    folder: Path
    database: Database
    mirrors: list[Mirror] = field(default_factory=list)
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(5))

    def mirror(self, **options: str) -> Mirror:
        """Open another process's mirror."""
        values = {"data_dir": str(self.folder), "index.backend": self.backend}
        values["index.milvus_uri"] = str(self.folder / "milvus.db")
        values |= {f"index.{name}": each for name, each in options.items()}
        settings = parse(values, {})
        self.mirrors.append(
            Mirror(self.database, holding=holding(settings.index, self.folder, self.database))
        )
        return self.mirrors[-1]

    def use_space(self, model: str, dimension: int = DIMENSION) -> int:
        return spaces.prepare(self.database, SpaceSpec("test", model, dimension, 2_000)).id

    def add(self, space_id: int, vectors: Vectors) -> list[int]:
        """Store a note with a chunk for every vector; return the ids of the chunks."""
        with self.database.write() as connection:
            first = (connection.execute(text("SELECT max(id) FROM notes")).scalar() or 0) + 1
            numbers = range(first, first + len(vectors))
            add_notes(connection, numbers)
            rows = [
                chunk_row(number, space_id, vector)
                for number, vector in zip(numbers, vectors, strict=True)
            ]
            ids = [row.id for row in chunks.add(connection, rows)]
            announce(connection, OPERATION_ADD, space_id, ids)
        return ids

    def remove(self, space_id: int, ids: list[int]) -> None:
        with self.database.write() as connection:
            connection.execute(delete(embeddings).where(embeddings.c.id.in_(ids)))
            announce(connection, OPERATION_REMOVE, space_id, ids)

    def vectors(self, count: int, dimension: int = DIMENSION) -> Vectors:
        """Unit vectors, some of them equal and some of them equal but for the last digit."""
        found = self.random.standard_normal((count, dimension)).astype(np.float32)
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        found[count // 2 :: 7] = found[0]
        found[1::9, 0] = np.nextafter(found[0, 0], np.float32(1), dtype=np.float32)
        return found

    def close(self) -> None:
        for mirror in self.mirrors:
            mirror.close()
        self.database.close()


def add_notes(connection: Connection, numbers: range) -> None:
    common: dict[str, Any] = {"source": "manual", "project_dir": "", "project_name": ""}
    common |= {"file_path": ""}
    common |= dict.fromkeys(
        ("first_message_at", "last_message_at", "created_at", "updated_at"), MOMENT
    )
    connection.execute(insert(conversations), [{"id": f"c{each}", **common} for each in numbers])
    own = {"title": "", "summary": "", "created_at": MOMENT}
    connection.execute(
        insert(notes), [{"id": each, "conversation_id": f"c{each}", **own} for each in numbers]
    )


def chunk_row(note_id: int, space_id: int, vector: Vectors) -> dict[str, Any]:
    return {
        "note_id": note_id, "space_id": space_id, "kind": KIND_CHUNK, "chunk_index": 0,
        "chunk_text": "text", "has_han": 0, "content_hash": "", "created_at": MOMENT,
        "vector": vector.tobytes(),
    }  # fmt: skip


def announce(connection: Connection, operation: str, space_id: int, ids: Any) -> None:
    entries = [Change(CHANGED_VECTOR, operation, each, space_id, KIND_CHUNK) for each in ids]
    changes.append(connection, entries)


def url_of(backend: str, folder: Path) -> str:
    if backend == "pgvector":
        return DATABASES.server.url_of(folder)
    return sqlite_url(folder)


@contextmanager
def built(backend: str, folder: Path) -> Iterator[House]:
    database = Database(url_of(backend, folder))
    migrate.upgrade(database)
    house = House(backend, folder, database)
    try:
        yield house
    finally:
        house.close()
        DATABASES.forget(folder)


@pytest.fixture(autouse=True)
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several segments with graphs, snapshots of few rows, stores filled in several turns."""
    monkeypatch.setattr(faiss_flat, "SEGMENT_ROWS", 128)
    monkeypatch.setattr(faiss_flat, "TAIL_ROWS", 16)
    monkeypatch.setattr(faiss_flat, "GRAPH_ROWS", 40)
    monkeypatch.setattr(held_vectors, "SNAPSHOT_ROWS", 1)
    monkeypatch.setattr(shared_vectors, "TURN_ROWS", 100)


@pytest.fixture(params=BACKENDS)
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    with built(request.param, tmp_path) as found:
        yield found


@pytest.fixture(params=EXACT)
def exact_house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    with built(request.param, tmp_path) as found:
        yield found


def settled(mirror: Mirror) -> Mirror:
    """Let merges end, so that graphs are there."""
    with mirror.open():
        pass
    for thread in threading.enumerate():
        if thread.name in ("index-merge", "index-check"):
            thread.join()
    return mirror


def cosine_of(stored: bytes, query: Vectors) -> float:
    """The cosine, computed for this vector by itself."""
    return float((np.frombuffer(stored, np.float32).astype(np.float64) * query).sum())


def in_order(found: Iterable[Candidate]) -> list[Candidate]:
    return sorted(found, key=lambda each: (-each.cosine, each.chunk_id))


def brute_force(
    connection: Connection, space_id: int, query: Vectors, allowed: Ids | None = None
) -> list[Candidate]:
    """Every row of the snapshot, best first."""
    rows = connection.execute(
        select(embeddings.c.id, embeddings.c.vector).where(embeddings.c.space_id == space_id)
    ).all()
    return in_order(
        Candidate(row[0], cosine_of(row[1], query))
        for row in rows
        if allowed is None or row[0] in allowed
    )


def assert_agrees(house: House, mirror: Mirror, space_id: int) -> None:
    """Compare searches with and without filters to brute force over the same snapshot."""
    shares: list[float] = []
    with mirror.open() as (connection, view):
        assert view.index is not None
        ids = [each.chunk_id for each in brute_force(connection, space_id, house.vectors(1)[0])]
        few, most = np.sort(np.array(ids[:5], np.int64)), np.sort(np.array(ids[3:], np.int64))
        foreign = np.array([-7, 10**9], dtype=np.int64)
        nobody = np.empty(0, np.int64)
        for query in house.vectors(4):
            for allowed in (None, few, most, foreign, nobody):
                expected = brute_force(connection, space_id, query, allowed)
                assert view.index.count(allowed) == len(expected)
                for limit in (0, 1, 10, len(expected), len(expected) + 5):
                    found = view.index.search(query, limit, allowed)
                    if house.backend != "hnsw":
                        assert found == expected[:limit]
                    elif expected[:limit]:
                        assert found == in_order(found)
                        assert set(found) <= set(expected)
                        shares.append(len({*found} & {*expected[:limit]}) / len(expected[:limit]))
    assert np.mean(shares or [1.0]) >= RECALL


def test_search_is_brute_force(house: House) -> None:
    space_id = house.use_space("m")
    house.add(space_id, house.vectors(ROWS))
    assert_agrees(house, settled(house.mirror()), space_id)


def test_an_index_without_rows_answers_nothing(house: House) -> None:
    house.use_space("m")
    with house.mirror().open() as (_, view):
        assert view.index is not None
        query = house.vectors(1)[0]
        assert view.index.count() == 0
        assert view.index.search(query, 10) == []
        assert view.index.scores(query, [1]) == {}
        assert view.index.standings(query, [1]) == []


def test_ties_are_ordered_by_id(exact_house: House) -> None:
    space_id = exact_house.use_space("m")
    vector = exact_house.vectors(1)
    ids = exact_house.add(space_id, np.repeat(vector, 60, axis=0))
    with exact_house.mirror().open() as (_, view):
        assert view.index is not None
        found = view.index.search(vector[0], 7)
        assert [each.chunk_id for each in found] == ids[:7]
        ranks = {each.chunk_id: each.rank for each in view.index.standings(vector[0], ids)}
        assert ranks == {each: place for place, each in enumerate(ids, start=1)}


def test_standings_are_ranks_by_brute_force(exact_house: House) -> None:
    space_id = exact_house.use_space("m")
    exact_house.add(space_id, exact_house.vectors(ROWS))
    query = exact_house.vectors(1)[0]
    with exact_house.mirror().open() as (connection, view):
        assert view.index is not None
        for allowed in (None, np.arange(1, ROWS, 3, dtype=np.int64)):
            expected = [
                Standing(each.chunk_id, each.cosine, rank)
                for rank, each in enumerate(
                    brute_force(connection, space_id, query, allowed), start=1
                )
            ]
            asked = [1, 4, 40, 130, ROWS, 10**9]
            found = view.index.standings(query, asked, allowed)
            assert sorted(found, key=lambda each: each.rank) == [
                each for each in expected if each.chunk_id in asked
            ]
            scores = {each.chunk_id: each.cosine for each in expected}
            known = [each for each in asked if each in scores]
            assert view.index.scores(query, known) == {each: scores[each] for each in known}


def test_what_is_written_and_removed_is_followed(house: House) -> None:
    space_id = house.use_space("m")
    ids = house.add(space_id, house.vectors(ROWS))
    mirror = settled(house.mirror())
    house.remove(space_id, ids[::3])
    assert_agrees(house, mirror, space_id)
    more = house.add(space_id, house.vectors(50))
    house.remove(space_id, more[:9])
    assert_agrees(house, mirror, space_id)
    house.remove(space_id, [*ids[1::3], *ids[2::3], *more[9:]])
    assert_agrees(house, mirror, space_id)


def test_two_processes_agree(house: House) -> None:
    space_id = house.use_space("m")
    house.add(space_id, house.vectors(ROWS))
    one = settled(house.mirror())
    # Clients of milvus-lite share its file within a process.
    other = settled(house.mirror())
    ids = house.add(space_id, house.vectors(20))
    for mirror in (one, other):
        assert_agrees(house, mirror, space_id)
    house.remove(space_id, ids[:15])
    for mirror in (other, one):
        assert_agrees(house, mirror, space_id)


def test_a_restart_answers_alike(house: House) -> None:
    space_id = house.use_space("m")
    ids = house.add(space_id, house.vectors(ROWS))
    settled(house.mirror()).close()
    house.mirrors.clear()
    house.remove(space_id, ids[:4])
    house.add(space_id, house.vectors(8))
    assert_agrees(house, settled(house.mirror()), space_id)


def test_a_history_that_was_trimmed_is_read_anew(house: House) -> None:
    space_id = house.use_space("m")
    ids = house.add(space_id, house.vectors(ROWS))
    mirror = settled(house.mirror())
    house.remove(space_id, ids[:4])
    with house.database.write() as connection:
        changes.trim(connection, 0)
        announce(connection, OPERATION_REMOVE, space_id, [ids[0]])
    assert_agrees(house, mirror, space_id)


def test_vectors_of_another_space_and_dimension_stay_apart(house: House) -> None:
    first = house.use_space("m")
    house.add(first, house.vectors(ROWS))
    mirror = settled(house.mirror())
    with mirror.open() as (_, view):
        assert view.index is not None
        assert (view.index.dimension, view.index.count()) == (DIMENSION, ROWS)
    second = house.use_space("another", 5)
    ids = house.add(second, house.vectors(9, 5))
    with mirror.open() as (_, view):
        assert view.index is not None
        assert view.index.dimension == 5
        found = view.index.search(house.vectors(1, 5)[0], 100)
        assert sorted(each.chunk_id for each in found) == ids
    assert house.use_space("m") == first
    assert_agrees(house, mirror, first)


def test_an_old_view_is_not_disturbed(house: House) -> None:
    space_id = house.use_space("m")
    house.add(space_id, house.vectors(ROWS))
    mirror = settled(house.mirror())
    query = house.vectors(1)[0]
    with mirror.open() as (_, view):
        assert view.index is not None
        before = view.index.search(query, 20)
        added = house.add(space_id, np.repeat(query[np.newaxis, :], 3, axis=0))
        with mirror.open() as (_, newer):
            assert newer.index is not None
            assert [each.chunk_id for each in newer.index.search(query, 3)] == added
        assert view.index.search(query, 20) == before


@pytest.mark.parametrize("backend", ["flat", "pgvector"])
def test_searches_among_writes_see_one_state_each(backend: str, tmp_path: Path) -> None:
    """Milvus has one state only: what is removed is gone for older views too."""
    with built(backend, tmp_path) as house:
        space_id = house.use_space("m")
        ids = house.add(space_id, house.vectors(60))
        mirror = house.mirror()
        query = house.vectors(1)[0]
        finished = threading.Event()
        wrong: list[str] = []
        seen: set[int] = set()

        def search() -> None:
            while not finished.is_set():
                with mirror.open() as (connection, view):
                    expected = brute_force(connection, space_id, query)
                    seen.add(view.state.sequence)
                    if view.index is None or view.index.search(query, 15) != expected[:15]:
                        wrong.append(f"at {view.state.sequence}")

        threads = [threading.Thread(target=search) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(12):
            house.remove(space_id, [ids.pop() for _ in range(3)])
            ids = house.add(space_id, house.vectors(5)) + ids
        finished.set()
        for thread in threads:
            thread.join()
        assert not wrong
        assert seen


@pytest.mark.parametrize("backend", ["pgvector", "milvus"])
def test_a_store_is_written_once_for_all(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with built(backend, tmp_path) as house:
        space_id = house.use_space("m")
        house.add(space_id, house.vectors(ROWS))
        settled(house.mirror())
        written: list[int] = []
        original = chunks.vectors

        def tell(*given: Any) -> Any:
            rows = original(*given)
            written.append(len(rows.ids))
            return rows

        monkeypatch.setattr(chunks, "vectors", tell)
        with house.mirror().open() as (_, view):
            assert isinstance(view.index, SharedIndex)
        assert written == []
        house.add(space_id, house.vectors(3))
        for mirror in house.mirrors:
            with mirror.open():
                pass
        assert written == [3]


def test_tables_of_an_earlier_space_are_dropped(tmp_path: Path) -> None:
    with built("pgvector", tmp_path) as house:
        space_id = house.use_space("m")
        house.add(space_id, house.vectors(4))
        settled(house.mirror())
        mean = (house.vectors(1)[0] / 4).tobytes()
        scale = Scale(0.4, SpaceMeans(mean, mean, mean, mean))
        with transaction(house.database) as unit:
            db_spaces.set_scale(unit.connection, space_id, scale)
            unit.changed_space(space_id)
        with house.mirrors[0].open() as (_, view):
            assert view.index is not None
            assert view.index.count() == 4
        names = text("SELECT count(*) FROM pg_tables WHERE tablename LIKE 'crystal%chunk%'")
        with house.database.read() as connection:
            assert connection.execute(names).scalar_one() == 1
            assert (
                connection.execute(text(f"SELECT count(*) FROM {pgvector.PROGRESS}")).scalar_one()
                == 1
            )


def test_pgvector_may_search_a_graph(tmp_path: Path) -> None:
    with built("pgvector", tmp_path) as house:
        space_id = house.use_space("m")
        house.add(space_id, house.vectors(ROWS))
        query = house.vectors(1)[0]
        with house.mirror(pgvector_hnsw="true").open() as (connection, view):
            assert view.index is not None
            expected = {each.chunk_id for each in brute_force(connection, space_id, query)[:20]}
            found = {each.chunk_id for each in view.index.search(query, 20)}
            assert len(found & expected) >= RECALL * len(expected)
        with house.database.read() as connection:
            indexes = text("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%hnsw%'")
            assert connection.execute(indexes).scalar_one() == 1


@pytest.mark.parametrize(
    ("backend", "uri", "problem"),
    [("pgvector", "", "needs a PostgreSQL database"), ("milvus", "", "index.milvus_uri")],
    ids=["pgvector-over-sqlite", "milvus-without-an-address"],
)
def test_a_backend_that_cannot_be_used_says_why(
    backend: str, uri: str, problem: str, tmp_path: Path
) -> None:
    settings = parse({"index.backend": backend, "index.milvus_uri": uri}, {})
    database = Database(sqlite_url(tmp_path))
    with pytest.raises(ConfigurationError, match=problem):
        holding(settings.index, tmp_path, database)
    database.close()
