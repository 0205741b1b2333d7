"""Route of note references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import errors
from app.api import answers
from app.api.parameters import text
from app.api.routing import Route
from app.api.services import services
from app.search.references import resolve_reference

REFERENCE = (text("ref", "An id, path, title, slug, or the end of a path or slug."),)


def resolve_note(given: Mapping[str, Any]) -> Any:
    """Tell the id of the note that a reference means.

    It is tried as an id, a path with or without .md (whole, or its end), a title, a slug and the
    end of a slug, without case. Several notes: 409 with the candidates; none: 404 with near titles.
    """
    with services().database.read() as connection:
        return {"id": resolve_reference(connection, given["ref"] or "")}


ROUTES = (
    Route("GET", "/api/notes/resolve", resolve_note, REFERENCE, answer=answers.ID,
          errors=(errors.UnknownReference, errors.AmbiguousReference)),
)  # fmt: skip
