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
WHOLE = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    """Create the tables of links, and of the names that they call notes by."""
    op.create_table(
        "note_links",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("source_note_id", WHOLE, nullable=False),
        sa.Column("target_note_id", WHOLE, nullable=True),
        sa.Column("target", TEXT, nullable=False),
        sa.Column("heading", TEXT, nullable=True),
        sa.Column("label", TEXT, nullable=True),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("position", WHOLE, nullable=False),
        sa.Column("name_key", TEXT, nullable=False),
        sa.Column("in_body", WHOLE, server_default="1", nullable=False),
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
    op.create_index("ix_note_links_name_key", "note_links", ["name_key"])
    op.create_table(
        "note_names",
        sa.Column("note_id", WHOLE, nullable=False),
        sa.Column("name_key", TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"],
            ["notes.id"],
            name=op.f("fk_note_names_note_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("note_id", "name_key", name=op.f("pk_note_names")),
    )
    op.create_index("ix_note_names_name_key", "note_names", ["name_key"])
