"""Imports conversations: what is new or has grown is stored, what is unchanged is not read.

Owns the order of the work: a conversation is read, masked and cut into documents outside any
transaction, then stored in one, so that an import that is killed and run again leaves what an
undisturbed one leaves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, TypeVar

import orjson

from app.db import conversations, import_files, message_documents
from app.db.engine import Database
from app.domain.imports import (
    ImportProgress,
    ImportReport,
    ImportRequest,
    SourceReport,
    SourceStatus,
)
from app.domain.words import MessageDocument
from app.importers.conversations.base import Source
from app.importers.conversations.spool import Place, Spool
from app.importers.conversations.values import FoundFile, Losses, ReadConversation
from app.importers.conversations.watching import changes
from app.settings.values import SourceSettings
from app.sync.conversations.rows import conversation_row, message_rows, project_of
from app.sync.conversations.sources import detected, sources_of
from app.sync.messages import documents_of
from app.sync.transaction import Transaction, transaction

BATCH = 200
"""Rows written at once."""

OnProgress = Callable[[ImportProgress], None]
Item = TypeVar("Item")


def _nobody_listens(progress: ImportProgress) -> None:
    """Drop what was reported."""


class ConversationImporter:
    """Imports into one database from the folders that settings name."""

    def __init__(self, database: Database, settings: SourceSettings) -> None:
        self._database = database
        self._settings = settings

    def run(
        self,
        request: ImportRequest,
        on_progress: OnProgress = _nobody_listens,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> ImportReport:
        """Import what a request wants, source by source, in the order of their files.

        Raises:
            InvalidParameter: the request names a source that cannot be read.
            DatabaseUnavailable: the database cannot be written.
        """
        sources = sources_of(self._settings, request.sources)
        found = [(source, list(source.files())) for source in sources]
        run = _Run(self._database, request, sum(len(files) for _, files in found), on_progress)
        for source, files in found:
            run.import_source(source, files, is_cancelled)
        return run.report

    def watch(self, request: ImportRequest, stop: threading.Event) -> Iterator[None]:
        """Yield after each change below the folders of the sources, until stopped.

        Raises:
            InvalidParameter: the request names a source that cannot be read.
            ImportFailed: no source has a folder, or they cannot be watched.
        """
        sources = sources_of(self._settings, request.sources)
        return changes([source.folder for source in sources], stop)

    def sources(self) -> list[SourceStatus]:
        """Return the enabled sources that have conversations on this machine."""
        return detected(sources_of(self._settings))

    def enabled(self) -> tuple[str, ...]:
        """Return the names of the enabled sources."""
        return tuple(source.name for source in sources_of(self._settings))


class _Run:
    """One import and what it came to so far."""

    def __init__(
        self, database: Database, request: ImportRequest, total: int, on_progress: OnProgress
    ) -> None:
        self.report = ImportReport()
        self._database = database
        self._request = request
        self._on_progress = on_progress
        self._total, self._done = total, 0

    def import_source(
        self, source: Source, files: Iterable[FoundFile], is_cancelled: Callable[[], bool]
    ) -> None:
        report = SourceReport(source.name, source.title, str(source.folder))
        self.report.sources.append(report)
        with self._database.read() as connection:
            states = import_files.states(connection, source.name)
            counts = import_files.counts(connection, source.name)
        for found in files:
            if is_cancelled():
                break
            path = str(found.path)
            if states.get(path) == found.state:
                report.found += counts.get(path, 0)
                report.unchanged += counts.get(path, 0)
            else:
                self._import_file(source, found, report)
            self._done += 1
            self._tell(path)

    def _tell(self, path: str) -> None:
        reports = self.report.sources
        self._on_progress(
            ImportProgress(
                total=self._total,
                current=self._done,
                file=path,
                imported=sum(each.new + each.grown for each in reports),
                skipped=sum(each.unchanged + each.left_out for each in reports),
                broken=sum(each.broken_lines for each in reports),
            )
        )

    def _import_file(self, source: Source, found: FoundFile, report: SourceReport) -> None:
        losses = Losses()
        left_out = report.left_out
        for read in source.read(found, losses):
            report.found += 1
            if self._is_wanted(read):
                self._import_conversation(source, found, read, report)
            else:
                report.left_out += 1
        report.broken_lines += losses.broken_lines
        report.masked_secrets += losses.masked_secrets
        # A file of which something was left out is read again by an import that wants it.
        if report.left_out == left_out and not self._request.is_dry_run:
            with transaction(self._database) as unit:
                import_files.remember(unit.connection, source.name, str(found.path), found.state)

    def _is_wanted(self, read: ReadConversation) -> bool:
        since, project = self._request.since, self._request.project
        if since and read.last_at < since:
            return False
        return not project or project.lower() in project_of(read).lower()

    def _import_conversation(
        self, source: Source, found: FoundFile, read: ReadConversation, report: SourceReport
    ) -> None:
        conversation_id = read.header.id
        with self._database.read() as connection:
            known = conversations.digest(connection, conversation_id)
            if known is not None and known[0] != source.name:
                conversation_id = f"{source.name}:{conversation_id}"
                known = conversations.digest(connection, conversation_id)
        if known is not None and known[1] == read.digest:
            report.unchanged += 1
            return
        if not self._request.is_dry_run:
            self._store(conversation_row(read, conversation_id, source.name, found), read)
        self.report.fresh.append(conversation_id)
        report.grown += known is not None
        report.new += known is None

    def _store(self, row: Any, read: ReadConversation) -> None:
        """Write a conversation; one that was there keeps its note, and all else is replaced."""
        conversation_id = row["id"]
        with Spool() as spool:
            places = [spool.put(orjson.dumps(asdict(each))) for each in documents_of(read.messages)]
            with transaction(self._database) as unit:
                if conversations.digest(unit.connection, conversation_id) is None:
                    conversations.add(unit.connection, [row])
                else:
                    unit.removed_messages(conversation_id)
                    conversations.remove_messages(unit.connection, conversation_id)
                    conversations.change(unit.connection, conversation_id, row)
                for batch in batched(message_rows(read, conversation_id)):
                    conversations.add_messages(unit.connection, batch)
                self._add_documents(unit, conversation_id, spool, places)

    def _add_documents(
        self, unit: Transaction, conversation_id: str, spool: Spool, places: Sequence[Place]
    ) -> None:
        for batch in batched(places):
            documents = [MessageDocument(**orjson.loads(spool.get(place))) for place in batch]
            added = message_documents.add(unit.connection, conversation_id, documents)
            unit.added_messages(added)


def batched(items: Iterable[Item], size: int = BATCH) -> Iterator[list[Item]]:
    """Yield lists of at most ``size`` items."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
