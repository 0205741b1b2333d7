"""A conversation read: its sentences with what they state, its code, its facts.

Owns everything that needs no vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from app.distill.files import files_of, is_edit
from app.distill.prose import Blocks, Code, blocks_of, paragraphs, sentences_of
from app.distill.signals import Signals, is_wave, role_of_heading, signals_of, words_of
from app.distill.signatures import signatures_of
from app.distill.tags import tags_of
from app.distill.turns import ASSISTANT, USER, Transcript, Turn

MOST_READ = 120
"""Sentences whose cues are read; a longer conversation is read at its beginning and its end."""

_READ_AT_START = 45

LONGEST_OUTPUT = 3_000
"""Characters of what a tool answered that are looked through."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: who said it, in which turn, at which place of the turn.

    ``leads`` tells the first one of a turn, ``after_edit`` one of an assistant that has changed a
    file since a user last spoke, or does so in this turn, ``heading`` the role that its heading
    gives it.
    """

    text: str
    role: str
    turn: int
    leads: bool
    after_edit: bool
    heading: str
    signals: Signals


@dataclass(frozen=True, eq=False)
class Reading:
    """What was read of a conversation; ``waves`` are the turns that only agree or greet."""

    transcript: Transcript
    blocks: tuple[Blocks, ...]
    sentences: tuple[Sentence, ...]
    waves: frozenset[int]
    edits: tuple[int, ...]

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns, as they were said."""
        return self.transcript.turns

    def said_by(self, role: str) -> list[Sentence]:
        """Return the sentences of a side."""
        return [sentence for sentence in self.sentences if sentence.role == role]

    def words(self, role: str) -> int:
        """Count the words of a side's sentences."""
        return words_of(sentence.text for sentence in self.said_by(role))

    @cached_property
    def codes(self) -> tuple[tuple[int, Code], ...]:
        """The fenced blocks with the number of their turn."""
        return tuple((turn, code) for turn, each in enumerate(self.blocks) for code in each.codes)

    @cached_property
    def first_request(self) -> int | None:
        """The number of the first turn in which a user says more than a greeting."""
        return next((each.turn for each in self.said_by(USER)), None)

    @cached_property
    def error_signatures(self) -> tuple[str, ...]:
        """The errors that are named, normalised; those of prose first."""
        asked = [turn.text for turn in self.turns if turn.role == USER]
        told = [turn.text for turn in self.turns]
        outputs = [use.output[:LONGEST_OUTPUT] for turn in self.turns for use in turn.uses]
        return signatures_of([*told, *outputs], asked)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The files touched and named."""
        return files_of(self.turns, self.transcript.folder)

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """Languages, frameworks and names that recur."""
        told = "\n".join(turn.text for turn in self.turns)
        used = "\n".join(
            text[:LONGEST_OUTPUT]
            for turn in self.turns
            for use in turn.uses
            for text in (use.input, use.output)
        )
        return tags_of(
            told,
            used,
            [code.language for _, code in self.codes],
            (*self.files, self.transcript.folder),
        )


def read(transcript: Transcript) -> Reading:
    """Read a conversation."""
    blocks = tuple(blocks_of(turn.text) for turn in transcript.turns)
    edits = tuple(
        number
        for number, turn in enumerate(transcript.turns)
        if any(is_edit(use) for use in turn.uses)
    )
    waves = frozenset(
        number
        for number, turn in enumerate(transcript.turns)
        if turn.role == USER and turn.text and is_wave(turn.text)
    )
    sentences = _sentences(transcript.turns, blocks, waves, set(edits))
    return Reading(transcript, blocks, sentences, waves, edits)


def _sentences(
    turns: Sequence[Turn], blocks: Sequence[Blocks], waves: frozenset[int], edits: set[int]
) -> tuple[Sentence, ...]:
    pieces = []
    has_edited = False
    for number, (turn, block) in enumerate(zip(turns, blocks, strict=True)):
        if turn.role == USER and turn.text:
            has_edited = has_edited and number in waves
        if number not in waves:
            after_edit = turn.role == ASSISTANT and (has_edited or number in edits)
            pieces += [
                (text, turn.role, number, place == 0, after_edit, heading)
                for place, (text, heading) in enumerate(_texts(block))
            ]
        has_edited = has_edited or number in edits
    if len(pieces) > MOST_READ:
        pieces = pieces[:_READ_AT_START] + pieces[_READ_AT_START - MOST_READ :]
    return tuple(Sentence(*piece, signals_of(piece[0])) for piece in pieces)


def _texts(block: Blocks) -> list[tuple[str, str]]:
    return [
        (sentence, role_of_heading(heading))
        for paragraph, heading in paragraphs(block)
        for sentence in sentences_of(paragraph)
    ]
