"""Vectors in a table of the PostgreSQL database, searched there by the extension pgvector.

Owns its tables, one for each space and kind and one that says how far they are. Connections are
handed in. What was removed stays a while, so that a search on an older state still finds it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from app.errors import ConfigurationError
from app.index.exact import FLOAT32_ERROR
from app.index.graph import GraphForm
from app.index.protocol import Ids, Query
from app.index.shared import Batch, Better, Found, Progress

PROGRESS = "crystal_vector_tables"
FOR_EVER = 2**63 - 1
MOST = 1_000_000

Reader = Callable[[], AbstractContextManager[Connection]]


@dataclass(frozen=True, slots=True)
class PgVectorStore:
    """A table of vectors; ``family`` is what the tables share that it takes the place of."""

    read: Reader
    name: str
    family: str
    dimension: int
    graph: GraphForm | None = None

    @property
    def most(self) -> int:
        """The most vectors that it gives at once."""
        return MOST

    def progress(self, connection: Connection | None = None) -> Progress | None:
        """Return how far the table is, None when there is none."""
        if connection is None:
            with self.read() as own:
                return self.progress(own)
        if not _exists(connection, PROGRESS):
            return None
        row = connection.execute(
            text(
                f"SELECT sequence, last_id, is_complete, since FROM {PROGRESS} WHERE name = :name"
            ),
            {"name": self.name},
        ).one_or_none()
        return Progress(*row) if row else None

    def begin(self, connection: Connection) -> None:
        """Make an empty table in the place of the family's others.

        Raises:
            ConfigurationError: the database has no pgvector.
        """
        try:
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
        except DBAPIError as error:
            raise ConfigurationError(
                "index.backend pgvector needs the extension vector in the database: install "
                "pgvector on the server, or let its owner run CREATE EXTENSION vector"
            ) from error
        connection.execute(
            text(
                f"CREATE TABLE IF NOT EXISTS {PROGRESS} (name text PRIMARY KEY, family text, "
                "sequence bigint, last_id bigint, is_complete boolean, since bigint)"
            )
        )
        outdated = connection.execute(
            text(f"DELETE FROM {PROGRESS} WHERE family = :family RETURNING name"),
            {"family": self.family},
        )
        for name in {self.name, *outdated.scalars()}:
            connection.execute(text(f'DROP TABLE IF EXISTS "{name}"'))
        connection.execute(
            text(
                f'CREATE TABLE "{self.name}" (id bigint PRIMARY KEY, added bigint NOT NULL, '
                f"removed bigint NOT NULL, vector vector({self.dimension}) NOT NULL)"
            )
        )

    def write(self, connection: Connection, batch: Batch, progress: Progress) -> None:
        """Apply a batch of changes; all of it may have been applied before."""
        gone = zip(batch.removed.tolist(), batch.removed_at.tolist(), strict=True)
        if len(batch.removed):
            statement = f'UPDATE "{self.name}" SET removed = :at WHERE id = :id AND removed > :at'
            connection.execute(text(statement), [{"id": id_, "at": at} for id_, at in gone])
        fresh = zip(batch.added.tolist(), batch.added_at.tolist(), batch.vectors, strict=True)
        if len(batch.added):
            statement = (
                f'INSERT INTO "{self.name}" (id, added, removed, vector) '
                f"VALUES (:id, :at, {FOR_EVER}, CAST(:vector AS vector)) ON CONFLICT DO NOTHING"
            )
            connection.execute(
                text(statement),
                [{"id": id_, "at": at, "vector": _written(vector)} for id_, at, vector in fresh],
            )
        connection.execute(
            text(f'DELETE FROM "{self.name}" WHERE removed <= :since'),
            {"since": progress.since},
        )
        self._settle(connection, progress)

    def _settle(self, connection: Connection, progress: Progress) -> None:
        if progress.is_complete and self.graph is not None:
            connection.execute(
                text(
                    f'CREATE INDEX IF NOT EXISTS "{self.name}_graph" ON "{self.name}" '
                    f"USING hnsw (vector vector_ip_ops) WITH (m = {self.graph.links}, "
                    f"ef_construction = {self.graph.ef_construction})"
                )
            )
        connection.execute(
            text(
                f"INSERT INTO {PROGRESS} (name, family, sequence, last_id, is_complete, since) "
                "VALUES (:name, :family, :sequence, :last_id, :is_complete, :since) "
                "ON CONFLICT (name) DO UPDATE SET sequence = :sequence, last_id = :last_id, "
                "is_complete = :is_complete, since = :since"
            ),
            {"name": self.name, "family": self.family, **progress._asdict()},
        )

    def count(self, allowed: Ids | None, at: int) -> int:
        """Count the vectors, or those among the allowed ids."""
        with self.read() as connection:
            statement, values = self._select("count(*)", allowed, at)
            return int(connection.execute(text(statement), values).scalar_one())

    def nearest(self, query: Query, limit: int, allowed: Ids | None, at: int) -> Found:
        """Return the best vectors, in no promised order."""
        statement, values = self._select("id, CAST(vector AS text)", allowed, at)
        statement += " ORDER BY vector <#> CAST(:query AS vector) LIMIT :limit"
        with self.read() as connection:
            if self.graph is not None:
                width = min(max(limit, self.graph.ef_search), 1_000)
                connection.execute(text(f"SET LOCAL hnsw.ef_search = {width}"))
                connection.execute(text("SET LOCAL hnsw.iterative_scan = relaxed_order"))
            values |= {"query": _written(query), "limit": limit}
            return self._found(connection.execute(text(statement), values).all())

    def vectors(self, ids: Ids, at: int) -> Found:
        """Return the vectors of those ids that are there."""
        statement, values = self._select("id, CAST(vector AS text)", ids, at)
        with self.read() as connection:
            return self._found(connection.execute(text(statement), values).all())

    def better(self, query: Query, score: float, allowed: Ids | None, at: int) -> Better:
        """Count the vectors that score higher than a number."""
        above = " AND -(vector <#> CAST(:query AS vector)) > :high"
        near = " AND -(vector <#> CAST(:query AS vector)) BETWEEN :low AND :high"
        bounds = {"low": score - FLOAT32_ERROR, "high": score + FLOAT32_ERROR}
        bounds_and_query: dict[str, Any] = {**bounds, "query": _written(query)}
        with self.read() as connection:
            statement, values = self._select("count(*)", allowed, at)
            values |= bounds_and_query
            surely = connection.execute(text(statement + above), values).scalar_one()
            statement, _ = self._select("id, CAST(vector AS text)", allowed, at)
            close = connection.execute(text(statement + near), values).all()
        return Better(int(surely), self._found(close))

    def _select(self, what: str, ids: Ids | None, at: int) -> tuple[str, dict[str, Any]]:
        values: dict[str, Any] = {"at": at}
        statement = f'SELECT {what} FROM "{self.name}" WHERE added <= :at AND removed > :at'
        if ids is not None:
            statement += " AND id = ANY(:ids)"
            values["ids"] = ids.tolist()
        return statement, values

    def _found(self, rows: Any) -> Found:
        vectors = [json.loads(row[1]) for row in rows]
        return Found(
            np.fromiter((row[0] for row in rows), dtype=np.int64),
            np.array(vectors, dtype=np.float32).reshape(len(rows), self.dimension),
        )


def _exists(connection: Connection, table: str) -> bool:
    found = connection.execute(text("SELECT to_regclass(:name)"), {"name": table}).scalar_one()
    return found is not None


def _written(vector: NDArray[np.float32]) -> str:
    return json.dumps(vector.tolist())
