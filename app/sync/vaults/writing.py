"""Writes what was read of a folder: new, changed, moved and merely touched files.

Owns which of them a file is in the end, and that an edited note is left alone. The tally is kept
as well where nothing is written, in a dry run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from app.db import chunks, conversations, notes, spaces, tags, vaults
from app.db.vaults import KnownFile
from app.domain.notes import Note
from app.domain.vaults import LeftOut, Moved, VaultNote, VaultRequest
from app.embedding.active import ActiveEmbedder
from app.sync import texts
from app.sync.companions import drop_outdated
from app.sync.transaction import Transaction
from app.sync.vaults import rows
from app.sync.vaults.comparison import Read
from app.sync.vaults.tally import Tally


class BatchWriter:
    """Writes batches of files of one folder."""

    def __init__(
        self, active: ActiveEmbedder, request: VaultRequest, folder: str, tally: Tally
    ) -> None:
        self.request = request
        self.tally = tally
        self._active = active
        self._folder = folder
        self._vault = PurePosixPath(folder).name or folder

    def write(self, unit: Transaction | None, batch: Sequence[Read]) -> None:
        """Write a batch; without a transaction only count it."""
        fresh = [each for each in batch if each.known is None]
        known = [(each, each.known) for each in batch if each.known is not None]
        self._add(unit, fresh)
        self._renew(unit, known)

    def _add(self, unit: Transaction | None, fresh: Sequence[Read]) -> None:
        if unit is not None:
            # Another import may have been quicker.
            paths = [f"{self._folder}/{each.file.path}" for each in fresh]
            taken = vaults.taken(unit.connection, paths)
            fresh = [each for each, path in zip(fresh, paths, strict=True) if path not in taken]
        found = [(each, each.note) for each in fresh if each.note is not None]
        for each, note in found:
            self.tally.new.append(each.file.path)
            self._remark(each, note)
        if unit is None or not found:
            return
        own = [rows.conversation(each, note, self._folder, self._vault) for each, note in found]
        conversations.add(unit.connection, own)
        note_ids = vaults.add_notes(
            unit.connection,
            [
                rows.new_note(each, note, row["id"])
                for (each, note), row in zip(found, own, strict=True)
            ],
        )
        names = {note_id: note.tags for note_id, (_, note) in zip(note_ids, found, strict=True)}
        tags.set_of_notes(unit.connection, names)
        unit.reworded(note_ids)

    def _renew(self, unit: Transaction | None, known: Sequence[tuple[Read, KnownFile]]) -> None:
        edited = {stored.note_id for _, stored in known if stored.is_edited}
        before: Mapping[int, Note] = {}
        if unit is not None:
            found = notes.get_many(unit.connection, [stored.note_id for _, stored in known])
            before = {note.id: note for note in found}
            edited = {note.id for note in found if note.is_edited}
            known = [pair for pair in known if pair[1].note_id in before]
        taken = [
            pair for pair in known if self._takes(*pair, stored_is_edited=pair[1].note_id in edited)
        ]
        if unit is None:
            return
        vaults.change_files(unit.connection, [self._file_row(*pair) for pair in taken])
        for each, stored in taken:
            self._change_note(unit, each, stored.note_id, stored.note_id in edited)
        self._outdate(unit, before, [stored.note_id for each, stored in taken if each.note])

    def _takes(self, read: Read, known: KnownFile, *, stored_is_edited: bool) -> bool:
        """Tally a file; tell whether anything of it is to be written."""
        path = read.file.path
        if read.note is None:
            self.tally.unchanged += 1
            return True
        is_moved = self._is_moved(read, known)
        if is_moved:
            self.tally.moved.append(Moved(self._path_of(known), path))
            return True
        if stored_is_edited and not self.request.overwrites:
            self.tally.kept.append(path)
            return False
        self.tally.changed.append(path)
        self._remark(read, read.note)
        return True

    def _is_moved(self, read: Read, known: KnownFile) -> bool:
        return self._path_of(known) != read.file.path

    def _path_of(self, known: KnownFile) -> str:
        return known.file_path.removeprefix(f"{self._folder}/")

    def _remark(self, read: Read, note: VaultNote) -> None:
        if not note.has_text:
            self.tally.without_text.append(read.file.path)
        if note.warning:
            self.tally.warnings.append(LeftOut(read.file.path, note.warning))

    def _file_row(self, read: Read, known: KnownFile) -> dict[str, object]:
        return {
            "conversation_id": known.conversation_id,
            "path": f"{self._folder}/{read.file.path}",
            "size": read.file.size,
            "modified": rows.modified(read.file),
        }

    def _change_note(
        self, unit: Transaction, read: Read, note_id: int, stored_is_edited: bool
    ) -> None:
        if read.note is None:
            return
        if stored_is_edited and not self.request.overwrites:
            notes.change(unit.connection, note_id, rows.place_columns(read.file))
            return
        columns = rows.changed_note(read, read.note) | rows.place_columns(read.file)
        notes.change(unit.connection, note_id, columns)
        tags.set_of_note(unit.connection, note_id, read.note.tags)
        conversations.change(
            unit.connection,
            read.known.conversation_id if read.known else "",
            {"project_name": read.note.project or self._vault},
        )

    def _outdate(
        self, unit: Transaction, before: Mapping[int, Note], note_ids: Sequence[int]
    ) -> None:
        """Take back the vectors of notes whose text is another one now."""
        active = self._active.current
        known = spaces.text_hashes(unit.connection, active.space_id, note_ids)
        outdated: list[int] = []
        for note in notes.get_many(unit.connection, note_ids):
            drop_outdated(unit, before[note.id], note)
            text_hash = texts.of_note(note, active.embedder.max_chars).text_hash
            spaces.outdate(unit.connection, note.id, text_hash)
            if known.get(note.id) != text_hash:
                outdated.append(note.id)
        unit.removed_vectors(chunks.remove_of_notes(unit.connection, outdated, active.space_id))
        unit.reworded(note_ids)


def remove(unit: Transaction, gone: Sequence[KnownFile]) -> None:
    """Delete the notes of files, with all that is theirs."""
    note_ids = [each.note_id for each in gone]
    unit.removed_vectors(chunks.remove_of_notes(unit.connection, note_ids))
    unit.removed_documents(note_ids)
    for each in gone:
        notes.remove(unit.connection, each.note_id)
        conversations.remove(unit.connection, each.conversation_id)
