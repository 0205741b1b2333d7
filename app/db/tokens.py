"""Queries on API tokens. A token itself is never read or written here, only its digest."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, insert, select

from app.db.columns import now
from app.db.models import api_tokens
from app.domain.tokens import ApiToken

_SHOWN = select(api_tokens.c.id, api_tokens.c.name, api_tokens.c.scope, api_tokens.c.created_at)


def add(connection: Connection, name: str, scope: str, digest: str) -> None:
    """Keep a token; its name must be free."""
    connection.execute(
        insert(api_tokens).values(name=name, scope=scope, digest=digest, created_at=now())
    )


def every(connection: Connection) -> tuple[ApiToken, ...]:
    """Return all tokens, by id."""
    rows = connection.execute(_SHOWN.order_by(api_tokens.c.id))
    return tuple(ApiToken(*row) for row in rows)


def named(connection: Connection, name: str) -> ApiToken | None:
    """Return the token of a name."""
    row = connection.execute(_SHOWN.where(api_tokens.c.name == name)).one_or_none()
    return ApiToken(*row) if row else None


def remove(connection: Connection, name: str) -> bool:
    """Delete the token of a name; tell whether there was one."""
    return connection.execute(delete(api_tokens).where(api_tokens.c.name == name)).rowcount > 0


def scope_of(connection: Connection, digest: str) -> str | None:
    """Return what the token of a digest may do, None when there is no such token."""
    found: str | None = connection.execute(
        select(api_tokens.c.scope).where(api_tokens.c.digest == digest)
    ).scalar()
    return found


def count(connection: Connection) -> int:
    """Count the tokens."""
    return connection.execute(select(func.count()).select_from(api_tokens)).scalar_one()
