"""Which notes a file of queries means: ids, paths and external ids as notes of the server.

Owns the order in which the names are tried. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cli.evaluation.queries import INVALID_FILE, GradedQuery
from cli.evaluation.values import Judgement, ServedNote
from cli.failures import Failure


@dataclass(frozen=True, slots=True)
class Named:
    """The judgements of a file; ``unknown`` are the names that no note of the server has."""

    judgements: tuple[Judgement, ...]
    unknown: tuple[str, ...]


def named(queries: Iterable[GradedQuery], notes: Iterable[ServedNote]) -> Named:
    """Find the notes that queries name: by external id, else by path, else by id.

    Raises:
        Failure: a query names one note twice, or none of the notes is there.
    """
    ids = _ids_by_name(notes)
    unknown: dict[str, None] = {}
    judgements = []
    for query in queries:
        grades: dict[str, int] = {}
        for name, grade in query.grades.items():
            if name not in ids:
                unknown.setdefault(name)
            known = ids.get(name, _absent(name))
            if known in grades:
                raise Failure(
                    f"{query.place}, field relevant: {name!r} names a note that is named already",
                    INVALID_FILE,
                )
            grades[known] = grade
        judgements.append(Judgement(query, grades))
    mentioned = {name for judged in judgements for name in judged.query.grades}
    if mentioned and len(unknown) == len(mentioned):
        example = next(iter(unknown))
        raise Failure(
            f"The server has none of the {len(mentioned)} notes that the file names, such as "
            f"{example!r}",
            INVALID_FILE,
        )
    return Named(tuple(judgements), tuple(unknown))


def _ids_by_name(notes: Iterable[ServedNote]) -> dict[str, str]:
    listed = list(notes)
    ids = {str(note.id): str(note.id) for note in listed}
    ids |= {note.path: str(note.id) for note in listed if note.path}
    ids |= {note.external_id: str(note.id) for note in listed if note.external_id}
    return ids


def _absent(name: str) -> str:
    # No note id looks like this, so a missing note counts as one that is never found.
    return f"absent:{name}"
