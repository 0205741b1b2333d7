"""Search in what was said: turns of conversations by their words.

Owns how documents become turns, and which message of a turn is shown. Asks no embedder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection

from app.db import conversations, message_documents
from app.domain.conversations import Conversation, FoundTurn, Message, MessageQuery
from app.domain.words import MessageStretch
from app.index.protocol import Ids
from app.lexical.documents import KIND_MESSAGE
from app.lexical.passages import best_passage
from app.lexical.results import LexicalHit
from app.lexical.run import LexicalRun
from app.mirror.mirror import Mirror
from app.mirror.parts import MESSAGES
from app.search.known_filters import KnownFilters
from app.text import round_half_up

SEPARATOR = "\n\n"
READ_AHEAD = 3
"""Documents read for each turn that is wanted: a long turn has several."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn that was found, and what is known of its conversation."""

    hit: LexicalHit
    stretch: MessageStretch
    conversation: Conversation
    note_id: int | None


class MessageSearcher:
    """Answers searches in messages over one database; safe among threads."""

    def __init__(self, mirror: Mirror, known: KnownFilters) -> None:
        """Search a mirror's words; ``known`` is what searches keep of the ids that pass."""
        self._mirror = mirror
        self._known = known

    def search(self, query: MessageQuery) -> tuple[FoundTurn, ...]:
        """Return the best turns, by score, then in the order in which they were stored.

        Raises:
            DatabaseUnavailable: the database cannot be read.
        """
        if not query.limit:
            return ()
        with self._mirror.open([MESSAGES]) as (connection, view):
            if view.messages is None:
                return ()
            run = view.messages.run_documents(query.query, (KIND_MESSAGE,))
            allowed = self._allowed(connection, view.state.epoch, query)
            best = list(_best(connection, run, query, allowed))
            ids = {stretch.conversation_id for _, stretch in best}
            notes = message_documents.notes_of(connection, ids)
            found = {each: conversations.get(connection, each) for each in sorted(ids)}
            turns = []
            for hit, stretch in best:
                conversation = found[stretch.conversation_id]
                if conversation is not None:
                    turn = Turn(hit, stretch, conversation, notes.get(conversation.id))
                    terms = sorted({match.term for match in run.matches(hit.id)})
                    turns.append(_shown(connection, turn, (query.query, " ".join(terms))))
            return tuple(turns)

    def _allowed(self, connection: Connection, epoch: str, query: MessageQuery) -> Ids:
        asked = ("messages", query.source, query.project, query.since)
        return self._known.read(
            connection, epoch, asked, lambda: message_documents.allowed(connection, query)
        )


def _best(
    connection: Connection, run: LexicalRun, query: MessageQuery, allowed: Ids
) -> Iterator[tuple[LexicalHit, MessageStretch]]:
    """Yield the best document of each of the best turns."""
    seen: set[tuple[str, int]] = set()
    place, size = 0, query.limit * READ_AHEAD
    while True:
        hits = run.best(size, allowed)
        stretches = message_documents.stretches(connection, [hit.id for hit in hits[place:]])
        for hit in hits[place:]:
            stretch = stretches.get(hit.id)
            if stretch is None or (stretch.conversation_id, stretch.turn) in seen:
                continue
            seen.add((stretch.conversation_id, stretch.turn))
            yield hit, stretch
            if len(seen) == query.limit:
                return
        if len(hits) < size:
            return
        place, size = len(hits), size * READ_AHEAD


def _shown(connection: Connection, turn: Turn, queries: tuple[str, str]) -> FoundTurn:
    """Show a turn by the first query that marks something in it.

    The second one has the words that were found in place of the query's own.
    """
    conversation, stretch = turn.conversation, turn.stretch
    messages = conversations.some_messages(
        connection, conversation.id, stretch.first_message, stretch.last_message
    )
    message, text, extents = _passage(messages, queries[0])
    if not extents:
        message, text, extents = _passage(messages, queries[1])
    return FoundTurn(
        conversation_id=conversation.id,
        turn=stretch.turn,
        message_id=message.id,
        role=message.role,
        timestamp=message.timestamp,
        score=round_half_up(turn.hit.score),
        text=text,
        extents=extents,
        source=conversation.source,
        project_name=conversation.project_name,
        slug=conversation.slug,
        note_id=turn.note_id,
    )


def _passage(
    messages: tuple[Message, ...], query: str
) -> tuple[Message, str, tuple[tuple[int, int], ...]]:
    """Return the message that shows best why a stretch was found, and the part that does.

    Of equally good ones the earliest is taken.
    """
    best: tuple[Message, str, tuple[tuple[int, int], ...]] = (messages[0], "", ())
    most = -1
    for message in messages:
        texts = [message.content, *(f"{use.input}{SEPARATOR}{use.output}" for use in message.tools)]
        passage = best_passage(SEPARATOR.join(filter(None, texts)), query)
        if passage is None:
            continue
        words = {passage.text[start:end].lower() for start, end in passage.extents}
        if len(words) > most:
            best, most = (message, passage.text, passage.extents), len(words)
    return best
