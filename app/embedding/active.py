"""The embedder in use, which a change of settings may replace while requests run.

Owns the one reference. Whoever embeds takes it once per piece of work, so that an embedder and
its space always belong together.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.embedding.base import Embedder
from app.settings.values import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Active:
    """An embedder, the settings it was made from, and the id of the space it fills."""

    settings: Settings
    embedder: Embedder
    space_id: int


class ActiveEmbedder:
    """Holds what is in use now, and what was before until everything is closed."""

    def __init__(self, active: Active) -> None:
        self._active = active
        self._retired: list[Embedder] = []

    @property
    def current(self) -> Active:
        """What is in use now; keep it for a whole piece of work."""
        return self._active

    def replace(self, active: Active) -> None:
        """Use another embedder from now on; work at hand ends with the old one."""
        if active.embedder is not self._active.embedder:
            self._retired.append(self._active.embedder)
        self._active = active

    def close(self) -> None:
        """Close every embedder that was ever in use."""
        for embedder in (*self._retired, self._active.embedder):
            embedder.close()
