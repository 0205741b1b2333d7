"""The change feed that every process follows, and the tokens of the API."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Index, Table

from app.db.models.base import TEXT, WHOLE, metadata

index_state = Table(
    "index_state",
    metadata,
    Column("id", WHOLE, CheckConstraint("id = 1", "single"), primary_key=True),
    Column("sequence", WHOLE, nullable=False),
    Column("epoch", TEXT, nullable=False),
    Column("trimmed_to", WHOLE, nullable=False),
)

index_changes = Table(
    "index_changes",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("sequence", WHOLE, nullable=False),
    Column("what", TEXT, nullable=False),
    Column("space_id", WHOLE),
    Column("kind", TEXT),
    Column("target_id", WHOLE, nullable=False),
    Column("operation", TEXT, nullable=False),
    Index("ix_index_changes_sequence", "sequence"),
    sqlite_autoincrement=True,
)

api_tokens = Table(
    "api_tokens",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("name", TEXT, nullable=False, unique=True),
    Column("scope", TEXT, nullable=False),
    Column("digest", TEXT, nullable=False, unique=True),
    Column("created_at", TEXT, nullable=False),
    sqlite_autoincrement=True,
)
