"""The settings of the vector index: rows of the table.

Owns which backends there are and their options. Each acts from the next start on.
"""

from __future__ import annotations

from app.settings.kinds import Kind, Setting

PREFIX = "index."
FLAT = "flat"
HNSW = "hnsw"
PGVECTOR = "pgvector"
MILVUS = "milvus"
BACKENDS = (FLAT, HNSW, PGVECTOR, MILVUS)
PRECISIONS = ("float32", "float16")

INDEX_SETTINGS: tuple[Setting, ...] = (
    Setting(
        f"{PREFIX}backend",
        FLAT,
        ("CRYSTAL_INDEX_BACKEND",),
        "Where vectors are searched: flat (exact, in this process), hnsw (graphs in this process, "
        "not exact), pgvector (in the PostgreSQL database) or milvus (in a Milvus server).",
        Kind.CHOICE,
        choices=BACKENDS,
    ),
    Setting(
        f"{PREFIX}precision",
        PRECISIONS[0],
        ("CRYSTAL_INDEX_PRECISION",),
        "Width of the numbers in memory, of flat and hnsw; float16 takes half the memory.",
        Kind.CHOICE,
        choices=PRECISIONS,
    ),
    Setting(
        f"{PREFIX}snapshots",
        "true",
        ("CRYSTAL_INDEX_SNAPSHOTS",),
        "Whether large indexes are written to the data folder when the server stops, to start "
        "faster from.",
        Kind.CHOICE,
        choices=("true", "false"),
    ),
    Setting(
        f"{PREFIX}hnsw_links",
        "16",
        ("CRYSTAL_INDEX_HNSW_LINKS",),
        "Links of a vector in a graph of hnsw (M).",
        Kind.INTEGER,
        4,
        128,
    ),
    Setting(
        f"{PREFIX}hnsw_ef_construction",
        "100",
        ("CRYSTAL_INDEX_HNSW_EF_CONSTRUCTION",),
        "Candidates kept while a graph of hnsw is built.",
        Kind.INTEGER,
        8,
        2_000,
    ),
    Setting(
        f"{PREFIX}hnsw_ef_search",
        "100",
        ("CRYSTAL_INDEX_HNSW_EF_SEARCH",),
        "Candidates kept while a graph of hnsw is searched, at least.",
        Kind.INTEGER,
        8,
        10_000,
    ),
    Setting(
        f"{PREFIX}pgvector_hnsw",
        "false",
        ("CRYSTAL_INDEX_PGVECTOR_HNSW",),
        "Whether pgvector searches a graph too, by the three settings of hnsw, and not exactly.",
        Kind.CHOICE,
        choices=("true", "false"),
    ),
    Setting(
        f"{PREFIX}milvus_uri",
        "",
        ("CRYSTAL_INDEX_MILVUS_URI",),
        "Address of the Milvus server, such as http://127.0.0.1:19530.",
    ),
    Setting(
        f"{PREFIX}milvus_token",
        "",
        ("CRYSTAL_INDEX_MILVUS_TOKEN",),
        "Token of the Milvus server, or user:password.",
        Kind.SECRET,
    ),
)
