"""Imports of a folder: compares, reads in batches, and writes each batch in one transaction.

Owns the order of it and the report. A run that was cut off is simply run again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice

from app.db import vaults
from app.db.engine import Database
from app.db.vaults import KnownFile
from app.domain.vaults import FoundFile, LeftOut, VaultProgress, VaultReport, VaultRequest
from app.embedding.active import ActiveEmbedder
from app.importers.markdown import pdf, watching
from app.importers.markdown.walking import Found, opened, walk
from app.sync.transaction import Transaction, transaction
from app.sync.vaults.comparison import Comparison, Folder, compare, read
from app.sync.vaults.tally import Tally
from app.sync.vaults.writing import BatchWriter, remove
from app.text import clean

BATCH = 200
PDF = ".pdf"


class VaultImporter:
    """Takes in the files of folders; notes arrive ``pending`` and are embedded afterwards."""

    def __init__(
        self, database: Database, active: ActiveEmbedder, left_out: Sequence[str] = ()
    ) -> None:
        """Import into a database, folders of some names left out."""
        self._database = database
        self._active = active
        self._left_out = tuple(left_out)

    def import_folder(
        self, request: VaultRequest, on_progress: VaultProgress = lambda *_: None
    ) -> VaultReport:
        """Bring the notes of a folder up to its files.

        A file that is unchanged is not even read. One that cannot be read is refused, the rest
        imported. What was edited here is not overwritten unless the request says so.

        Raises:
            ImportFailed: there is no such folder.
        """
        root = opened(request.folder)
        name = clean(str(root))
        found = walk(root, self._left_out)
        with self._database.read() as connection:
            known = vaults.files(connection, name)
        folder = Folder(root, found)
        comparison = compare(folder, f"{name}/", found, known)
        tally = Tally(unchanged=comparison.unchanged, refused=list(comparison.refused))
        tally.refused += found.unread
        writer = BatchWriter(self._active, request, name, tally)
        self._write_all(folder, comparison, writer, on_progress)
        removed = self._prune(comparison.missing, request, tally, name)
        return self._report(name, request, found, tally, removed)

    def watch(self, request: VaultRequest, stop: threading.Event) -> Iterator[None]:
        """Yield each time something in the folder changed, until stopped.

        Yields once at the beginning too, for what changed before anyone watched.

        Raises:
            ImportFailed: there is no such folder, or it cannot be watched.
        """
        return watching.changes(opened(request.folder), stop)

    def _step(self, request: VaultRequest) -> AbstractContextManager[Transaction | None]:
        return nullcontext() if request.is_dry_run else transaction(self._database)

    def _write_all(
        self,
        folder: Folder,
        comparison: Comparison,
        writer: BatchWriter,
        on_progress: VaultProgress,
    ) -> None:
        total = len(comparison.to_read)
        files = read(folder, comparison, writer.tally.refused)
        done = 0
        while batch := list(islice(files, BATCH)):
            readable = [each for _, each in batch if each is not None]
            with self._step(writer.request) as unit:
                writer.write(unit, readable)
            done += len(batch)
            on_progress(done, total)

    def _prune(
        self, missing: Sequence[KnownFile], request: VaultRequest, tally: Tally, name: str
    ) -> list[str]:
        """Remove the notes of files that are gone, if that is asked for; return the paths."""
        spared = [each for each in missing if each.is_edited and not request.overwrites]
        if request.prune:
            tally.kept += [_path(each, name) for each in spared]
            gone = [each for each in missing if each not in spared]
            for start in range(0, len(gone), BATCH):
                with self._step(request) as unit:
                    if unit is not None:
                        remove(unit, gone[start : start + BATCH])
            return [_path(each, name) for each in gone]
        return [_path(each, name) for each in missing]

    def _report(
        self,
        name: str,
        request: VaultRequest,
        found: Found,
        tally: Tally,
        deleted: Sequence[str],
    ) -> VaultReport:
        links, unresolved = 0, 0
        if not request.is_dry_run:
            with self._database.read() as connection:
                links, unresolved = vaults.count_links(connection, name)
        return VaultReport(
            folder=name,
            is_dry_run=request.is_dry_run,
            is_pruned=request.prune,
            new=tuple(tally.new),
            changed=tuple(tally.changed),
            moved=tuple(tally.moved),
            unchanged=tally.unchanged,
            deleted=tuple(sorted(deleted)),
            kept=tuple(sorted(tally.kept)),
            refused=tuple(sorted(tally.refused, key=lambda each: each.path)),
            left_out=tuple(found.left_out),
            without_text=tuple(tally.without_text),
            warnings=(*_absent_extra(found.files), *tally.warnings),
            links=links,
            unresolved=unresolved,
        )


def _path(known: KnownFile, folder: str) -> str:
    return known.file_path.removeprefix(f"{folder}/")


def _absent_extra(files: Sequence[FoundFile]) -> Iterator[LeftOut]:
    count = sum(file.path.lower().endswith(PDF) for file in files)
    if count and not pdf.is_readable():
        yield LeftOut(f"{count} PDF files", pdf.ABSENT)
