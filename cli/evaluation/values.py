"""What an evaluation passes on: ways to ask, notes, answers, judgements. Owns the values alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cli.evaluation.queries import GradedQuery

LIKE = "like"
SEARCH = "search"
ENTRANCES = (LIKE, SEARCH)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be measured: rankers (none: all), entrances, with and without expansion.

    ``worst`` is how many queries are explained. The means are compared with the ``baseline``,
    which is written anew where that ``is_renewed``; ``chart`` is where a chart goes.
    """

    rankers: tuple[str, ...] = ()
    entrances: tuple[str, ...] = ENTRANCES
    expansions: tuple[bool, ...] = (False,)
    worst: int = 0
    baseline: Path | None = None
    is_renewed: bool = False
    chart: Path | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """One way to ask: LIKE, or a ranker with or without expansion.

    ``takes_cut`` tells whether the border of relevance can be switched off.
    """

    entrance: str
    ranker: str | None = None
    expand: bool = False
    takes_cut: bool = False

    def keys(self) -> dict[str, Any]:
        """Return what identifies the method in JSON."""
        return {"ranker": self.ranker, "entrance": self.entrance, "expand": self.expand}


@dataclass(frozen=True, slots=True)
class ServedNote:
    """A note of the server with the names that a file may call it by, and its item as served."""

    id: int
    title: str
    external_id: str | None = None
    path: str | None = None
    item: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """One note of an answer; LIKE gives no score."""

    note_id: int
    title: str
    score: float | None = None
    via_relation: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers to a query, best first: ``order`` without a border, ``shown`` with it.

    ``milliseconds`` is the time of the second.
    """

    order: tuple[Found, ...]
    shown: tuple[Found, ...]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """A query with its grades by note id as text; a name that no note has stays one."""

    query: GradedQuery
    grades: Mapping[str, int]
