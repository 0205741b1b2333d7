"""What answers show of notes, kept between searches while nothing is committed.

Owns what is kept of them. Must not know which notes are found.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from app.db import notes
from app.db.notes import NoteDetails
from app.search.current import Current, VersionOf

MOST_NOTES = 20_000
"""Of so many notes project and tags are kept, some 10 MB."""


class KnownDetails:
    """Project and tags of the notes that were found last."""

    def __init__(self, version_of: VersionOf, most: int = MOST_NOTES) -> None:
        """Keep those of so many notes."""
        self._kept: Current[int, NoteDetails] = Current(version_of, most, lambda _: 1)

    def read(
        self, connection: Connection, epoch: str, note_ids: Sequence[int], fields: tuple[str, ...]
    ) -> dict[int, NoteDetails]:
        """Return project, tags and the named columns of notes, as the snapshot has them.

        Args:
            epoch: That of the snapshot, which must have been read before.
            fields: Columns, which may be long; notes with such are read each time.
        """
        moment = None if fields else self._kept.moment_of(connection, epoch)
        known = self._kept.find(moment, note_ids)
        unknown = [note_id for note_id in note_ids if note_id not in known]
        if unknown:
            found = notes.details(connection, unknown, fields)
            self._kept.keep(moment, found)
            known |= found
        return known
