"""Files of graded queries: JSON Lines, or one object as ``fixtures/golden/relevance.json`` has it.

Owns their form and the sentences that refuse a line. Must not know which notes a server holds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.failures import Failure

INVALID_FILE = "invalid_query_file"
OVERALL = "all"
"""The class of a row over the whole file; no query may have it."""

LONGEST_QUERY = 4_000
HIGHEST_GRADE = 10
TODO = "todo"
"""The field of a line that is still to be filled in; it goes with a blank query."""

Names = Mapping[str, str]
_OF_LINES: Names = {"query": "query", "class": "class", "relevant": "relevant"}
_OF_COLLECTIONS: Names = {"query": "text", "class": "class", "relevant": "grades"}


@dataclass(frozen=True, slots=True)
class GradedQuery:
    """A query, its class, and the notes that answer it: id, path or external id to grade.

    Without a grade above 0 no answer exists. ``place`` is where the file has it, for messages.
    """

    id: str
    text: str
    group: str
    grades: Mapping[str, int]
    place: str


@dataclass(frozen=True, slots=True)
class QueryFile:
    """The queries of a file; ``stubs`` counts the lines that are still to be filled in."""

    queries: tuple[GradedQuery, ...]
    stubs: int = 0


def read_queries(path: Path) -> QueryFile:
    """Read a file of graded queries.

    Raises:
        Failure: it cannot be read, holds no query, or has a line of another form, which is named
            with its field.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}", INVALID_FILE) from error
    except UnicodeDecodeError as error:
        raise Failure(f"{path} is no UTF-8", INVALID_FILE) from error
    collection = _collection(text)
    if collection is None:
        entries, names = _lines(path, text), _OF_LINES
    else:
        entries = ((f"{path} query {number}", entry) for number, entry in enumerate(collection, 1))
        names = _OF_COLLECTIONS
    return _read(path, entries, names)


def _collection(text: str) -> Sequence[Any] | None:
    """Return the queries of a file that is one object, None where it is JSON Lines."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    queries = content.get("queries") if isinstance(content, dict) else None
    return queries if isinstance(queries, list) else None


def _lines(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    # Not splitlines: a text may hold the line ends that only Unicode knows.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path} line {number}"
        try:
            yield place, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Failure(f"{place} is no JSON: {error}", INVALID_FILE) from error


def _read(path: Path, entries: Iterator[tuple[str, Any]], names: Names) -> QueryFile:
    queries: dict[str, GradedQuery] = {}
    stubs = 0
    for place, entry in entries:
        if not isinstance(entry, dict):
            raise Failure(f"{place} is no JSON object", INVALID_FILE)
        if _is_stub(entry):
            stubs += 1
            continue
        query = _query(place, entry, names)
        if query.id in queries:
            raise _refused(place, "id", f"{query.id!r} is also that of {queries[query.id].place}")
        queries[query.id] = query
    if not queries:
        waiting = f", {stubs} are still to be filled in" if stubs else ""
        raise Failure(f"{path} holds no query{waiting}", INVALID_FILE)
    return QueryFile(tuple(queries.values()), stubs)


def _is_stub(entry: Mapping[str, Any]) -> bool:
    text = entry.get("query")
    return TODO in entry and isinstance(text, str) and not text.strip()


def _query(place: str, entry: Mapping[str, Any], names: Names) -> GradedQuery:
    text = _text(place, entry, names["query"], LONGEST_QUERY)
    group = _text(place, entry, names["class"])
    if group == OVERALL:
        raise _refused(place, names["class"], f"cannot be {OVERALL!r}, which is the whole file")
    number = place.rpartition(" ")[2]
    id_ = _text(place, entry, "id") if "id" in entry else number
    return GradedQuery(id_, text, group, _grades(place, entry, names["relevant"]), place)


def _text(place: str, entry: Mapping[str, Any], name: str, longest: int | None = None) -> str:
    value = entry.get(name)
    if value is None:
        raise _refused(place, name, "is missing")
    if not isinstance(value, str):
        raise _refused(place, name, "is no text")
    if not value.strip():
        raise _refused(place, name, "is blank")
    if longest is not None and len(value) > longest:
        raise _refused(place, name, f"has {len(value)} characters, more than {longest}")
    return value


def _grades(place: str, entry: Mapping[str, Any], name: str) -> dict[str, int]:
    value = entry.get(name)
    if value is None:
        raise _refused(place, name, "is missing; {} says that no answer exists")
    if not isinstance(value, dict):
        raise _refused(place, name, "is no object of notes and their grades")
    for note, grade in value.items():
        is_whole = isinstance(grade, int) and not isinstance(grade, bool)
        if not note.strip():
            raise _refused(place, name, "names a note by nothing")
        if not is_whole or not 0 <= grade <= HIGHEST_GRADE:
            wanted = f"a whole number from 0 to {HIGHEST_GRADE}"
            raise _refused(place, name, f"gives {note!r} the grade {grade!r}, not {wanted}")
    return value


def _refused(place: str, field: str, reason: str) -> Failure:
    return Failure(f"{place}, field {field}: {reason}", INVALID_FILE)
