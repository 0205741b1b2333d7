"""Models of one name that make different vectors: each has a space of its own.

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

WHOLE = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
TABLE = "embedding_spaces"


def upgrade() -> None:
    """Number the spaces of a model's name; those that there are have the number 0."""
    bind = op.get_bind()
    is_sqlite = bind.dialect.name == "sqlite"
    where = {"table": TABLE}
    last = 0
    if is_sqlite:
        last = bind.scalar(sa.text("SELECT seq FROM sqlite_sequence WHERE name = :table"), where)
    place = {"insert_after": "model"} if is_sqlite else {}
    with op.batch_alter_table(
        TABLE,
        recreate="always" if is_sqlite else "never",
        table_kwargs={"sqlite_autoincrement": True},
    ) as batch:
        batch.add_column(sa.Column("variant", WHOLE, nullable=False, server_default="0"), **place)
        batch.drop_constraint(op.f("uq_embedding_spaces_provider_model"), type_="unique")
        batch.create_unique_constraint(
            op.f("uq_embedding_spaces_provider_model_variant"), ["provider", "model", "variant"]
        )
    if is_sqlite and last:
        bind.execute(sa.text("DELETE FROM sqlite_sequence WHERE name = :table"), where)
        bind.execute(
            sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :last)"),
            {**where, "last": last},
        )
