"""Routes of search and its explanation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.api import shapes
from app.api.common import FILTERS, filters
from app.api.envelope import Reply
from app.api.parameters import boolean, choice, choices, lenient_boolean, text, whole
from app.api.routing import LARGEST_ID, Route
from app.api.services import services
from app.domain.search import EXTRA_FIELDS, SearchRequest
from app.errors import InvalidParameter, MissingQuery
from app.ranking.registry import BY_NAME
from app.text import is_blank

SEARCH = (
    text("q", "What to search for."),
    whole("limit", "How many notes to return.", 10, 50),
    lenient_boolean("expand", "Add notes one relation away from the direct hits."),
    choice("ranker", "How to rank; the setting search.ranker by default.", tuple(BY_NAME), None),
    boolean("explain", "Tell stage by stage what happened."),
    choice("cut", "Whether notes below the border of relevance are left out.", ("on", "off"),
           "on"),
    choices("fields", "Fields to add to each row.", EXTRA_FIELDS, ()),
    boolean("highlight", "Add the best passage of each note, with the extents of its words."),
    *FILTERS,
)  # fmt: skip
WHY = (whole("note_id", "The note in question.", 0, LARGEST_ID), *SEARCH)


def search(given: Mapping[str, Any]) -> Any:
    """Search notes by meaning."""
    answer = services().searcher.search(_request(given))
    beside: dict[str, Any] = {}
    if answer.warnings:
        beside["warnings"] = list(answer.warnings)
    if answer.explanation is not None:
        beside["explain"] = answer.explanation
    return Reply([shapes.found_note(found) for found in answer.found], beside=beside)


def why(given: Mapping[str, Any]) -> Any:
    """Tell why a note stands where it stands in an answer, or is missing from it."""
    if not given["note_id"]:
        raise InvalidParameter("note_id", "must be the id of a note")
    answer = services().searcher.why(_request(given), given["note_id"])
    beside = {"warnings": list(answer.warnings)} if answer.warnings else {}
    return Reply(shapes.why(answer), beside=beside)


def _request(given: Mapping[str, Any]) -> SearchRequest:
    query = given["q"] or ""
    if is_blank(query):
        raise MissingQuery
    return SearchRequest(
        query=query,
        ranker=given["ranker"] or services().active.current.settings.search_ranker,
        limit=given["limit"],
        expand=given["expand"],
        explain=given["explain"],
        cut=given["cut"] == "on",
        filters=filters(given),
        fields=given["fields"],
        highlight=given["highlight"],
    )


ROUTES = (
    Route("GET", "/api/search", search, SEARCH),
    Route("GET", "/api/search/why", why, WHY),
)
