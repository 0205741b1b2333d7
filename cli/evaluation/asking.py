"""The server as an evaluation asks it: which ways there are, its notes, its answers.

Owns the requests and the clock. Works with the original too, which has LIKE and one way to search,
no border to switch off and no names of notes but their ids. Must not judge an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import click

from cli.evaluation.values import LIKE, SEARCH, Answered, Found, Method, ServedNote
from cli.session import Session

ORIGINAL = "original"
"""The name under which rows tell of the original's one way to rank."""

LIMIT = 10
PAGE = 100


@dataclass(frozen=True, slots=True)
class Server:
    """What answers; ``rankers`` are the names that it takes."""

    is_original: bool
    rankers: tuple[str, ...]


def look(session: Session) -> Server:
    """Find out what answers.

    Raises:
        Failure: nothing does, or not as this API.
    """
    status = session.get("/api/status")
    if isinstance(status, dict) and "implementation" in status:
        search = session.get("/api/config")["search"]
        return Server(False, tuple(search.get("rankers") or [search["ranker"]]))
    return Server(True, ())


def methods_of(
    server: Server, rankers: Sequence[str], entrances: Sequence[str], expansions: Sequence[bool]
) -> tuple[Method, ...]:
    """Return the ways that were asked for; no ranker means all.

    Raises:
        click.UsageError: the server has no such ranker.
    """
    names = (ORIGINAL,) if server.is_original else (tuple(rankers) or server.rankers)
    if server.is_original and rankers:
        raise click.UsageError(
            "The original ChatCrystal has one way to rank: leave --ranker out, or give all."
        )
    for name in names:
        if not server.is_original and name not in server.rankers:
            known = ", ".join(server.rankers)
            raise click.UsageError(f"The server has no ranker {name!r}. It has {known}.")
    like = [Method(LIKE)] if LIKE in entrances else []
    searches = [
        Method(SEARCH, name, expand, not server.is_original)
        for name in names
        for expand in expansions
        if SEARCH in entrances
    ]
    return (*like, *searches)


def served_notes(session: Session) -> Iterator[ServedNote]:
    """List every note of the server, newest first.

    Raises:
        Failure: the server does not answer.
    """
    offset = 0
    while True:
        query = [("limit", str(PAGE)), ("offset", str(offset))]
        page = session.client.call("GET", "/api/notes", query=query).data
        for item in page["items"]:
            yield ServedNote(
                item["id"], item["title"], item.get("external_id"), item.get("path"), item
            )
        offset += len(page["items"])
        if not page["items"] or offset >= page["total"]:
            return


class Asker:
    """Asks one server; ``warnings`` counts what its answers warned of."""

    def __init__(self, session: Session) -> None:
        self._client = session.client
        self.warnings: Counter[str] = Counter()

    def ask(self, method: Method, text: str) -> Answered:
        """Ask in one way.

        Time is taken when the server has embedded the query already, so that the first way does
        not pay for all; only the original embeds again.

        Raises:
            Failure: the server refuses or does not answer.
        """
        if method.entrance == LIKE or not method.takes_cut:
            shown, milliseconds = self._timed(method, text)
            return Answered(shown, shown, milliseconds)
        order, _ = self._timed(method, text, ("cut", "off"))
        shown, milliseconds = self._timed(method, text)
        return Answered(order, shown, milliseconds)

    def _timed(
        self, method: Method, text: str, *more: tuple[str, str]
    ) -> tuple[tuple[Found, ...], float]:
        is_like = method.entrance == LIKE
        query = [("search" if is_like else "q", text), ("limit", str(LIMIT)), *more]
        if method.takes_cut:
            query.append(("ranker", method.ranker or ""))
        if method.expand:
            query.append(("expand", "true"))
        start = perf_counter()
        path = "/api/notes" if is_like else "/api/search"
        answer = self._client.call("GET", path, query=query)
        milliseconds = (perf_counter() - start) * 1000
        self.warnings.update(answer.warnings)
        rows = answer.data["items"] if is_like else answer.data
        return tuple(_found(row) for row in rows), milliseconds

    def why(self, method: Method, text: str, note_id: int) -> dict[str, Any] | None:
        """Return why a note stands where it stands, None where the server cannot tell.

        Raises:
            Failure: the server refuses or does not answer.
        """
        if not method.takes_cut:
            return None
        query = [("q", text), ("note_id", str(note_id)), ("limit", str(LIMIT))]
        query += [("ranker", method.ranker or ""), ("expand", str(method.expand).lower())]
        data: dict[str, Any] = self._client.call("GET", "/api/search/why", query=query).data
        return data


def _found(row: Mapping[str, Any]) -> Found:
    note_id = row["note_id"] if "note_id" in row else row["id"]
    return Found(note_id, row["title"], row.get("score"), row.get("via_relation"))
