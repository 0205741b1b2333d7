"""Routes of search and its explanation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.api import answers, shapes
from app.api.common import FILTERS, filters
from app.api.envelope import Reply
from app.api.finder import FINDER, options_of
from app.api.metrics import metrics
from app.api.parameters import (
    boolean,
    choice,
    choices,
    lenient_boolean,
    queries,
    required,
    whole,
)
from app.api.routing import LARGEST_ID, Route
from app.api.services import services
from app.domain.search import EXTRA_FIELDS, SearchRequest
from app.errors import InvalidParameter, MissingQuery, NoteNotFound
from app.ranking.notebrain.matches import CHUNKS_PER_NOTE, distinct_topics
from app.ranking.registry import BY_NAME
from app.text import is_blank

PER_NOTE = whole("per_note", "Chunks to show of a note, for rankers that show chunks.",
                 CHUNKS_PER_NOTE, 50)  # fmt: skip
SEARCH = (
    queries("q", "What to search for; several times for rankers that take several topics."),
    whole("limit", "How many notes to return.", 10, 50),
    lenient_boolean("expand", "Add notes one relation away from the direct hits."),
    choice("ranker", "How to rank; the setting search.ranker by default.", tuple(BY_NAME), None),
    boolean("explain", "Tell stage by stage what happened."),
    choice("cut", "Whether notes below the border of relevance are left out.", ("on", "off"),
           "on"),
    choices("fields", "Fields to add to each row.", EXTRA_FIELDS, ()),
    boolean("highlight", "Add the best passage of each note, with the extents of its words."),
    PER_NOTE,
    *FINDER,
    *FILTERS,
)  # fmt: skip
WHY = (
    required(whole("note_id", "The note in question.", 0, LARGEST_ID), minimum=1),
    *SEARCH,
)


def search(given: Mapping[str, Any]) -> Any:
    """Search notes by meaning."""
    asked = _request(given)
    answer = services().searcher.search(asked)
    metrics().searched(asked.ranker, answer.milliseconds)
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
    ranker = given["ranker"] or services().active.current.settings.search_ranker
    topics = topics_of(given["q"]) if BY_NAME[ranker].takes_topics else single(given["q"])
    return SearchRequest(
        query=topics[0],
        ranker=ranker,
        limit=given["limit"],
        expand=given["expand"],
        explain=given["explain"],
        cut=given["cut"] == "on",
        filters=filters(given),
        fields=given["fields"],
        highlight=given["highlight"],
        topics=topics,
        per_note=given["per_note"],
        options=options_of(given),
        seeds=given["seeds"],
    )


def topics_of(given: Sequence[str]) -> tuple[str, ...]:
    """Return the distinct queries that were given, trimmed.

    Raises:
        MissingQuery: all are blank.
    """
    topics = distinct_topics(given)
    if not topics:
        raise MissingQuery
    return topics


def single(given: Sequence[str]) -> tuple[str, ...]:
    """Return the one query, as it came.

    Raises:
        InvalidParameter: it was given again.
        MissingQuery: it is blank.
    """
    if len(given) > 1:
        raise InvalidParameter("q", "must be given once")
    if not given or is_blank(given[0]):
        raise MissingQuery
    return (given[0],)


ROUTES = (
    Route("GET", "/api/search", search, SEARCH, answer=answers.FOUND, beside=answers.EXPLAINED),
    Route("GET", "/api/search/why", why, WHY, answer=answers.WHY, errors=(NoteNotFound,)),
)
