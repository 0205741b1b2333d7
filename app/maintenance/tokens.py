"""Tokens of one database: making, listing and revoking them, and telling whose a token is.

Owns the rule that a token is shown once. A revoked token stops at the next request.
"""

from __future__ import annotations

from app.db import tokens
from app.db.engine import Database
from app.domain.tokens import SCOPES, ApiToken, new_token, token_digest
from app.errors import Conflict, InvalidParameter, NotFound
from app.text import is_blank


class TokenKeeper:
    """Keeps the tokens of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, name: str, scope: str) -> str:
        """Make a token and return it; it cannot be had again.

        Raises:
            InvalidParameter: the name is blank, or there is no such scope.
            Conflict: there is a token of this name.
        """
        if is_blank(name):
            raise InvalidParameter("name", "must not be blank")
        if scope not in SCOPES:
            raise InvalidParameter("scope", f"must be one of {', '.join(SCOPES)}")
        token = new_token()
        with self._database.write() as connection:
            if tokens.named(connection, name) is not None:
                raise Conflict(f"There is a token named {name}; revoke it first")
            tokens.add(connection, name, scope, token_digest(token))
        return token

    def every(self) -> tuple[ApiToken, ...]:
        """Return all tokens, oldest first."""
        with self._database.read() as connection:
            return tokens.every(connection)

    def revoke(self, name: str) -> None:
        """Make a token worthless.

        Raises:
            NotFound: there is no token of this name.
        """
        with self._database.write() as connection:
            if not tokens.remove(connection, name):
                raise NotFound(f"There is no token named {name}")

    def scope_of(self, token: str) -> str | None:
        """Return what a token may do, None when it is none of ours."""
        with self._database.read() as connection:
            return tokens.scope_of(connection, token_digest(token))
