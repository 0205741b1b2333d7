"""What notes are found by: spaces, vectors, entities, lexical documents."""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    LargeBinary,
    Table,
    UniqueConstraint,
)

from app.db.models.base import TEXT, WHOLE, child_of, metadata

embedding_spaces = Table(
    "embedding_spaces",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("provider", TEXT, nullable=False),
    Column("model", TEXT, nullable=False),
    Column("variant", WHOLE, nullable=False, server_default="0"),
    Column("dimension", WHOLE),
    Column("border", Float, CheckConstraint("border > 0 AND border < 1", "border"), nullable=False),
    Column("mean_query", LargeBinary),
    Column("mean_query_han", LargeBinary),
    Column("mean_passage", LargeBinary),
    Column("mean_passage_han", LargeBinary),
    Column("max_chars", WHOLE, nullable=False),
    Column("active", WHOLE, nullable=False, server_default="0"),
    Column("created_at", TEXT, nullable=False),
    UniqueConstraint("provider", "model", "variant"),
    sqlite_autoincrement=True,
)

note_spaces = Table(
    "note_spaces",
    metadata,
    Column("note_id", WHOLE, child_of("notes"), primary_key=True),
    Column("space_id", WHOLE, child_of("embedding_spaces"), primary_key=True),
    Column("status", TEXT, nullable=False),
    Column("error", TEXT),
    Column("text_hash", TEXT),
    Index("ix_note_spaces_space_id", "space_id", "status"),
)

entities = Table(
    "entities",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("kind", TEXT, nullable=False),
    Column("name", TEXT, nullable=False),
    UniqueConstraint("kind", "name"),
    sqlite_autoincrement=True,
)

note_entities = Table(
    "note_entities",
    metadata,
    Column("note_id", WHOLE, child_of("notes"), primary_key=True),
    Column("entity_id", WHOLE, child_of("entities"), primary_key=True),
    Index("ix_note_entities_entity_id", "entity_id", "note_id"),
)

embeddings = Table(
    "embeddings",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("note_id", WHOLE, child_of("notes")),
    Column("entity_id", WHOLE, child_of("entities")),
    Column("space_id", WHOLE, child_of("embedding_spaces"), nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("chunk_index", WHOLE, nullable=False, server_default="0"),
    Column("chunk_text", TEXT, nullable=False),
    Column("has_han", WHOLE, nullable=False),
    Column("heading_path", TEXT),
    Column("start", WHOLE),
    Column("end", WHOLE),
    Column("content_hash", TEXT, nullable=False),
    Column("vectra_id", TEXT),
    Column("created_at", TEXT, nullable=False),
    # Last, so that reading a row's text never walks the pages of its vector.
    Column("vector", LargeBinary, nullable=False),
    UniqueConstraint("note_id", "space_id", "kind", "chunk_index"),
    UniqueConstraint("entity_id", "space_id"),
    CheckConstraint("(note_id IS NULL) <> (entity_id IS NULL)", "owner"),
    Index("ix_embeddings_space_id", "space_id", "kind", "note_id"),
    sqlite_autoincrement=True,
)

chunk_entities = Table(
    "chunk_entities",
    metadata,
    Column("chunk_id", WHOLE, child_of("embeddings"), primary_key=True),
    Column("entity_id", WHOLE, child_of("entities"), primary_key=True),
    Column("space_id", WHOLE, child_of("embedding_spaces"), nullable=False),
    Index("ix_chunk_entities_entity_id", "entity_id", "space_id", "chunk_id"),
    Index("ix_chunk_entities_space_id", "space_id"),
)

lexical_documents = Table(
    "lexical_documents",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("kind", TEXT, nullable=False),
    Column("note_id", WHOLE, child_of("notes")),
    # Not a cascade: whose chunk is gone is deleted with an entry in the change feed.
    Column("chunk_id", WHOLE, ForeignKey("embeddings.id", ondelete="SET NULL")),
    Column("entity_id", WHOLE, child_of("entities")),
    Column("postings", TEXT, nullable=False),
    Index("ix_lexical_documents_note_id", "note_id", "kind"),
    Index("ix_lexical_documents_chunk_id", "chunk_id", "kind"),
    Index("ix_lexical_documents_entity_id", "entity_id"),
    sqlite_autoincrement=True,
)
