"""What searches keep between them.

Owns the list of it. Every cache owns its own rules.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.search.current import VersionOf
from app.search.known_details import KnownDetails
from app.search.known_filters import KnownFilters
from app.search.known_rows import KnownRows


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows of chunks, details of notes and ids that pass filters of one database."""

    rows: KnownRows
    details: KnownDetails
    filters: KnownFilters

    @classmethod
    def over(cls, version_of: VersionOf) -> Kept:
        """Keep as long as this tells of the same version."""
        return cls(KnownRows(version_of), KnownDetails(version_of), KnownFilters(version_of))
