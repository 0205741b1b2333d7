"""Tokens that may use the API, and what they may do.

The token itself is shown once, when it is made; what is kept is its digest.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

SCOPE_READ = "read"
SCOPE_WRITE = "write"
SCOPES = (SCOPE_READ, SCOPE_WRITE)
"""Who may write may read as well."""

PREFIX = "ccs_"
"""So that a token is known for one where it should not be, in a log or a repository."""

_BYTES = 32


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token as lists show it."""

    id: int
    name: str
    scope: str
    created_at: str


def new_token() -> str:
    """Return a token that nobody can guess."""
    return PREFIX + secrets.token_urlsafe(_BYTES)


def token_digest(token: str) -> str:
    """Return what is kept of a token: its SHA-256, hexadecimal.

    A token is as long as the digest, so nothing slower is needed.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
