"""What a setting is: a row of the table, and the kinds of texts that it may have.

Owns the two types. Must not hold any setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """How the text of a setting is read."""

    TEXT = "text"
    SECRET = "secret"
    INTEGER = "whole number"
    NUMBER = "number"
    LIST = "comma-separated list"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table.

    ``environment`` lists variables, the first one that is set wins. ``over_http`` says whether
    POST /api/config may change it: never paths, folders or addresses of this machine.
    """

    name: str
    default: str
    environment: tuple[str, ...]
    help: str
    kind: Kind = Kind.TEXT
    minimum: float = 0
    maximum: float = float("inf")
    choices: tuple[str, ...] = ()
    over_http: bool = False
