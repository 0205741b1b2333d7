"""Parameters that several routes share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.api.parameters import LARGEST_WHOLE, choice, moment, text, whole
from app.domain.notes import NoteFilters

FILTERS = (
    text("tag", "Only notes with this tag; given several times, all must hold.",
         is_repeatable=True),
    text("project", "Only notes of this project."),
    text("source", "Only notes whose conversation came from this tool."),
    choice("sourceKind", "Only what agents wrote back (memory), or only the rest.",
           ("memory", "conversation"), None),
    text("path", "Only notes whose path begins with this."),
    moment("since", "Only notes created at or after"),
    moment("until", "Only notes created at or before", is_end=True),
)  # fmt: skip

OFFSET = whole("offset", "How many rows to skip.", 0, LARGEST_WHOLE)


def filters(given: Mapping[str, Any]) -> NoteFilters:
    """Return the filters that a request named."""
    project = given["project"]
    return NoteFilters(
        projects=(project,) if project else (),
        tags=given["tag"],
        source=given["source"],
        source_kind=given["sourceKind"],
        path_prefix=given["path"],
        since=given["since"],
        until=given["until"],
    )
