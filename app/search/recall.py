"""What is recalled for a task: memories of its project first, then those for all projects.

Owns the two searches behind a recall, and why a memory is in it. Reads only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from app.db import memories, notes
from app.db.engine import Database
from app.distill.memories import payload_of
from app.distill.signatures import normalised
from app.domain.memory import MemoryItem, Recall, RecallRequest
from app.domain.notes import Note, NoteFilters
from app.domain.search import FoundNote, SearchRequest
from app.importers.projects import project_key
from app.search.pipeline import Searcher

RANKER = "hybrid"
LONGEST_QUERY = 4_000
MOST_RECALLED = 50

OK = "ok"
NO_PROJECT = "no-project-key"
NO_MATCHES = "no-matches"
NO_PROJECT_WARNING = "No project identity was available; returning only global matches."

SAME_ERROR = "Has the same error signature"
BY_MEANING = "Matched by meaning and words"


class Recaller:
    """Recalls memories for agents; safe among threads."""

    def __init__(self, database: Database, searcher: Searcher) -> None:
        self._database = database
        self._searcher = searcher

    def recall(self, request: RecallRequest) -> Recall:
        """Recall what helps with a task.

        Raises:
            ProviderError: the goal could not be embedded, and words found nothing.
            DatabaseUnavailable: the database cannot be read.
        """
        task = request.task
        key = task.project_key or project_key(task.project_dir, task.cwd)
        own: tuple[MemoryItem, ...] = ()
        warnings: list[str] = [] if key else [NO_PROJECT_WARNING]
        if key:
            filters = NoteFilters(project_key=key, scope="project")
            own = self._memories(request, filters, request.project_limit, warnings)
        shared = self._memories(
            request, NoteFilters(scope="global"), request.global_limit, warnings
        )
        reason = NO_PROJECT if not key else OK if own or shared else NO_MATCHES
        return Recall(request.mode, key, reason, tuple(dict.fromkeys(warnings)), own, shared)

    def _memories(
        self, request: RecallRequest, filters: NoteFilters, limit: int, warnings: list[str]
    ) -> tuple[MemoryItem, ...]:
        if not limit:
            return ()
        answer = self._searcher.search(
            SearchRequest(
                _query(request),
                RANKER,
                limit=min(limit, MOST_RECALLED),
                expand=request.include_relations,
                filters=filters,
            )
        )
        warnings += answer.warnings
        with self._database.read() as connection:
            same = memories.notes_with_error(connection, _signatures(request))
            known = {
                note.id: note
                for note in notes.get_many(connection, {*same, *(f.note_id for f in answer.found)})
                if _belongs(note, filters)
            }
            related = memories.related_ids(connection, known)
        return _items(known, same, answer.found, related)[:limit]


def _query(request: RecallRequest) -> str:
    task = request.task
    return "\n".join((task.goal, *task.error_signatures))[:LONGEST_QUERY]


def _signatures(request: RecallRequest) -> set[str]:
    """Return the errors of a task as they came and as distilled notes have them."""
    given = request.task.error_signatures
    return {*given, *(normalised(each) for each in given)}


def _belongs(note: Note, filters: NoteFilters) -> bool:
    """Tell whether a note is of the scope; a relation may lead out of it."""
    return note.scope == filters.scope and (
        filters.project_key is None or note.project_key == filters.project_key
    )


def _items(
    known: Mapping[int, Note],
    same: Iterable[int],
    found: Sequence[FoundNote],
    related: Mapping[int, tuple[int, ...]],
) -> tuple[MemoryItem, ...]:
    """Return memories with the same error first, then as they were found, each once."""
    listed = [(note_id, 1.0, SAME_ERROR) for note_id in sorted(same)]
    listed += [
        (
            each.note_id,
            each.score,
            f"Matched via relation {each.via_relation}" if each.via_relation else BY_MEANING,
        )
        for each in found
    ]
    items: dict[int, MemoryItem] = {}
    for note_id, score, why in listed:
        if note_id in known and note_id not in items:
            items[note_id] = _item(known[note_id], score, why, related.get(note_id, ()))
    return tuple(items.values())


def _item(note: Note, score: float, why: str, related: tuple[int, ...]) -> MemoryItem:
    payload = payload_of(note)
    return MemoryItem(
        note_id=note.id,
        title=note.title,
        summary=note.summary,
        outcome_type=note.outcome_type,
        pitfalls=_texts(payload.get("pitfalls")),
        reusable_patterns=_texts(payload.get("reusable_patterns")),
        related_note_ids=related,
        score=score,
        why_relevant=why,
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
