"""Tokens that may use the API; only their digests are kept.

Revision ID: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
WHOLE = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    """Create the table of tokens."""
    op.create_table(
        "api_tokens",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("scope", TEXT, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("created_at", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("name", name=op.f("uq_api_tokens_name")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_tokens_digest")),
        sqlite_autoincrement=True,
    )
