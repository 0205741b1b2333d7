"""What searches keep between them.

Owns the list of it. Every cache owns its own rules.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.search.known_details import KnownDetails
from app.search.known_rows import KnownRows, VersionOf


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows of chunks, and the details of notes, that searches of one database share."""

    rows: KnownRows
    details: KnownDetails

    @classmethod
    def over(cls, version_of: VersionOf) -> Kept:
        """Keep as long as this tells of the same version."""
        return cls(KnownRows(version_of), KnownDetails(version_of))
