"""Notes hidden behind the sections of a note.

Owns what counts as a matched section and what is shown of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from app.ranking.notebrain.matches import Match
from app.ranking.notebrain.thresholds import is_kept


class SectionScore(NamedTuple):
    """A section of the note in question, by its place, and the best cosine to it."""

    section: int
    score: float


class HiddenNote(NamedTuple):
    """A note close to some sections: ``matched`` in their order, ``shown`` best first.

    Shown are the sections that pass the thresholds beside the best of the note.
    """

    note_id: int
    matched: tuple[SectionScore, ...]
    shown: tuple[SectionScore, ...]

    @property
    def score(self) -> float:
        """The best cosine to any section."""
        return self.shown[0].score


def hidden_behind(sections: Sequence[Iterable[Match]], limit: int) -> list[HiddenNote]:
    """Rank notes by the number of sections that they match, best score, id.

    ``sections`` holds the best matches of each. The headroom of candidates that notebrain.md
    names is never below ``limit``, so it decides nothing that is seen.
    """
    best: dict[int, dict[int, float]] = {}
    for section, matches in enumerate(sections):
        for match in matches:
            scores = best.setdefault(match.note_id, {})
            scores[section] = max(match.score, scores.get(section, match.score))
    notes = [_hidden_note(note_id, scores) for note_id, scores in best.items()]
    notes.sort(key=lambda note: (-len(note.matched), -note.score, note.note_id))
    return notes[:limit]


def _hidden_note(note_id: int, scores: dict[int, float]) -> HiddenNote:
    matched = tuple(SectionScore(*each) for each in sorted(scores.items()))
    best = max(scores.values())
    shown = sorted(
        (each for each in matched if is_kept(each.score, best)),
        key=lambda each: (-each.score, each.section),
    )
    return HiddenNote(note_id, matched, tuple(shown))
