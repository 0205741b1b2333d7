"""Tables, named and shaped as the original's so that its users recognise them.

Owns the schema that the migrations lead to. Must not hold queries.
"""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMING)

# PostgreSQL compares text by its collation, SQLite by code point; both must answer alike.
# Times are text, as in the original, so that old and new rows compare alike.
TEXT = Text().with_variant(Text(collation="C"), "postgresql")


def _child_of(table: str, column: str = "id") -> ForeignKey:
    return ForeignKey(f"{table}.{column}", ondelete="CASCADE")


conversations = Table(
    "conversations",
    metadata,
    Column("id", TEXT, primary_key=True),
    Column("slug", TEXT),
    Column("source", TEXT, nullable=False, server_default="claude-code"),
    Column("project_dir", TEXT, nullable=False),
    Column("project_name", TEXT, nullable=False),
    Column("cwd", TEXT),
    Column("git_branch", TEXT),
    Column("message_count", Integer, nullable=False, server_default="0"),
    Column("first_message_at", TEXT, nullable=False),
    Column("last_message_at", TEXT, nullable=False),
    Column("file_path", TEXT, nullable=False),
    Column("file_size", Integer),
    Column("file_mtime", TEXT),
    Column("status", TEXT, nullable=False, server_default="imported"),
    Column("experience_score", Float),
    Column("experience_gate_reason", TEXT),
    Column("experience_gate_details", TEXT),
    Column("created_at", TEXT, nullable=False),
    Column("updated_at", TEXT, nullable=False),
    Column("external_id", TEXT, unique=True),
    Index("ix_conversations_source", "source"),
    Index("ix_conversations_status", "status"),
    Index("ix_conversations_last_message_at", "last_message_at"),
    Index("ix_conversations_project_name", "project_name"),
)

messages = Table(
    "messages",
    metadata,
    Column("id", TEXT, primary_key=True),
    Column("conversation_id", TEXT, _child_of("conversations"), nullable=False),
    Column("parent_uuid", TEXT),
    Column("type", TEXT, nullable=False),
    Column("role", TEXT),
    Column("content", TEXT, nullable=False),
    Column("has_tool_use", Integer, nullable=False, server_default="0"),
    Column("has_code", Integer, nullable=False, server_default="0"),
    Column("thinking", TEXT),
    Column("timestamp", TEXT, nullable=False),
    Column("sort_order", Integer, nullable=False),
    Index("ix_messages_conversation_id", "conversation_id", "sort_order"),
)

notes = Table(
    "notes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("conversation_id", TEXT, _child_of("conversations"), nullable=False, unique=True),
    Column("title", TEXT, nullable=False),
    Column("summary", TEXT, nullable=False),
    Column("key_conclusions", TEXT),
    Column("code_snippets", TEXT),
    Column("raw_llm_response", TEXT),
    Column("is_edited", Integer, nullable=False, server_default="0"),
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
    Column("id", Integer, primary_key=True),
    Column("name", TEXT, nullable=False, unique=True),
    sqlite_autoincrement=True,
)

note_tags = Table(
    "note_tags",
    metadata,
    Column("note_id", Integer, _child_of("notes"), primary_key=True),
    Column("tag_id", Integer, _child_of("tags"), primary_key=True),
    Index("ix_note_tags_tag_id", "tag_id"),
)

note_relations = Table(
    "note_relations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("source_note_id", Integer, _child_of("notes"), nullable=False),
    Column("target_note_id", Integer, _child_of("notes"), nullable=False),
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
    Column("id", Integer, primary_key=True),
    Column("source_note_id", Integer, _child_of("notes"), nullable=False),
    # Kept by name while no note answers to it.
    Column("target_note_id", Integer, ForeignKey("notes.id", ondelete="SET NULL")),
    Column("target", TEXT, nullable=False),
    Column("heading", TEXT),
    Column("label", TEXT),
    Column("kind", TEXT, nullable=False),
    Column("position", Integer, nullable=False),
    Index("ix_note_links_source_note_id", "source_note_id", "position"),
    Index("ix_note_links_target_note_id", "target_note_id"),
    sqlite_autoincrement=True,
)

embedding_spaces = Table(
    "embedding_spaces",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("provider", TEXT, nullable=False),
    Column("model", TEXT, nullable=False),
    Column("dimension", Integer),
    Column("border", Float, CheckConstraint("border > 0 AND border < 1", "border"), nullable=False),
    Column("mean_query", LargeBinary),
    Column("mean_query_han", LargeBinary),
    Column("mean_passage", LargeBinary),
    Column("mean_passage_han", LargeBinary),
    Column("max_chars", Integer, nullable=False),
    Column("active", Integer, nullable=False, server_default="0"),
    Column("created_at", TEXT, nullable=False),
    UniqueConstraint("provider", "model"),
    sqlite_autoincrement=True,
)

note_spaces = Table(
    "note_spaces",
    metadata,
    Column("note_id", Integer, _child_of("notes"), primary_key=True),
    Column("space_id", Integer, _child_of("embedding_spaces"), primary_key=True),
    Column("status", TEXT, nullable=False),
    Column("error", TEXT),
    Column("text_hash", TEXT),
    Index("ix_note_spaces_space_id", "space_id", "status"),
)

embeddings = Table(
    "embeddings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("note_id", Integer, _child_of("notes"), nullable=False),
    Column("space_id", Integer, _child_of("embedding_spaces"), nullable=False),
    Column("kind", TEXT, nullable=False),
    Column("chunk_index", Integer, nullable=False, server_default="0"),
    Column("chunk_text", TEXT, nullable=False),
    Column("has_han", Integer, nullable=False),
    Column("heading_path", TEXT),
    Column("start", Integer),
    Column("end", Integer),
    Column("content_hash", TEXT, nullable=False),
    Column("vectra_id", TEXT),
    Column("created_at", TEXT, nullable=False),
    # Last, so that reading a row's text never walks the pages of its vector.
    Column("vector", LargeBinary, nullable=False),
    UniqueConstraint("note_id", "space_id", "kind", "chunk_index"),
    Index("ix_embeddings_space_id", "space_id", "kind", "note_id"),
    sqlite_autoincrement=True,
)

lexical_documents = Table(
    "lexical_documents",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("kind", TEXT, nullable=False),
    Column("note_id", Integer, _child_of("notes")),
    Column("postings", TEXT, nullable=False),
    Index("ix_lexical_documents_note_id", "note_id"),
    sqlite_autoincrement=True,
)

note_opens = Table(
    "note_opens",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("note_id", Integer, _child_of("notes"), nullable=False),
    Column("opened_at", TEXT, nullable=False),
    Index("ix_note_opens_note_id", "note_id"),
    Index("ix_note_opens_opened_at", "opened_at"),
    sqlite_autoincrement=True,
)

index_state = Table(
    "index_state",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1", "single"), primary_key=True),
    Column("sequence", Integer, nullable=False),
    Column("epoch", TEXT, nullable=False),
    Column("trimmed_to", Integer, nullable=False),
)

index_changes = Table(
    "index_changes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("sequence", Integer, nullable=False),
    Column("what", TEXT, nullable=False),
    Column("space_id", Integer),
    Column("kind", TEXT),
    Column("target_id", Integer, nullable=False),
    Column("operation", TEXT, nullable=False),
    Index("ix_index_changes_sequence", "sequence"),
    sqlite_autoincrement=True,
)
