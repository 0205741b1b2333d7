"""Vectors in a collection of a Milvus server, for more of them than one machine holds.

Owns the collection: FLAT, inner product, strong consistency. What is removed is gone at once, also
for a search on an older state. Every write is flushed: unflushed rows cost half a second a search.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection

from app.errors import ConfigurationError, DatabaseUnavailable
from app.index.exact import FLOAT32_ERROR
from app.index.protocol import Ids, Query
from app.index.shared import Batch, Better, Found, Progress

MOST = 16_384
"""Milvus gives no more rows than this in one answer."""

WRITTEN_AT_ONCE = 1_000
ID, ADDED, VECTOR = "id", "added", "vector"
LAST_ID_MARK, SEQUENCE_MARK, SINCE_MARK = -1, -2, -3
MARKS = (LAST_ID_MARK, SEQUENCE_MARK, SINCE_MARK)
"""Rows with these ids say how far the collection is; no chunk has a negative id."""

STRONG = "Strong"
INNER_PRODUCT = "IP"


def connect(uri: str, token: str) -> Any:
    """Return a client of a server.

    Raises:
        ConfigurationError: no address is set, or the client is not installed.
        DatabaseUnavailable: nothing answers there.
    """
    if not uri:
        raise ConfigurationError("index.backend milvus needs the setting index.milvus_uri")
    with _mapped_errors():
        return _library().MilvusClient(uri, token=token)


@dataclass(frozen=True, slots=True)
class MilvusStore:
    """A collection; ``family`` begins the names of those that it takes the place of."""

    client: Any
    name: str
    family: str
    dimension: int

    @property
    def most(self) -> int:
        """The most vectors that it gives at once."""
        return MOST

    def progress(self, connection: Connection | None = None) -> Progress | None:
        """Return how far the collection is, None when there is none."""
        with _mapped_errors():
            if not self.client.has_collection(self.name):
                return None
            self.client.load_collection(self.name)
            rows = self.client.get(self.name, ids=list(MARKS), output_fields=[ID, ADDED])
        marks = {row[ID]: row[ADDED] for row in rows}
        if len(marks) < len(MARKS):
            return None
        last_id = marks[LAST_ID_MARK]
        return Progress(marks[SEQUENCE_MARK], abs(last_id), last_id <= 0, marks[SINCE_MARK])

    def begin(self, connection: Connection) -> None:
        """Make an empty collection in the place of the family's others."""
        library = _library()
        with _mapped_errors():
            for name in self.client.list_collections():
                if name.startswith(self.family):
                    self.client.drop_collection(name)
            schema = library.MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field(ID, library.DataType.INT64, is_primary=True)
            schema.add_field(ADDED, library.DataType.INT64)
            schema.add_field(VECTOR, library.DataType.FLOAT_VECTOR, dim=self.dimension)
            index = library.MilvusClient.prepare_index_params()
            index.add_index(VECTOR, index_type="FLAT", metric_type=INNER_PRODUCT)
            self.client.create_collection(
                self.name, schema=schema, index_params=index, consistency_level=STRONG
            )

    def write(self, connection: Connection, batch: Batch, progress: Progress) -> None:
        """Apply a batch of changes; all of it may have been applied before."""
        rows = [
            {ID: id_, ADDED: at, VECTOR: vector.tolist()}
            for id_, at, vector in zip(
                batch.added.tolist(), batch.added_at.tolist(), batch.vectors, strict=True
            )
        ]
        nothing = [0.0] * self.dimension
        last_id = -progress.last_id if progress.is_complete else progress.last_id
        values = (last_id, progress.sequence, progress.since)
        with _mapped_errors():
            if len(batch.removed):
                self.client.delete(self.name, ids=batch.removed.tolist())
            for start in range(0, len(rows), WRITTEN_AT_ONCE):
                self.client.upsert(self.name, rows[start : start + WRITTEN_AT_ONCE])
            # Last: what a crash leaves half done is done again.
            self.client.upsert(
                self.name,
                [
                    {ID: mark, ADDED: value, VECTOR: nothing}
                    for mark, value in zip(MARKS, values, strict=True)
                ],
            )
            self.client.flush(self.name)

    def count(self, allowed: Ids | None, at: int) -> int:
        """Count the vectors, or those among the allowed ids."""
        with _mapped_errors():
            found = self.client.query(
                self.name, filter=_condition(allowed, at), output_fields=["count(*)"],
                consistency_level=STRONG,
            )  # fmt: skip
        return int(found[0]["count(*)"])

    def nearest(self, query: Query, limit: int, allowed: Ids | None, at: int) -> Found:
        """Return the best vectors, in no promised order; at most ``MOST``."""
        return self._search(query, limit, allowed, at, {})[0]

    def vectors(self, ids: Ids, at: int) -> Found:
        """Return the vectors of those ids that are there."""
        with _mapped_errors():
            rows = self.client.query(
                self.name, filter=_condition(ids, at), output_fields=[ID, VECTOR],
                consistency_level=STRONG,
            )  # fmt: skip
        return self._found(rows)

    def better(self, query: Query, score: float, allowed: Ids | None, at: int) -> Better:
        """Count the vectors that score higher than a number; more than ``MOST`` are that many."""
        bounds = {"radius": score - 2 * FLOAT32_ERROR}
        found, distances = self._search(query, MOST, allowed, at, bounds)
        is_sure = distances > score + FLOAT32_ERROR
        close = Found(found.ids[~is_sure], found.vectors[~is_sure])
        return Better(int(is_sure.sum()), close)

    def _search(
        self, query: Query, limit: int, allowed: Ids | None, at: int, bounds: dict[str, float]
    ) -> tuple[Found, np.ndarray[Any, np.dtype[np.float64]]]:
        with _mapped_errors():
            hits = self.client.search(
                self.name,
                [query.tolist()],
                limit=limit,
                filter=_condition(allowed, at),
                output_fields=[ID, VECTOR],
                search_params={"metric_type": INNER_PRODUCT, "params": bounds},
                consistency_level=STRONG,
            )[0]
        found = self._found([hit["entity"] for hit in hits])
        return found, np.array([hit["distance"] for hit in hits], dtype=np.float64)

    def _found(self, rows: Sequence[Any]) -> Found:
        vectors = [row[VECTOR] for row in rows]
        return Found(
            np.fromiter((row[ID] for row in rows), dtype=np.int64),
            np.array(vectors, dtype=np.float32).reshape(len(rows), self.dimension),
        )


def _condition(ids: Ids | None, at: int) -> str:
    """Write what rows must meet; the marks are never among them."""
    condition = f"{ID} >= 0 and {ADDED} <= {at}"
    return condition if ids is None else f"{condition} and {ID} in {ids.tolist()}"


def _library() -> Any:
    """Load the client when it is first needed: it is heavy, and an extra."""
    try:
        return importlib.import_module("pymilvus")
    except ImportError as error:
        raise ConfigurationError(
            "index.backend milvus needs its client: pip install 'chatcrystal-search[milvus]'"
        ) from error


@contextmanager
def _mapped_errors() -> Iterator[None]:
    try:
        yield
    except _library().MilvusException as error:
        raise DatabaseUnavailable(
            "The Milvus server cannot be used; check index.milvus_uri and that it runs"
        ) from error
