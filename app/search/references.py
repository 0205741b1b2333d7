"""Which note a person means, over the notes that are stored.

Owns what is said when none is meant, or several. The steps are in ``app.markdown.references``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from app.db import note_graph, notes
from app.errors import AmbiguousReference, UnknownReference
from app.graph.near import near_names
from app.markdown.references import Referable, resolve

TOLD_CANDIDATES = 5
"""How many candidates the sentence names; the data have them all."""

_ID = re.compile(r"[0-9]{1,18}")


def resolve_reference(connection: Connection, reference: str) -> int:
    """Return the id of the note that an id, path, title, slug or end of a slug means.

    Two statements, however many notes there are.

    Raises:
        AmbiguousReference: several notes may be meant.
        UnknownReference: none is, or the reference is blank.
    """
    wanted = reference.strip()
    if _ID.fullmatch(wanted) and notes.exists(connection, [int(wanted)]):
        return int(wanted)
    listed = note_graph.referable(connection)
    found = resolve(wanted, listed)
    if found.note_id is not None:
        return found.note_id
    if found.candidates:
        raise _ambiguous(wanted, found.candidates)
    raise _unknown(wanted, listed)


def _ambiguous(wanted: str, candidates: Sequence[Referable]) -> AmbiguousReference:
    told = [f"{each.note_id} ({each.path or each.title})" for each in candidates]
    more = len(told) - TOLD_CANDIDATES
    shown = ", ".join(told[:TOLD_CANDIDATES]) + (f" and {more} more" if more > 0 else "")
    return AmbiguousReference(
        f'"{wanted}" may mean several notes: {shown}; give an id or a whole path',
        {"candidates": [_candidate(each) for each in candidates]},
    )


def _candidate(note: Referable) -> dict[str, Any]:
    return {"id": note.note_id, "title": note.title, "path": note.path, "slug": note.known_as}


def _unknown(wanted: str, listed: Sequence[Referable]) -> UnknownReference:
    near = near_names(wanted, Counter(each.title for each in listed))
    hint = f"; near: {', '.join(near)}" if near else ""
    what = f'No note is called "{wanted}"' if wanted else "A blank reference means no note"
    return UnknownReference(what + hint, {"near": near})
