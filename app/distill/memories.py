"""Memories of agents: which are worth keeping, which say what is known, how two become one.

Owns these rules. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from app.distill.signatures import normalised
from app.domain.memory import Memory
from app.domain.notes import Note
from app.text import fold, has_han, is_blank

LEAST_SUMMARY = 24
LEAST_HAN_SUMMARY = 12
"""Visible characters; with less, a summary says nothing."""

SAME_SCORE = 0.9
"""Raw score from which two memories of one project say the same."""

ALIKE_SCORE = 0.7
"""Raw score from which two memories of the same error do."""

_LISTS = (
    "pitfalls",
    "reusable_patterns",
    "decisions",
    "key_conclusions",
    "files_touched",
    "error_signatures",
    "tags",
)


def lacks(memory: Memory) -> tuple[str, ...]:
    """Return what a memory lacks to be worth keeping, in the original's words."""
    missing = []
    visible = len("".join(memory.summary.split()))
    if visible < (LEAST_HAN_SUMMARY if has_han(memory.summary) else LEAST_SUMMARY):
        missing.append("summary")
    lists = (memory.decisions, memory.reusable_patterns, memory.pitfalls)
    if not (_says(memory.root_cause) or _says(memory.resolution) or any(map(_items, lists))):
        missing.append("experience_core")
    needs = {
        "fix": (_says(memory.root_cause) or _says(memory.resolution), "root_cause_or_resolution"),
        "pitfall": (
            _items(memory.pitfalls)
            and (_says(memory.resolution) or _items(memory.reusable_patterns)),
            "pitfalls_and_resolution_or_pattern",
        ),
        "decision": (_items(memory.decisions), "decisions"),
        "pattern": (_items(memory.reusable_patterns), "reusable_patterns"),
    }
    holds, name = needs[memory.outcome_type]
    return tuple(missing if holds else [*missing, name])


def _says(text: str | None) -> bool:
    return text is not None and not is_blank(text)


def _items(texts: Iterable[str]) -> bool:
    return any(_says(text) for text in texts)


def says_the_same(memory: Memory, known: Note, score: float) -> bool:
    """Tell whether a memory tells of what a note, of the same project and scope, tells already."""
    if score >= SAME_SCORE:
        return True
    errors = {normalised(each).lower() for each in memory.error_signatures}
    listed = known.error_signatures if isinstance(known.error_signatures, list) else []
    theirs = {normalised(each).lower() for each in listed if isinstance(each, str)}
    if not errors & theirs:
        return False
    told = payload_of(known)
    is_same = any(
        _says(mine) and fold(mine or "").strip() == fold(str(told.get(name) or "")).strip()
        for name, mine in (("root_cause", memory.root_cause), ("resolution", memory.resolution))
    )
    return is_same or score >= ALIKE_SCORE


def payload_of(note: Note) -> dict[str, Any]:
    """Return what an agent wrote of a note, empty where nobody did."""
    try:
        found = json.loads(note.raw_llm_response or "")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def written(memory: Memory) -> dict[str, Any]:
    """Return a memory as JSON values, without what it does not say."""
    return {name: value for name, value in asdict(memory).items() if value}


def conclusions_of(payload: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the key conclusions of a memory: its own, or else what it is made of."""
    own = _texts(payload.get("key_conclusions"))
    if own:
        return own
    parts = [payload.get("root_cause"), payload.get("resolution")]
    for name in ("decisions", "reusable_patterns", "pitfalls"):
        parts += _texts(payload.get(name))
    return tuple(dict.fromkeys(part for part in parts if isinstance(part, str) and part.strip()))


def merged(known: Note, memory: Memory) -> dict[str, Any]:
    """Return the payload of a note after a memory was added to it: the newer word wins."""
    before, after = payload_of(known), written(memory)
    lists = {
        name: list(dict.fromkeys((*_texts(before.get(name)), *_texts(after.get(name)))))
        for name in _LISTS
    }
    return {**before, **after, **{name: each for name, each in lists.items() if each}}


def _texts(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list | tuple) else ()
    return tuple(each for each in listed if isinstance(each, str) and each.strip())
