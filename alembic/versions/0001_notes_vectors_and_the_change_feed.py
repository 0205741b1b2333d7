"""Notes, vectors and the change feed.

Revision ID: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
WHOLE = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    """Create all tables."""
    op.create_table(
        "conversations",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("slug", TEXT, nullable=True),
        sa.Column(
            "source",
            TEXT,
            server_default="claude-code",
            nullable=False,
        ),
        sa.Column(
            "project_dir",
            TEXT,
            nullable=False,
        ),
        sa.Column(
            "project_name",
            TEXT,
            nullable=False,
        ),
        sa.Column("cwd", TEXT, nullable=True),
        sa.Column(
            "git_branch",
            TEXT,
            nullable=True,
        ),
        sa.Column("message_count", WHOLE, server_default="0", nullable=False),
        sa.Column(
            "first_message_at",
            TEXT,
            nullable=False,
        ),
        sa.Column(
            "last_message_at",
            TEXT,
            nullable=False,
        ),
        sa.Column(
            "file_path",
            TEXT,
            nullable=False,
        ),
        sa.Column("file_size", WHOLE, nullable=True),
        sa.Column(
            "file_mtime",
            TEXT,
            nullable=True,
        ),
        sa.Column(
            "status",
            TEXT,
            server_default="imported",
            nullable=False,
        ),
        sa.Column("experience_score", sa.Float(), nullable=True),
        sa.Column(
            "experience_gate_reason",
            TEXT,
            nullable=True,
        ),
        sa.Column(
            "experience_gate_details",
            TEXT,
            nullable=True,
        ),
        sa.Column(
            "created_at",
            TEXT,
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            TEXT,
            nullable=False,
        ),
        sa.Column(
            "external_id",
            TEXT,
            nullable=True,
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversations")),
        sa.UniqueConstraint("external_id", name=op.f("uq_conversations_external_id")),
    )
    with op.batch_alter_table("conversations", schema=None) as batch_op:
        batch_op.create_index("ix_conversations_last_message_at", ["last_message_at"], unique=False)
        batch_op.create_index("ix_conversations_project_name", ["project_name"], unique=False)
        batch_op.create_index("ix_conversations_source", ["source"], unique=False)
        batch_op.create_index("ix_conversations_status", ["status"], unique=False)

    op.create_table(
        "embedding_spaces",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("provider", TEXT, nullable=False),
        sa.Column("model", TEXT, nullable=False),
        sa.Column("dimension", WHOLE, nullable=True),
        sa.Column("border", sa.Float(), nullable=False),
        sa.Column("mean_query", sa.LargeBinary(), nullable=True),
        sa.Column("mean_query_han", sa.LargeBinary(), nullable=True),
        sa.Column("mean_passage", sa.LargeBinary(), nullable=True),
        sa.Column("mean_passage_han", sa.LargeBinary(), nullable=True),
        sa.Column("max_chars", WHOLE, nullable=False),
        sa.Column("active", WHOLE, server_default="0", nullable=False),
        sa.Column(
            "created_at",
            TEXT,
            nullable=False,
        ),
        sa.CheckConstraint("border > 0 AND border < 1", name=op.f("ck_embedding_spaces_border")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_embedding_spaces")),
        sa.UniqueConstraint("provider", "model", name=op.f("uq_embedding_spaces_provider_model")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "index_changes",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("sequence", WHOLE, nullable=False),
        sa.Column("what", TEXT, nullable=False),
        sa.Column("space_id", WHOLE, nullable=True),
        sa.Column("kind", TEXT, nullable=True),
        sa.Column("target_id", WHOLE, nullable=False),
        sa.Column(
            "operation",
            TEXT,
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_index_changes")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("index_changes", schema=None) as batch_op:
        batch_op.create_index("ix_index_changes_sequence", ["sequence"], unique=False)

    op.create_table(
        "index_state",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("sequence", WHOLE, nullable=False),
        sa.Column("epoch", TEXT, nullable=False),
        sa.Column("trimmed_to", WHOLE, nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_index_state_single")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_index_state")),
    )
    op.create_table(
        "tags",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tags")),
        sa.UniqueConstraint("name", name=op.f("uq_tags_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "messages",
        sa.Column("id", TEXT, nullable=False),
        sa.Column(
            "conversation_id",
            TEXT,
            nullable=False,
        ),
        sa.Column(
            "parent_uuid",
            TEXT,
            nullable=True,
        ),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("role", TEXT, nullable=True),
        sa.Column("content", TEXT, nullable=False),
        sa.Column("has_tool_use", WHOLE, server_default="0", nullable=False),
        sa.Column("has_code", WHOLE, server_default="0", nullable=False),
        sa.Column("thinking", TEXT, nullable=True),
        sa.Column(
            "timestamp",
            TEXT,
            nullable=False,
        ),
        sa.Column("sort_order", WHOLE, nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name=op.f("fk_messages_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_messages")),
    )
    with op.batch_alter_table("messages", schema=None) as batch_op:
        batch_op.create_index(
            "ix_messages_conversation_id", ["conversation_id", "sort_order"], unique=False
        )

    op.create_table(
        "notes",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column(
            "conversation_id",
            TEXT,
            nullable=False,
        ),
        sa.Column("title", TEXT, nullable=False),
        sa.Column("summary", TEXT, nullable=False),
        sa.Column(
            "key_conclusions",
            TEXT,
            nullable=True,
        ),
        sa.Column(
            "code_snippets",
            TEXT,
            nullable=True,
        ),
        sa.Column(
            "raw_llm_response",
            TEXT,
            nullable=True,
        ),
        sa.Column("is_edited", WHOLE, server_default="0", nullable=False),
        sa.Column(
            "embedding_status",
            TEXT,
            server_default="pending",
            nullable=False,
        ),
        sa.Column(
            "project_key",
            TEXT,
            nullable=True,
        ),
        sa.Column(
            "scope",
            TEXT,
            server_default="project",
            nullable=False,
        ),
        sa.Column(
            "source_type",
            TEXT,
            server_default="imported-conversation",
            nullable=False,
        ),
        sa.Column(
            "source_agent",
            TEXT,
            server_default="unknown",
            nullable=False,
        ),
        sa.Column("task_kind", TEXT, nullable=True),
        sa.Column(
            "error_signatures",
            TEXT,
            nullable=True,
        ),
        sa.Column(
            "files_touched",
            TEXT,
            nullable=True,
        ),
        sa.Column(
            "outcome_type",
            TEXT,
            nullable=True,
        ),
        sa.Column(
            "created_at",
            TEXT,
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            TEXT,
            nullable=True,
        ),
        sa.Column("body", TEXT, nullable=True),
        sa.Column("aliases", TEXT, nullable=True),
        sa.Column("path", TEXT, nullable=True),
        sa.Column("slug", TEXT, nullable=True),
        sa.Column(
            "content_digest",
            TEXT,
            nullable=True,
        ),
        sa.Column(
            "external_id",
            TEXT,
            nullable=True,
        ),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name=op.f("fk_notes_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notes")),
        sa.UniqueConstraint("conversation_id", name=op.f("uq_notes_conversation_id")),
        sa.UniqueConstraint("external_id", name=op.f("uq_notes_external_id")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("notes", schema=None) as batch_op:
        batch_op.create_index("ix_notes_created_at", ["created_at", "id"], unique=False)
        batch_op.create_index("ix_notes_embedding_status", ["embedding_status"], unique=False)
        batch_op.create_index("ix_notes_path", ["path"], unique=False)
        batch_op.create_index("ix_notes_slug", ["slug"], unique=False)

    op.create_table(
        "embeddings",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("note_id", WHOLE, nullable=False),
        sa.Column("space_id", WHOLE, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("chunk_index", WHOLE, server_default="0", nullable=False),
        sa.Column(
            "chunk_text",
            TEXT,
            nullable=False,
        ),
        sa.Column("has_han", WHOLE, nullable=False),
        sa.Column(
            "heading_path",
            TEXT,
            nullable=True,
        ),
        sa.Column("start", WHOLE, nullable=True),
        sa.Column("end", WHOLE, nullable=True),
        sa.Column(
            "content_hash",
            TEXT,
            nullable=False,
        ),
        sa.Column("vectra_id", TEXT, nullable=True),
        sa.Column(
            "created_at",
            TEXT,
            nullable=False,
        ),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"], ["notes.id"], name=op.f("fk_embeddings_note_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["space_id"],
            ["embedding_spaces.id"],
            name=op.f("fk_embeddings_space_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_embeddings")),
        sa.UniqueConstraint(
            "note_id",
            "space_id",
            "kind",
            "chunk_index",
            name=op.f("uq_embeddings_note_id_space_id_kind_chunk_index"),
        ),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("embeddings", schema=None) as batch_op:
        batch_op.create_index(
            "ix_embeddings_space_id", ["space_id", "kind", "note_id"], unique=False
        )

    op.create_table(
        "note_relations",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("source_note_id", WHOLE, nullable=False),
        sa.Column("target_note_id", WHOLE, nullable=False),
        sa.Column(
            "relation_type",
            TEXT,
            nullable=False,
        ),
        sa.Column("confidence", sa.Float(), server_default="1.0", nullable=True),
        sa.Column(
            "description",
            TEXT,
            nullable=True,
        ),
        sa.Column(
            "created_by",
            TEXT,
            server_default="manual",
            nullable=False,
        ),
        sa.Column(
            "created_at",
            TEXT,
            nullable=False,
        ),
        sa.ForeignKeyConstraint(
            ["source_note_id"],
            ["notes.id"],
            name=op.f("fk_note_relations_source_note_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["target_note_id"],
            ["notes.id"],
            name=op.f("fk_note_relations_target_note_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_note_relations")),
        sa.UniqueConstraint(
            "source_note_id",
            "target_note_id",
            "relation_type",
            name=op.f("uq_note_relations_source_note_id_target_note_id_relation_type"),
        ),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("note_relations", schema=None) as batch_op:
        batch_op.create_index("ix_note_relations_target_note_id", ["target_note_id"], unique=False)

    op.create_table(
        "note_spaces",
        sa.Column("note_id", WHOLE, nullable=False),
        sa.Column("space_id", WHOLE, nullable=False),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("error", TEXT, nullable=True),
        sa.Column("text_hash", TEXT, nullable=True),
        sa.ForeignKeyConstraint(
            ["note_id"], ["notes.id"], name=op.f("fk_note_spaces_note_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["space_id"],
            ["embedding_spaces.id"],
            name=op.f("fk_note_spaces_space_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("note_id", "space_id", name=op.f("pk_note_spaces")),
    )
    with op.batch_alter_table("note_spaces", schema=None) as batch_op:
        batch_op.create_index("ix_note_spaces_space_id", ["space_id", "status"], unique=False)

    op.create_table(
        "note_tags",
        sa.Column("note_id", WHOLE, nullable=False),
        sa.Column("tag_id", WHOLE, nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"], ["notes.id"], name=op.f("fk_note_tags_note_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["tag_id"], ["tags.id"], name=op.f("fk_note_tags_tag_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("note_id", "tag_id", name=op.f("pk_note_tags")),
    )
    with op.batch_alter_table("note_tags", schema=None) as batch_op:
        batch_op.create_index("ix_note_tags_tag_id", ["tag_id"], unique=False)
