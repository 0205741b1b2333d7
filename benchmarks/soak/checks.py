"""What must hold after every kill.

Owns the checks: of the files as the killed process left them, and of a server that was started
again, whose answers must be those of another process over a copy with nothing kept.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from app.db import links as link_rows
from app.db import names
from app.db.engine import Database
from app.domain.search import SearchRequest
from app.errors import CrystalError
from app.factory import Application, build
from app.maintenance.doctor import examination, fragments, links, structure, words
from app.markdown.links import links_of
from app.mirror.backends import SNAPSHOTS
from app.settings.store import load
from benchmarks.soak.calls import Caller
from benchmarks.soak.processes import Place, until

RANKERS = ("chatcrystal", "fusion", "hybrid", "finder", "notebrain", "vector")
SETTLING_SECONDS = 60.0
PAUSE_SECONDS = 0.1
LIMIT = 20


@contextmanager
def copied(place: Place) -> Iterator[Place]:
    """Copy the files of a data folder whose processes are dead; snapshots stay behind."""
    with TemporaryDirectory(prefix="crystal-soak-copy-") as scratch:
        folder = Path(scratch, "copy")
        shutil.copytree(place.folder, folder, ignore=shutil.ignore_patterns(SNAPSHOTS, "*.pid"))
        yield Place(folder, place.settings)


MADE_AT_START = (
    words.DOCUMENTS_MISSING,
    fragments.CHUNK_DOCUMENTS,
    fragments.MENTIONS,
    links.LINKS,
)
"""What a start makes of notes after the migration, before it lets anyone search."""


def of_migrated_files(place: Place) -> list[str]:
    """Return what is wrong with a database whose migration or the work after it was killed."""
    return [line for line in of_files(place) if not line.startswith((*MADE_AT_START, "note "))]


def of_files(place: Place) -> list[str]:
    """Return what is wrong with a database that a killed process left, before anything mends it."""
    if not place.database.exists() or not place.database.stat().st_size:
        return []
    with examination.opened(f"sqlite:///{place.database}", place.folder) as patient:
        report = examination.examine(patient, lambda done, total: None)
        checks = {check.name: check for check in report.checks}
        if not checks[structure.SCHEMA].ok:
            # Killed before a migration was through: it is one transaction, and none of it shows.
            del checks[structure.SCHEMA]
        wrong = [f"{check.name}: {check.message}" for check in checks.values() if not check.ok]
        return wrong if len(checks) < len(report.checks) else wrong + _links(patient.database)


def _links(database: Database) -> list[str]:
    """Compare the links of every note with those that its body holds."""
    with database.read() as connection:
        nameless = names.notes_without(connection)
        ids = tuple(connection.exec_driver_sql("SELECT id FROM notes").scalars())
        stored = link_rows.in_bodies(connection, ids)
        bodies = link_rows.bodies(connection, ids)
    wrong = [f"note {note_id} has no names" for note_id in nameless]
    for note_id, body in bodies.items():
        found = tuple(each.link for each in stored.get(note_id, ()))
        if found != links_of(body or ""):
            wrong.append(f"note {note_id} has other links than its body")
    return wrong


def of_answers(
    place: Place, caller: Caller, queries: Sequence[str], rankers: Sequence[str] = RANKERS
) -> list[str]:
    """Return where a server answers otherwise than a process that has just read a copy."""
    if not until(lambda: _is_settled(caller), SETTLING_SECONDS, PAUSE_SECONDS):
        return [f"not settled: {caller.get('/api/ready').body}"]
    with TemporaryDirectory(prefix="crystal-soak-fresh-") as scratch:
        fresh = Place(Path(scratch), place.settings)
        _back_up(place.database, fresh.database)
        application = build(load(environment=fresh.environment))
        try:
            return _compared(application, caller, queries, rankers)
        finally:
            application.close()


def _compared(
    application: Application, caller: Caller, queries: Sequence[str], rankers: Sequence[str]
) -> list[str]:
    wrong = []
    for ranker in rankers:
        for query in queries:
            request = SearchRequest(query, ranker, limit=LIMIT, topics=(query,))
            expected = _expected(application, request)
            given = caller.get("/api/search", q=query, ranker=ranker, limit=LIMIT)
            found = [(row["note_id"], row["score"]) for row in given.data or ()] or given.code
            if found != expected:
                wrong.append(f"{ranker} {query!r}: {given.status} {found} and not {expected}")
    ready = caller.get("/api/ready").data["index"]["vectors"]
    with application.mirror.open() as (_, view):
        if view.index is not None and view.index.count() != ready:
            wrong.append(f"{ready} vectors and not {view.index.count()}")
    return wrong


def _expected(application: Application, request: SearchRequest) -> list[tuple[int, float]] | str:
    """Return the notes and scores that an answer must have, or the code of the error."""
    try:
        found = application.searcher.search(request).found
    except CrystalError as error:
        return error.code
    return [(each.note_id, each.score) for each in found] or ""


def _is_settled(caller: Caller) -> bool:
    """Tell whether the server has made what it makes behind."""
    state = caller.get("/api/ready").data or {}
    counts = (state.get("notes_without_companions"), state.get("entities_without_vectors"))
    return bool(state.get("ready")) and counts == (0, 0)


def _back_up(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as live, closing(sqlite3.connect(target)) as copy:
        live.backup(copy)
