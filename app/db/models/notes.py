"""Notes, and what joins them."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Table, UniqueConstraint

from app.db.models.base import TEXT, WHOLE, child_of, metadata

notes = Table(
    "notes",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("conversation_id", TEXT, child_of("conversations"), nullable=False, unique=True),
    Column("title", TEXT, nullable=False),
    Column("summary", TEXT, nullable=False),
    Column("key_conclusions", TEXT),
    Column("code_snippets", TEXT),
    Column("raw_llm_response", TEXT),
    Column("is_edited", WHOLE, nullable=False, server_default="0"),
    Column("embedding_status", TEXT, nullable=False, server_default="pending"),
    Column("project_key", TEXT),
    Column("scope", TEXT, nullable=False, server_default="project"),
    Column("source_type", TEXT, nullable=False, server_default="imported-conversation"),
    Column("source_agent", TEXT, nullable=False, server_default="unknown"),
    Column("task_kind", TEXT),
    Column("error_signatures", TEXT),
    Column("files_touched", TEXT),
    Column("outcome_type", TEXT),
    Column("created_at", TEXT, nullable=False),
    Column("updated_at", TEXT),
    Column("body", TEXT),
    Column("aliases", TEXT),
    Column("path", TEXT),
    Column("slug", TEXT),
    Column("content_digest", TEXT),
    Column("external_id", TEXT, unique=True),
    Index("ix_notes_created_at", "created_at", "id"),
    Index("ix_notes_embedding_status", "embedding_status"),
    Index("ix_notes_path", "path"),
    Index("ix_notes_slug", "slug"),
    sqlite_autoincrement=True,
)

tags = Table(
    "tags",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("name", TEXT, nullable=False, unique=True),
    sqlite_autoincrement=True,
)

note_tags = Table(
    "note_tags",
    metadata,
    Column("note_id", WHOLE, child_of("notes"), primary_key=True),
    Column("tag_id", WHOLE, child_of("tags"), primary_key=True),
    Index("ix_note_tags_tag_id", "tag_id"),
)

note_relations = Table(
    "note_relations",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("source_note_id", WHOLE, child_of("notes"), nullable=False),
    Column("target_note_id", WHOLE, child_of("notes"), nullable=False),
    Column("relation_type", TEXT, nullable=False),
    Column("confidence", Float, server_default="1.0"),
    Column("description", TEXT),
    Column("created_by", TEXT, nullable=False, server_default="manual"),
    Column("created_at", TEXT, nullable=False),
    UniqueConstraint("source_note_id", "target_note_id", "relation_type"),
    Index("ix_note_relations_target_note_id", "target_note_id"),
    sqlite_autoincrement=True,
)

note_links = Table(
    "note_links",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("source_note_id", WHOLE, child_of("notes"), nullable=False),
    # Kept by name while no note answers to it.
    Column("target_note_id", WHOLE, ForeignKey("notes.id", ondelete="SET NULL")),
    Column("target", TEXT, nullable=False),
    Column("heading", TEXT),
    Column("label", TEXT),
    Column("kind", TEXT, nullable=False),
    Column("position", WHOLE, nullable=False),
    Column("name_key", TEXT, nullable=False),
    Column("in_body", WHOLE, nullable=False, server_default="1"),
    Index("ix_note_links_source_note_id", "source_note_id", "position"),
    Index("ix_note_links_target_note_id", "target_note_id"),
    Index("ix_note_links_name_key", "name_key"),
    sqlite_autoincrement=True,
)

# What a link may call a note by, in the form in which names are compared.
note_names = Table(
    "note_names",
    metadata,
    Column("note_id", WHOLE, child_of("notes"), primary_key=True),
    Column("name_key", TEXT, primary_key=True),
    Index("ix_note_names_name_key", "name_key"),
)

note_opens = Table(
    "note_opens",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("note_id", WHOLE, child_of("notes"), nullable=False),
    Column("opened_at", TEXT, nullable=False),
    Index("ix_note_opens_note_id", "note_id"),
    Index("ix_note_opens_opened_at", "opened_at"),
    sqlite_autoincrement=True,
)

# Distilled notes whose relations are still to be found; gone with that.
notes_to_relate = Table(
    "notes_to_relate",
    metadata,
    Column("note_id", WHOLE, child_of("notes"), primary_key=True),
)

writeback_receipts = Table(
    "writeback_receipts",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("source_agent", TEXT, nullable=False),
    Column("source_run_key", TEXT, nullable=False),
    Column("decision", TEXT, nullable=False),
    Column("note_id", WHOLE, ForeignKey("notes.id", ondelete="SET NULL")),
    Column("merged_into_note_id", WHOLE, ForeignKey("notes.id", ondelete="SET NULL")),
    Column("reason", TEXT, nullable=False),
    Column("created_at", TEXT, nullable=False),
    UniqueConstraint("source_agent", "source_run_key"),
    Index("ix_writeback_receipts_note_id", "note_id"),
    Index("ix_writeback_receipts_merged_into_note_id", "merged_into_note_id"),
    sqlite_autoincrement=True,
)
