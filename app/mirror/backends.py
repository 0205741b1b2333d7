"""The backends of vectors, by the name that the setting ``index.backend`` gives them.

Owns what each makes of the settings. Must not search.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.db.engine import Database
from app.errors import ConfigurationError
from app.index import milvus
from app.index.core import Form
from app.index.graph import GraphForm
from app.index.milvus import MilvusStore
from app.index.pgvector import PgVectorStore
from app.index.snapshot import Label
from app.mirror.held_vectors import Holding, Shared
from app.settings.index import FLAT, HNSW, MILVUS, PGVECTOR
from app.settings.values import IndexSettings

SNAPSHOTS = "snapshots"
"""The folder of snapshots in the data folder."""

Backend = Callable[[IndexSettings, Path, Database], Holding]


def graph_form(settings: IndexSettings) -> GraphForm:
    """Return how graphs are built and searched."""
    return GraphForm(settings.hnsw_links, settings.hnsw_ef_construction, settings.hnsw_ef_search)


def _flat(settings: IndexSettings, folder: Path, _: Database) -> Holding:
    return Holding(Form(settings.precision), _snapshots(settings, folder))


def _hnsw(settings: IndexSettings, folder: Path, _: Database) -> Holding:
    form = Form(settings.precision, graph_form(settings))
    return Holding(form, _snapshots(settings, folder))


def _snapshots(settings: IndexSettings, folder: Path) -> Path | None:
    return folder / SNAPSHOTS if settings.snapshots else None


def _pgvector(settings: IndexSettings, _: Path, database: Database) -> Holding:
    if database.engine.dialect.name != "postgresql":
        raise ConfigurationError(
            "index.backend pgvector needs a PostgreSQL database: set database_url to one"
        )
    graph = graph_form(settings) if settings.pgvector_hnsw else None

    def store_of(label: Label) -> PgVectorStore:
        return PgVectorStore(database.read, label.name, label.family, label.dimension, graph)

    return Holding(shared=Shared(store_of, database.write))


def _milvus(settings: IndexSettings, _: Path, database: Database) -> Holding:
    client = milvus.connect(settings.milvus_uri, settings.milvus_token.reveal())

    def store_of(label: Label) -> MilvusStore:
        return MilvusStore(client, label.name, label.family, label.dimension)

    return Holding(shared=Shared(store_of, database.write, client.close))


BACKENDS: dict[str, Backend] = {
    FLAT: _flat,
    HNSW: _hnsw,
    PGVECTOR: _pgvector,
    MILVUS: _milvus,
}


def holding(settings: IndexSettings, folder: Path, database: Database) -> Holding:
    """Return how the vectors of a process over a database are held.

    Raises:
        ConfigurationError: the backend cannot be used here.
        DatabaseUnavailable: its server does not answer.
    """
    return BACKENDS[settings.backend](settings, folder, database)
