"""The run of a check-up: which checks are made, in which order, and what mends which.

Owns both tables. A damaged file, or one of another version, is not looked into.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sqlalchemy import URL, Connection

from app.db import checkup, notes
from app.db.engine import Database
from app.errors import DatabaseUnavailable
from app.lexical.chinese import DICTIONARY
from app.maintenance.doctor import (
    configuration,
    fragments,
    indexes,
    links,
    permissions,
    provider,
    scales,
    snapshots,
    structure,
    vectors,
    words,
)
from app.maintenance.doctor.checks import Check, Patient, Remedy, Report, Steps
from app.settings.values import EmbeddingSettings

MOST_ROUNDS = 4
"""What one remedy does may bring to light what another one mends."""

Progress = Callable[[int, int], None]
Examiner = Callable[[Connection, Steps], Iterator[Check]]

EXAMINERS: tuple[Examiner, ...] = (
    structure.references,
    structure.change_feed,
    vectors.dimensions,
    vectors.statuses,
    vectors.missing_chunks,
    vectors.damaged_vectors,
    vectors.unused_chunks,
    scales.shipped,
    words.documents,
    fragments.chunk_documents,
    fragments.mentions,
    links.settled,
)

REMEDIES: dict[str, Remedy] = {
    configuration.CONFIGURATION: configuration.mend,
    permissions.PERMISSIONS: permissions.close,
    snapshots.SNAPSHOT: snapshots.remove_spoilt,
    indexes.INDEX: indexes.remove_unlike,
    structure.SCHEMA: structure.upgrade,
    # Before anything is announced in it.
    structure.CHANGE_FEED: structure.begin_history,
    structure.REFERENCES: structure.remove_dangling,
    # Before vectors are measured by it.
    vectors.SPACES: vectors.correct_dimensions,
    vectors.STATUSES: vectors.mirror_statuses,
    vectors.VECTORS: vectors.remove_damaged,
    vectors.CHUNKS_MISSING: vectors.make_pending,
    words.DOCUMENTS_MISSING: words.write_missing,
    words.DOCUMENTS_STALE: words.rewrite_stale,
    words.DOCUMENTS_ORPHANED: structure.remove_of_gone_notes,
    fragments.CHUNK_DOCUMENTS: fragments.write_chunk_documents,
    fragments.MENTIONS: fragments.join_mentions,
    fragments.ENTITIES_UNUSED: fragments.remove_unused,
    links.LINKS: links.settle,
}
"""What mends a check that found something, in the order in which it is done."""

MADE_PENDING = (vectors.STATUSES, vectors.VECTORS, vectors.CHUNKS_MISSING)
"""After these remedies, notes may wait for their vectors."""


BY_HAND: dict[str, str] = {
    configuration.CONFIGURATION: "mend config.json by hand, or delete it",
    structure.INTEGRITY: "crystal restore BACKUP --force",
    structure.SCHEMA: "install the version that wrote the database",
    provider.PROVIDER: "see crystal config; words are searched meanwhile",
}
"""What helps where a repair does not."""


@contextmanager
def opened(url: str | URL, folder: Path) -> Iterator[Patient]:
    """Open a database as it is, without an upgrade.

    Raises:
        ConfigurationError: the URL cannot be opened here.
        DatabaseUnavailable: there is none.
    """
    database = Database(url)
    DICTIONARY.configure(folder)
    try:
        if database.path is not None and not database.path.exists():
            raise DatabaseUnavailable(
                f"There is no database at {database.path}; the server makes one when it starts"
            )
        yield Patient(database, folder)
    finally:
        database.close()


def examine(
    patient: Patient, on_progress: Progress, embedding: EmbeddingSettings | None = None
) -> Report:
    """Make every check, changing nothing; with the provider's settings that too.

    Args:
        on_progress: Called with how many vectors and notes of how many were looked at.

    Raises:
        DatabaseUnavailable: the database is locked, or another program's.
    """
    checks = [*_checks(patient, on_progress)]
    if embedding is not None:
        checks.append(provider.examine(patient, embedding))
    return Report(tuple(map(_advised, checks)), {})


def _advised(check: Check) -> Check:
    """Say what to do about what is wrong."""
    if check.ok:
        return check
    by_hand = BY_HAND.get(check.name)
    ours = "crystal doctor --repair" if check.name in REMEDIES else None
    return replace(check, remedy="; or ".join(filter(None, (ours, by_hand))))


def repair(
    patient: Patient, on_progress: Progress, embedding: EmbeddingSettings | None = None
) -> Report:
    """Make every check and mend what can be derived; report how things stand then.

    Raises:
        ConfigurationError: the settings file cannot be changed.
        DatabaseUnavailable: the database is locked, or another program's.
    """
    repaired: Counter[str] = Counter()
    report = examine(patient, on_progress, embedding)
    for _ in range(MOST_ROUNDS):
        mended = _mended(patient, report)
        if not mended.total():
            break
        repaired += mended
        report = examine(patient, on_progress, embedding)
    return Report(report.checks, dict(repaired))


def _mended(patient: Patient, report: Report) -> Counter[str]:
    wrong = {check.name for check in report.checks if not check.ok}
    return Counter({name: remedy(patient) for name, remedy in REMEDIES.items() if name in wrong})


def _checks(patient: Patient, on_progress: Progress) -> Iterator[Check]:
    yield configuration.examine(patient.folder)
    yield permissions.examine(patient)
    for look in (structure.integrity, structure.schema):
        check = look(patient.database)
        yield check
        if not check.ok:
            return
    with patient.database.read() as connection:
        total = checkup.count_vectors(connection) + len(notes.all_ids(connection))
        steps = Steps(total, on_progress)
        looked = [check for examiner in EXAMINERS for check in examiner(connection, steps)]
        yield from looked
        # Without a sound feed nobody can say what changed since a snapshot.
        if not any(check.name == structure.CHANGE_FEED and not check.ok for check in looked):
            yield indexes.examine(connection, patient.folder)
    yield from snapshots.examine(patient.folder)
