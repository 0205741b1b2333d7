"""Parameters of the ranker ``finder``, and the route to what lies around a note."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from app.api import answers
from app.api.parameters import choice, whole, within
from app.api.routing import Route
from app.api.services import services
from app.errors import NoteNotFound
from app.ranking.finder.options import SEED_LISTS, FinderOptions
from app.search.surroundings import surroundings
from app.settings.finder import FINDER_OPTIONS, PREFIX

MOST_NEIGHBOURS = 100

FINDER = (
    choice("seeds", "The one list that finder takes its seeds from; both by default.",
           SEED_LISTS, None),
    *(
        within(f"{PREFIX}{option.name}", f"For finder. {option.help}", option.minimum,
               option.maximum, is_whole=option.is_whole)
        for option in FINDER_OPTIONS
    ),
)  # fmt: skip
EXPAND = (whole("limit", "How many neighbouring notes to return.", 10, MOST_NEIGHBOURS),)


def options_of(given: Mapping[str, Any]) -> dict[str, float]:
    """Return the options of finder that a request overrides, by their names."""
    named = {option.name: given[f"{PREFIX}{option.name}"] for option in FINDER_OPTIONS}
    return {name: value for name, value in named.items() if value is not None}


def expand_note(note_id: int, given: Mapping[str, Any]) -> Any:
    """Show a note's fragments, their relations, and its neighbours in the graph."""
    options = FinderOptions.of(services().active.current.settings.finder)
    with services().database.read() as connection:
        return asdict(surroundings(connection, note_id, options, given["limit"]))


ROUTES = (
    Route(
        "GET",
        "/api/notes/<id:note_id>/expand",
        expand_note,
        EXPAND,
        answer=answers.SURROUNDINGS,
        errors=(NoteNotFound,),
    ),
)
