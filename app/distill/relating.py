"""How two notes are related, by what both of them say: rules without a model.

Owns the rules, their confidence and the sentence of evidence. What two notes have to do with each
other is a matter of these two, of who is nearest to whom, and of how rare a name is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from app.domain.relations import RelationDraft

AUTO = "auto"
"""Who made these relations; those of anybody else are never touched."""

SIMILAR_SCORE = 0.7
"""Least raw score (search.md, stage 3) of two notes that are each other's nearest."""

TOPIC_SCORE = 0.6
"""Least raw score of two notes on one topic: a little above the border of relevance."""

RARE = 4
"""Notes that may name something for it to tell which of them belong together."""

MOST_NAMED = 3
"""Names that a sentence of evidence lists."""

FIX = "fix"

_IDENTIFIER = re.compile(r"[a-z][A-Z]|_|\w\.\w|::")


@dataclass(frozen=True, slots=True)
class Card:
    """What the rules read of a note; tags, files and errors are names."""

    id: int
    project: str
    created_at: str
    outcome_type: str | None
    tags: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    errors: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Pair:
    """Two notes: their raw score, None where no vectors tell, and whether each is the other's
    nearest."""

    first: Card
    second: Card
    score: float | None = None
    is_mutual: bool = False

    @property
    def in_time(self) -> tuple[Card, Card]:
        """The earlier and the later one."""
        return (
            (self.first, self.second)
            if (self.first.created_at, self.first.id) <= (self.second.created_at, self.second.id)
            else (self.second, self.first)
        )

    @property
    def is_one_project(self) -> bool:
        """Tell whether both belong to one project that has a name."""
        return bool(self.first.project) and self.first.project == self.second.project


def is_identifier(tag: str) -> bool:
    """Tell a tag that is a name in code from one that is a topic."""
    return _IDENTIFIER.search(tag) is not None


def related(pair: Pair, counts: Mapping[str, int]) -> list[RelationDraft]:
    """Return the relations between two notes.

    Args:
        counts: By how many notes each name is mentioned; one that is not told is taken as common.
    """
    found = (
        *_similar(pair),
        *_referring(pair, counts),
        *_resolving(pair, counts),
        *_extending(pair, counts),
    )
    return list(found)


def _similar(pair: Pair) -> Iterator[RelationDraft]:
    if pair.is_mutual and pair.score is not None and pair.score >= SIMILAR_SCORE:
        earlier, later = pair.in_time
        evidence = f"Each is the other's nearest note (score {pair.score:.3f})"
        yield _draft(later, earlier, "SIMILAR_TO", pair.score, evidence)


def _referring(pair: Pair, counts: Mapping[str, int]) -> Iterator[RelationDraft]:
    """The later one names what only few notes name; a path tells only within one project."""
    files = pair.first.files & pair.second.files if pair.is_one_project else frozenset()
    tags = (tag for tag in pair.first.tags & pair.second.tags if is_identifier(tag))
    names = _rare([*(file for file in files if "/" in file), *tags], counts)
    if names:
        earlier, later = pair.in_time
        confidence = min(0.5 + 0.15 * len(names), 0.95)
        yield _draft(later, earlier, "REFERENCES", confidence, f"Both name {_listed(names)}")


def _resolving(pair: Pair, counts: Mapping[str, int]) -> Iterator[RelationDraft]:
    """Of two notes with the same error one has the way out, or the reason."""
    errors = sorted(pair.first.errors & pair.second.errors)
    known = [card for card in (pair.first, pair.second) if card.outcome_type]
    if not errors or len(known) != 1:
        return
    told = known[0]
    asking = pair.second if told is pair.first else pair.first
    kind = "RESOLVED_BY" if told.outcome_type == FIX else "CAUSED_BY"
    is_rare = any(counts.get(error, RARE + 1) <= RARE for error in errors)
    confidence = (0.7 if is_rare else 0.55) + 0.15 * pair.is_one_project
    what = "its fix" if kind == "RESOLVED_BY" else "what leads to it"
    evidence = f"Both have the error {_listed(errors)}; one tells {what}"
    yield _draft(asking, told, kind, confidence, evidence)


def _extending(pair: Pair, counts: Mapping[str, int]) -> Iterator[RelationDraft]:
    """The later one goes on with the topic of the earlier one, in the same project."""
    if not pair.is_one_project or pair.score is None or pair.score < TOPIC_SCORE:
        return
    earlier, later = pair.in_time
    if earlier.created_at == later.created_at:
        return
    shared = sorted((pair.first.tags & pair.second.tags) | (pair.first.files & pair.second.files))
    if not shared:
        return
    confidence = min(pair.score + 0.05 * (len(shared) - 1), 0.95)
    evidence = f"Later in {later.project}, on {_listed(shared)} (score {pair.score:.3f})"
    yield _draft(later, earlier, "EXTENDS", confidence, evidence)


def _rare(names: Iterable[str], counts: Mapping[str, int]) -> list[str]:
    rare = (name for name in names if counts.get(name, RARE + 1) <= RARE)
    return sorted(rare, key=lambda name: (counts[name], name))


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    shown = ", ".join(f"`{name[:80]}`" for name in listed[:MOST_NAMED])
    return shown + (f" and {len(listed) - MOST_NAMED} more" if len(listed) > MOST_NAMED else "")


def _draft(
    source: Card, target: Card, kind: str, confidence: float, evidence: str
) -> RelationDraft:
    return RelationDraft(source.id, target.id, kind, round(confidence, 2), evidence, AUTO)
