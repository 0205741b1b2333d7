"""Entities that notes mention, and lexical documents of chunks.

Revision ID: 0004
Revises: 0003
"""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from alembic import op
from alembic.operations import BatchOperations

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
WHOLE = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    """Create the tables; entities and documents are written at the next start."""
    _create_entities()
    with _rebuilt("embeddings") as batch:
        batch.alter_column("note_id", existing_type=WHOLE, nullable=True)
        _add(batch, "entity_id", "note_id")
        batch.create_foreign_key(
            op.f("fk_embeddings_entity_id"), "entities", ["entity_id"], ["id"], ondelete="CASCADE"
        )
        batch.create_unique_constraint(
            op.f("uq_embeddings_entity_id_space_id"), ["entity_id", "space_id"]
        )
        batch.create_check_constraint(
            op.f("ck_embeddings_owner"), "(note_id IS NULL) <> (entity_id IS NULL)"
        )
    _create_mentions_of_chunks()
    with _rebuilt("lexical_documents") as batch:
        batch.drop_index("ix_lexical_documents_note_id")
        _add(batch, "chunk_id", "note_id")
        _add(batch, "entity_id", "chunk_id")
        batch.create_foreign_key(
            op.f("fk_lexical_documents_chunk_id"),
            "embeddings",
            ["chunk_id"],
            ["id"],
            ondelete="SET NULL",
        )
        batch.create_foreign_key(
            op.f("fk_lexical_documents_entity_id"),
            "entities",
            ["entity_id"],
            ["id"],
            ondelete="CASCADE",
        )
        batch.create_index("ix_lexical_documents_note_id", ["note_id", "kind"])
        batch.create_index("ix_lexical_documents_chunk_id", ["chunk_id", "kind"])
        batch.create_index("ix_lexical_documents_entity_id", ["entity_id"])


@contextmanager
def _rebuilt(table: str) -> Iterator[BatchOperations]:
    """Change a table, which SQLite does by writing it anew; no id may be given twice after it."""
    bind = op.get_bind()
    is_sqlite = bind.dialect.name == "sqlite"
    where = {"table": table}
    last = 0
    if is_sqlite:
        last = bind.scalar(sa.text("SELECT seq FROM sqlite_sequence WHERE name = :table"), where)
    with op.batch_alter_table(
        table,
        recreate="always" if is_sqlite else "never",
        table_kwargs={"sqlite_autoincrement": True},
    ) as batch:
        yield batch
    if is_sqlite and last:
        bind.execute(sa.text("DELETE FROM sqlite_sequence WHERE name = :table"), where)
        bind.execute(
            sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :last)"),
            {**where, "last": last},
        )


def _add(batch: BatchOperations, name: str, after: str) -> None:
    """Add a column of ids; only a table that is written anew has a say in where it stands."""
    place = {"insert_after": after} if op.get_bind().dialect.name == "sqlite" else {}
    batch.add_column(sa.Column(name, WHOLE), **place)


def _child_of(table: str, parent: str, column: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{parent}.id"], name=op.f(f"fk_{table}_{column}"), ondelete="CASCADE"
    )


def _create_entities() -> None:
    op.create_table(
        "entities",
        sa.Column("id", WHOLE, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entities")),
        sa.UniqueConstraint("kind", "name", name=op.f("uq_entities_kind_name")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "note_entities",
        sa.Column("note_id", WHOLE, nullable=False),
        sa.Column("entity_id", WHOLE, nullable=False),
        _child_of("note_entities", "notes", "note_id"),
        _child_of("note_entities", "entities", "entity_id"),
        sa.PrimaryKeyConstraint("note_id", "entity_id", name=op.f("pk_note_entities")),
    )
    op.create_index("ix_note_entities_entity_id", "note_entities", ["entity_id", "note_id"])


def _create_mentions_of_chunks() -> None:
    table = "chunk_entities"
    op.create_table(
        table,
        sa.Column("chunk_id", WHOLE, nullable=False),
        sa.Column("entity_id", WHOLE, nullable=False),
        sa.Column("space_id", WHOLE, nullable=False),
        _child_of(table, "embeddings", "chunk_id"),
        _child_of(table, "entities", "entity_id"),
        _child_of(table, "embedding_spaces", "space_id"),
        sa.PrimaryKeyConstraint("chunk_id", "entity_id", name=op.f("pk_chunk_entities")),
    )
    op.create_index("ix_chunk_entities_entity_id", table, ["entity_id", "space_id", "chunk_id"])
    op.create_index("ix_chunk_entities_space_id", table, ["space_id"])
