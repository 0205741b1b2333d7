"""Lexical documents, and when notes were opened.

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
WHOLE = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    """Create both tables; documents are written at the next start."""
    op.create_table(
        "lexical_documents",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("note_id", WHOLE, nullable=True),
        sa.Column("postings", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"],
            ["notes.id"],
            name=op.f("fk_lexical_documents_note_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lexical_documents")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_lexical_documents_note_id", "lexical_documents", ["note_id"])
    op.create_table(
        "note_opens",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("note_id", WHOLE, nullable=False),
        sa.Column("opened_at", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"], ["notes.id"], name=op.f("fk_note_opens_note_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_note_opens")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_note_opens_note_id", "note_opens", ["note_id"])
    op.create_index("ix_note_opens_opened_at", "note_opens", ["opened_at"])
