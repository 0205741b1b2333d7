"""What answers show of notes, kept between searches while nothing is committed.

Owns the cache. Must not know which notes are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from sqlalchemy import Connection

from app.db import notes
from app.db.notes import NoteDetails
from app.search.known_rows import VersionOf

MOST_NOTES = 20_000
"""Of so many notes project and tags are kept, some 10 MB."""

Moment = tuple[str, object]


class KnownDetails:
    """Project and tags of the notes that were found last, as one version of the database has them.

    Whatever is committed, by whatever program, makes them be read anew.
    """

    def __init__(self, version_of: VersionOf, most: int = MOST_NOTES) -> None:
        """Keep so many at most.

        Args:
            version_of: Tells what is equal for two snapshots only if they hold the same data,
                None where that is not known.
        """
        self._version_of = version_of
        self._most = most
        self._moment: Moment | None = None
        self._details: dict[int, NoteDetails] = {}
        self._lock = Lock()

    def read(
        self, connection: Connection, epoch: str, note_ids: Sequence[int], fields: tuple[str, ...]
    ) -> dict[int, NoteDetails]:
        """Return project, tags and the named columns of notes, as the snapshot has them.

        Args:
            epoch: That of the snapshot, which must have been read before.
            fields: Columns, which may be long; notes with such are read each time.
        """
        version = None if fields else self._version_of(connection)
        if version is None:
            return notes.details(connection, note_ids, fields)
        moment = (epoch, version)
        known = self._known(moment, note_ids)
        unknown = [note_id for note_id in note_ids if note_id not in known]
        if unknown:
            found = notes.details(connection, unknown, ())
            self._keep(moment, found)
            known |= found
        return known

    def _known(self, moment: Moment, note_ids: Sequence[int]) -> dict[int, NoteDetails]:
        with self._lock:
            if moment != self._moment or len(self._details) > self._most:
                self._moment, self._details = moment, {}
            details = self._details
            return {note_id: details[note_id] for note_id in note_ids if note_id in details}

    def _keep(self, moment: Moment, found: dict[int, NoteDetails]) -> None:
        with self._lock:
            # Another search may have gone on to another version meanwhile.
            if moment == self._moment:
                self._details |= found
