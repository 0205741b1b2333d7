"""Notes whose relations are still to be found, so that an import that is killed goes on there.

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

WHOLE = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    """Add the list; nothing waits in it."""
    op.create_table(
        "notes_to_relate",
        sa.Column("note_id", WHOLE, nullable=False),
        sa.ForeignKeyConstraint(
            ["note_id"],
            ["notes.id"],
            name=op.f("fk_notes_to_relate_note_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("note_id", name=op.f("pk_notes_to_relate")),
    )
