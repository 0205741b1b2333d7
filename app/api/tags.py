"""Routes of tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from app.api import answers
from app.api.envelope import Reply
from app.api.parameters import text
from app.api.routing import Route
from app.api.services import services
from app.db import tags
from app.domain.notes import TagCount
from app.graph.near import near_names
from app.graph.tags import TagUse, children, chosen
from app.markdown import names
from app.search import graph

LIST = (
    text(
        "prefix", "Only tags that begin with this, such as lang/ for all that are nested in lang."
    ),
    text("like", "Only tags that hold this text."),
)
TAG = (text("tag", "The tag, with or without #."),)


def list_tags(given: Mapping[str, Any]) -> Any:
    """List tags with the number of their notes, most used first.

    With `prefix` or `like` each row also has the tags nested in it, and names that are near are
    told when nothing matches.
    """
    with services().database.read() as connection:
        listed = tags.counted(connection)
    if given["prefix"] is None and given["like"] is None:
        return [asdict(tag) for tag in listed]
    prefix, part = names.tag(given["prefix"] or ""), names.tag(given["like"] or "")
    uses = [TagUse(tag.name, tag.count) for tag in listed]
    ids = {tag.name: tag.id for tag in listed}
    rows = [
        {"id": ids[use.name], "name": use.name, "count": use.notes,
         "children": [{"name": child.name, "count": child.notes}
                      for child in children(use.name, uses)]}
        for use in chosen(uses, prefix, part)
    ]  # fmt: skip
    return Reply(rows, beside={} if rows else _near(part or prefix.rstrip("/"), listed))


def list_tagged(given: Mapping[str, Any]) -> Any:
    """List the notes that have exactly a tag, without case, by title."""
    wanted = given["tag"] or ""
    with services().database.read() as connection:
        listed = tags.counted(connection)
        found = graph.tagged(connection, wanted, listed)
    rows = [
        {"note_id": each.note.id, "title": each.note.title,
         "project_name": each.note.project_name, "path": each.note.path,
         "score": 1.0, "tag": each.tag}
        for each in found
    ]  # fmt: skip
    return Reply({"items": rows}, beside={} if rows else _near(names.tag(wanted), listed))


def _near(name: str, listed: Iterable[TagCount]) -> dict[str, Sequence[str]]:
    near = near_names(name, {tag.name: tag.count for tag in listed})
    if not near:
        return {}
    return {"warnings": [f'No tag matches "{name}"; near: {", ".join(near)}']}


ROUTES = (
    Route("GET", "/api/tags", list_tags, LIST, answer=answers.TAGS),
    Route("GET", "/api/tags/notes", list_tagged, TAG, answer=answers.TAGGED),
)
