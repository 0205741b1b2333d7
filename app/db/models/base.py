"""What every table is built with: names of constraints, the type of texts, parents.

Owns the metadata that all tables register with.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, ForeignKey, Integer, MetaData, Text

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = MetaData(naming_convention=NAMING)

# PostgreSQL compares text by its collation, SQLite by code point; both must answer alike.
# Times are text, as in the original, so that old and new rows compare alike.
TEXT = Text().with_variant(Text(collation="C"), "postgresql")

# Whole numbers of SQLite have 64 bits, and so have those that an import may bring.
WHOLE = Integer().with_variant(BigInteger(), "postgresql")


def child_of(table: str, column: str = "id") -> ForeignKey:
    """Return a key to a parent row, with which the row goes."""
    return ForeignKey(f"{table}.{column}", ondelete="CASCADE")
