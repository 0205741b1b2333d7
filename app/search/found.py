"""The rows of an answer: what is told of each note that a search found.

Owns their making. Must not know how notes were found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from app.db.notes import NoteDetails
from app.domain.search import FoundNote, SearchRequest
from app.ranking.run import Hit
from app.search.passages import passages_of
from app.text import round_half_up


def found_notes(
    connection: Connection,
    hits: Sequence[Hit],
    request: SearchRequest,
    details: Mapping[int, NoteDetails],
) -> tuple[FoundNote, ...]:
    """Tell of each hit what its ranker and its note's details say, with a passage if it is asked.

    Args:
        details: Those of every note among the hits.
    """
    note_ids = [hit.note.note_id for hit in hits]
    asked = " ".join(request.topics) or request.query
    passages = passages_of(connection, note_ids, asked) if request.highlight else {}
    return tuple(
        FoundNote(
            note_id=hit.note.note_id,
            conversation_id=hit.note.conversation_id or "",
            title=hit.note.title,
            project_name=details[hit.note.note_id].project_name,
            score=round_half_up(hit.score),
            tags=details[hit.note.note_id].tags,
            via_relation=hit.via_relation,
            extra=details[hit.note.note_id].extra
            | dict(hit.extra)
            | _passage(passages, hit.note.note_id),
        )
        for hit in hits
    )


def _passage(passages: Mapping[int, Any], note_id: int) -> dict[str, Any]:
    return {"passage": passages[note_id]} if note_id in passages else {}
