"""The embedders in use, which a change of settings may replace while requests run.

Owns the references. Whoever embeds takes one of them once per piece of work, so that an embedder
and its space always belong together. Notes are embedded with ``current``; queries with
``searching``, which is the model of before until every note has vectors of the current one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from app.embedding.base import Embedder
from app.settings.values import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Active:
    """An embedder, the settings it was made from, and the id of the space it fills."""

    settings: Settings
    embedder: Embedder
    space_id: int


@dataclass(frozen=True, slots=True, eq=False)
class SecondSpace:
    """A model that rankers may weigh beside the one in use, and its space; never replaced."""

    embedder: Embedder
    space_id: int


class Holder(Protocol):
    """Whatever says which embedder fills which space now."""

    @property
    def current(self) -> Active:
        """What is in use now; keep it for a whole piece of work."""


class ActiveEmbedder:
    """Holds what is in use now, and what was before until everything is closed."""

    def __init__(self, active: Active) -> None:
        self._active = active
        self._searching = active
        self._made: list[Embedder] = [active.embedder]

    @property
    def current(self) -> Active:
        """What notes are embedded with now; keep it for a whole piece of work."""
        return self._active

    @property
    def searching(self) -> Active:
        """What queries are embedded with now; keep it for a whole piece of work."""
        return self._searching

    def replace(self, active: Active, searched_space: int | None = None) -> None:
        """Use another embedder for notes from now on; work at hand ends with the old one.

        Queries are embedded with it too, unless the space that is searched is another one.
        """
        self._keep(active.embedder)
        self._active = active
        if searched_space in (None, active.space_id):
            self._searching = active

    def search_with(self, active: Active) -> None:
        """Embed queries with this from now on."""
        self._keep(active.embedder)
        self._searching = active

    def _keep(self, embedder: Embedder) -> None:
        if not any(known is embedder for known in self._made):
            self._made.append(embedder)

    def close(self) -> None:
        """Close every embedder that was ever in use."""
        for embedder in self._made:
            embedder.close()


class Searching:
    """What queries are embedded with, for whoever brings its space up to date."""

    def __init__(self, active: ActiveEmbedder) -> None:
        self._active = active

    @property
    def current(self) -> Active:
        """What is in use now; keep it for a whole piece of work."""
        return self._active.searching
