"""Real applications over a folder of the test, and vectors that a test plants in its texts.

Owns opening and closing. With the stub provider nothing leaves the machine and no model loads:

    with StubProvider(vector=planted_vector) as provider:
        with opened(tmp_path, stub_values(provider)) as application:
            application.writer.create_note(NoteDraft("WAL", "cos=0.83"))
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import event

from app.db.engine import Database
from app.domain.notes import NoteDraft, NoteFilters
from app.domain.search import SearchAnswer, SearchRequest
from app.factory import Application, build
from app.settings.values import Settings, parse
from tests.support.databases import DATABASES
from tests.support.provider import StubProvider

PLANTED_DIMENSION = 8

EVERYTHING = NoteFilters()
_NO_QUERIES = ("BEGIN", "COMMIT", "ROLLBACK", "PRAGMA")
_PLANTED = re.compile(r"cos=(-?[0-9.]*[0-9])")


def make_settings(folder: Path, values: Mapping[str, str] | None = None) -> Settings:
    """Settings by their dotted names, of an application over this folder; the rest are defaults.

    The second model is off: its tests ask for it. No tool of whoever runs the tests is looked at.
    The database is that of the run (``tests/support/databases.py``).
    """
    own = {
        "data_dir": str(folder),
        **DATABASES.setting(folder),
        "search.second_space": "false",
        "sources.home": str(folder / "home"),
    }
    return parse(own | dict(values or {}), {})


def stub_values(provider: StubProvider, **more: str) -> dict[str, str]:
    """Settings by which an application embeds with the stub; ``more`` are leaves of embedding."""
    values = {"provider": "openai", "base_url": provider.base_url, "retries": "0"} | more
    return {f"embedding.{name}": value for name, value in values.items()}


@contextmanager
def opened(folder: Path, values: Mapping[str, str] | None = None) -> Iterator[Application]:
    """Open an application over a folder and close it in the end; two may share a folder."""
    application = build(make_settings(folder, values))
    try:
        yield application
    finally:
        application.close()


def planted_vector(text: str) -> list[float]:
    """A unit vector with the cosine to every query that the text names, as in ``cos=0.83``.

    A text that names none, such as a query, has the vector that all cosines are to.
    """
    named = _PLANTED.search(text)
    cosine = float(named[1]) if named else 1.0
    rest = math.sqrt(max(0.0, 1.0 - cosine * cosine))
    return [cosine, rest] + [0.0] * (PLANTED_DIMENSION - 2)


def plant(application: Application, cosines: Sequence[float], words: str = "note") -> list[int]:
    """Create a note a cosine, with its number in the title; return their ids in that order."""
    return [
        application.writer.create_note(NoteDraft(f"{words} {number}", f"cos={cosine}"))
        for number, cosine in enumerate(cosines)
    ]


def request(
    query: str = "anything", filters: NoteFilters = EVERYTHING, **more: Any
) -> SearchRequest:
    """A search by the default ranker unless told otherwise."""
    return SearchRequest(**{"query": query, "ranker": "chatcrystal", "filters": filters, **more})


def ask(application: Application, query: str = "anything", **more: Any) -> SearchAnswer:
    """Search with the default ranker unless told otherwise."""
    return application.searcher.search(request(query, **more))


def found_ids(answer: SearchAnswer) -> list[int]:
    """The note ids of an answer, in its order."""
    return [found.note_id for found in answer.found]


@contextmanager
def recorded_statements(database: Database) -> Iterator[list[str]]:
    """Collect the SQL statements that run inside, those about transactions left out."""
    statements: list[str] = []

    def record(*arguments: Any) -> None:
        statement = arguments[2]
        if not statement.startswith(_NO_QUERIES):
            statements.append(statement)

    event.listen(database.engine, "before_cursor_execute", record)
    try:
        yield statements
    finally:
        event.remove(database.engine, "before_cursor_execute", record)
