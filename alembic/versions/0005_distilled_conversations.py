"""What imports and distilling keep of conversations.

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
WHOLE = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    """Add what imports and distilling keep; what is derived is written at the next start."""
    _importing()
    _distilling()


def _importing() -> None:
    op.add_column("conversations", sa.Column("content_digest", TEXT, nullable=True))
    op.add_column("messages", sa.Column("tools", TEXT, nullable=True))
    op.create_table(
        "import_files",
        sa.Column("path", TEXT, nullable=False),
        sa.Column("source", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("path", name=op.f("pk_import_files")),
    )
    op.create_table(
        "message_documents",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("conversation_id", TEXT, nullable=False),
        sa.Column("turn", WHOLE, nullable=False),
        sa.Column("first_message", WHOLE, nullable=False),
        sa.Column("last_message", WHOLE, nullable=False),
        sa.Column("postings", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name=op.f("fk_message_documents_conversation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_message_documents")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_message_documents_conversation_id", "message_documents", ["conversation_id"]
    )


def _distilling() -> None:
    op.add_column("conversations", sa.Column("gate_override", TEXT, nullable=True))
    op.add_column("conversations", sa.Column("distilled_digest", TEXT, nullable=True))
    op.create_table(
        "writeback_receipts",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("source_agent", TEXT, nullable=False),
        sa.Column("source_run_key", TEXT, nullable=False),
        sa.Column("decision", TEXT, nullable=False),
        sa.Column("note_id", WHOLE, nullable=True),
        sa.Column("merged_into_note_id", WHOLE, nullable=True),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        *(
            sa.ForeignKeyConstraint(
                [column],
                ["notes.id"],
                name=op.f(f"fk_writeback_receipts_{column}"),
                ondelete="SET NULL",
            )
            for column in ("note_id", "merged_into_note_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_writeback_receipts")),
        sa.UniqueConstraint(
            "source_agent",
            "source_run_key",
            name=op.f("uq_writeback_receipts_source_agent_source_run_key"),
        ),
        sqlite_autoincrement=True,
    )
    for column in ("note_id", "merged_into_note_id"):
        op.create_index(f"ix_writeback_receipts_{column}", "writeback_receipts", [column])
