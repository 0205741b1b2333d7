"""Links between notes, kept by name until their note arrives.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the table of links."""
    op.create_table(
        "note_links",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("source_note_id", sa.Integer(), nullable=False),
        sa.Column("target_note_id", sa.Integer(), nullable=True),
        sa.Column("target", TEXT, nullable=False),
        sa.Column("heading", TEXT, nullable=True),
        sa.Column("label", TEXT, nullable=True),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_note_id"],
            ["notes.id"],
            name=op.f("fk_note_links_source_note_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["target_note_id"],
            ["notes.id"],
            name=op.f("fk_note_links_target_note_id"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_note_links")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_note_links_source_note_id", "note_links", ["source_note_id", "position"])
    op.create_index("ix_note_links_target_note_id", "note_links", ["target_note_id"])
