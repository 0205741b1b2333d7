"""Conversations, their messages, and the files that they were read from."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Table

from app.db.models.base import TEXT, WHOLE, child_of, metadata

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
    Column("message_count", WHOLE, nullable=False, server_default="0"),
    Column("first_message_at", TEXT, nullable=False),
    Column("last_message_at", TEXT, nullable=False),
    Column("file_path", TEXT, nullable=False),
    Column("file_size", WHOLE),
    Column("file_mtime", TEXT),
    Column("status", TEXT, nullable=False, server_default="imported"),
    Column("experience_score", Float),
    Column("experience_gate_reason", TEXT),
    Column("experience_gate_details", TEXT),
    Column("created_at", TEXT, nullable=False),
    Column("updated_at", TEXT, nullable=False),
    Column("external_id", TEXT, unique=True),
    # Of the messages as a tool's file last gave them.
    Column("content_digest", TEXT),
    # What a person made of the gate's judgement (keep, drop), and what the note was distilled from.
    Column("gate_override", TEXT),
    Column("distilled_digest", TEXT),
    Index("ix_conversations_source", "source"),
    Index("ix_conversations_status", "status"),
    Index("ix_conversations_last_message_at", "last_message_at"),
    Index("ix_conversations_project_name", "project_name"),
)

messages = Table(
    "messages",
    metadata,
    Column("id", TEXT, primary_key=True),
    Column("conversation_id", TEXT, child_of("conversations"), nullable=False),
    Column("parent_uuid", TEXT),
    Column("type", TEXT, nullable=False),
    Column("role", TEXT),
    Column("content", TEXT, nullable=False),
    Column("has_tool_use", WHOLE, nullable=False, server_default="0"),
    Column("has_code", WHOLE, nullable=False, server_default="0"),
    Column("thinking", TEXT),
    Column("timestamp", TEXT, nullable=False),
    Column("sort_order", WHOLE, nullable=False),
    Column("tools", TEXT),
    Index("ix_messages_conversation_id", "conversation_id", "sort_order"),
)

# Files of tools that were read, and their size and time then.
import_files = Table(
    "import_files",
    metadata,
    Column("path", TEXT, primary_key=True),
    Column("source", TEXT, nullable=False),
    Column("state", TEXT, nullable=False),
)

# Apart from lexical_documents: there are many more of them, and searches for notes never read them.
message_documents = Table(
    "message_documents",
    metadata,
    Column("id", WHOLE, primary_key=True),
    Column("conversation_id", TEXT, child_of("conversations"), nullable=False),
    Column("turn", WHOLE, nullable=False),
    Column("first_message", WHOLE, nullable=False),
    Column("last_message", WHOLE, nullable=False),
    Column("postings", TEXT, nullable=False),
    Index("ix_message_documents_conversation_id", "conversation_id"),
    sqlite_autoincrement=True,
)
