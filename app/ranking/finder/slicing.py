"""The slice of the graph around the seeds: which relations a run looks at.

Owns reach, order and limits. A hub, such as a tag on half of the notes, must not fill the slice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field

from app.domain.fragments import (
    CONTAINS,
    LINKS_TO,
    MENTIONS,
    Fragment,
    FragmentRelation,
    GraphSlice,
)
from app.ranking.finder.options import FinderOptions
from app.ranking.run import RelationsOf

Relation = FragmentRelation[Fragment]

_FIRST_KINDS = (CONTAINS, MENTIONS, LINKS_TO)
"""The order of kinds at the same distance; typed relations come behind."""


@dataclass(slots=True)
class _Walk:
    """What a walk has taken so far: relations in order, fragments, and how much of each entity."""

    options: FinderOptions
    seeds: frozenset[Fragment]
    taken: dict[Relation, None] = field(default_factory=dict)
    known: set[Fragment] = field(default_factory=set)
    degrees: defaultdict[Fragment, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def room(self) -> int:
        return self.options.graph_relation_limit - len(self.taken)

    def take(self, found: Iterable[Relation]) -> list[Fragment]:
        """Take relations as far as there is room; return the fragments that are new, in order."""
        fresh = [each for each in dict.fromkeys(found) if each not in self.taken]
        kinds = {each.kind for each in fresh}
        weighty = {kind for kind in kinds if self.options.weight_of(kind) > 0.0}
        counting = [each for each in fresh if each.kind in weighty]
        mentions = self._within_degrees([each for each in counting if each.kind == MENTIONS])
        others = [each for each in counting if each.kind != MENTIONS]
        chosen = sorted([*mentions, *others], key=_order)[: self.room]
        self.taken.update(dict.fromkeys(chosen))
        reached = {end for each in chosen for end in (each.source, each.target)} - self.known
        self.known |= reached
        return sorted(reached)

    def _within_degrees(self, mentions: Iterable[Relation]) -> list[Relation]:
        """Leave out what mentions an entity that has its most: seeds first, by weight, then id."""
        kept: list[Relation] = []
        for each in sorted(mentions, key=self._priority):
            if self.degrees[each.target] < self.options.max_entity_degree:
                kept.append(each)
                self.degrees[each.target] += 1
        return kept

    def _priority(self, each: Relation) -> tuple[bool, float, Fragment, Fragment]:
        # Of one kind, the weight is told by the share.
        return each.source not in self.seeds, -each.share, each.source, each.target


def slice_around(
    seeds: Iterable[Fragment], options: FinderOptions
) -> Generator[RelationsOf, GraphSlice, GraphSlice]:
    """Gather the relations whose two ends are at most ``graph_hops`` from a seed.

    Nearest first: those of the seeds, then those of what they reach, and so on; at last those that
    join two of the outermost. Within a step: contains, mentions, links, typed relations, each by
    source and target.
    """
    frontier = sorted(seeds)
    walk = _Walk(options, frozenset(frontier), known=set(frontier))
    notes: dict[Fragment, int] = {}
    for distance in range(options.graph_hops + 1):
        found = yield RelationsOf(
            tuple(frontier) if walk.room else (),
            limit=options.graph_relation_limit,
            entity_degree=options.max_entity_degree,
            is_inner=distance == options.graph_hops,
        )
        notes.update(found.note_of)
        frontier = walk.take(found.relations)
    return GraphSlice(tuple(walk.taken), _of(walk.known, notes))


def _of(known: Iterable[Fragment], notes: Mapping[Fragment, int]) -> dict[Fragment, int]:
    return {fragment: notes[fragment] for fragment in sorted(known) if fragment in notes}


def _order(each: Relation) -> tuple[int, Fragment, Fragment, str]:
    place = _FIRST_KINDS.index(each.kind) if each.kind in _FIRST_KINDS else len(_FIRST_KINDS)
    return place, each.source, each.target, each.kind
