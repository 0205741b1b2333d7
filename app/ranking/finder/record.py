"""The record of a run of `finder`: seeds, slice, and an account of every note's relevance.

Owns how the record reads as JSON and as a verdict on one note. Computes no score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from app.domain.fragments import CHUNK, ENTITY, Entity, Fragment, GraphSlice
from app.graph.pagerank import Carried
from app.ranking.finder.find import Found
from app.ranking.finder.options import FinderOptions
from app.ranking.finder.replicas import Shown
from app.ranking.run import Verdict

LIST_NAMES = ("full_text", "vector")


@dataclass(frozen=True, slots=True, eq=False)
class FinderRecord:
    """What came in and went out of one run; ``answer`` has the notes beyond the limit too.

    ``names`` are the entities beside the notes within it.
    """

    options: FinderOptions
    limit: int
    found: Found[Fragment, int]
    around: GraphSlice
    answer: tuple[Shown, ...]
    names: Mapping[int, Entity]

    def explain(self) -> dict[str, Any]:
        """Return the whole record as JSON values."""
        full_text, vector = self.found.seeds.ranks
        kinds = Counter(relation.kind for relation in self.around.relations)
        return {
            "options": {**asdict(self.options), "weights": dict(self.options.weights)},
            "seeds": {
                "full_text": len(full_text),
                "vector": len(vector),
                "fused": len(self.found.seeds.scores),
            },
            "graph_relations": dict(sorted(kinds.items())),
            "graph_fragments": len(self.found.spread.graph.nodes),
            "rounds": self.found.spread.rounds,
            "candidates": [],
            "rows": [
                self._row(place, each)
                for place, each in enumerate(self.answer[: self.limit], start=1)
            ],
            "beyond_limit": [each.card.note_id for each in self.answer[self.limit :]],
        }

    def _row(self, place: int, shown: Shown) -> dict[str, Any]:
        fragments = [fragment for fragment, _ in shown.source.fragments]
        ranks = [self._best_rank(fragments, number) for number in range(len(LIST_NAMES))]
        return {
            "place": place,
            "note_id": shown.card.note_id,
            "score": shown.source.score,
            "total": shown.source.total,
            **{f"{name}_rank": rank for name, rank in zip(LIST_NAMES, ranks, strict=True)},
            "seed": self._seed(fragments),
            "mass": self._mass(fragments),
            "fragments": [self._fragment(fragment) for fragment in fragments],
            "ledger": self._ledger(fragments),
        }

    def _best_rank(self, fragments: Sequence[Fragment], number: int) -> int | None:
        ranks = self.found.seeds.ranks[number]
        return min((ranks[each] for each in fragments if each in ranks), default=None)

    def _seed(self, fragments: Sequence[Fragment]) -> float:
        scores = self.found.seeds.scores
        return sum(scores[fragment] for fragment in fragments if fragment in scores)

    def _mass(self, fragments: Sequence[Fragment]) -> float:
        return sum(self.found.spread.mass.get(fragment, 0.0) for fragment in fragments)

    def _fragment(self, fragment: Fragment) -> dict[str, Any]:
        seeds = self.found.seeds
        return {
            **self._named(fragment),
            **{
                f"{name}_rank": ranks.get(fragment)
                for name, ranks in zip(LIST_NAMES, seeds.ranks, strict=True)
            },
            "seed": seeds.scores.get(fragment, 0.0),
            "mass": self.found.spread.mass.get(fragment, 0.0),
        }

    def _ledger(self, fragments: Sequence[Fragment]) -> dict[str, Any]:
        """Account for the mass of a note: all parts of it sum to it, but for rounding."""
        accounts = [(each, self.found.spread.ledger(each)) for each in fragments]
        carried = [(to, part) for to, account in accounts for part in account.carried]
        by_kind: dict[str, float] = {}
        for _, part in carried:
            kind = self.around.relations[part.edge].kind
            by_kind[kind] = by_kind.get(kind, 0.0) + part.mass
        return {
            "restart": sum(account.restart for _, account in accounts),
            "dangling": sum(account.dangling for _, account in accounts),
            "by_relation": dict(sorted(by_kind.items())),
            "carried": [self._carried(to, part) for to, part in carried],
        }

    def _carried(self, to: Fragment, part: Carried[Fragment]) -> dict[str, Any]:
        return {
            "relation": self.around.relations[part.edge].kind,
            "from": self._named(part.source),
            "to": self._named(to),
            "mass": part.mass,
        }

    def _named(self, fragment: Fragment) -> dict[str, Any]:
        if fragment.name == ENTITY:
            known = self.names.get(fragment.id)
            what = {"kind": known.kind, "name": known.name} if known else {}
            return {"fragment": ENTITY, "entity_id": fragment.id, **what}
        return {
            "fragment": fragment.name,
            "note_id": self.around.note_of.get(fragment),
            "chunk_id": fragment.id if fragment.name == CHUNK else None,
        }

    def verdict(self, note_id: int, best_rank: int | None) -> Verdict:
        """Say what became of a note; ``best_rank`` is its best chunk's rank among all."""
        for place, shown in enumerate(self.answer, start=1):
            if shown.card.note_id == note_id:
                return self._placed(place, shown)
            if any(card.note_id == note_id for _, card in shown.replicas):
                told = f"it has the content of note {shown.card.note_id}, which is at place {place}"
                return Verdict("replicas", "replica", told)
        if any(source.id == note_id for source in self.found.sources):
            told = "relevance reached it, but the filters of the request leave this note out"
            return Verdict("filter", "filtered_out", told)
        where = f"its best chunk has rank {best_rank}" if best_rank else "it has no vector"
        return Verdict(
            "candidates",
            "not_reached",
            f"{where}; none of its fragments is a seed, nor within {self.options.graph_hops} "
            f"relations of one of the {len(self.found.seeds.scores)} seeds",
        )

    def _placed(self, place: int, shown: Shown) -> Verdict:
        fragments = [fragment for fragment, _ in shown.source.fragments]
        told = (
            f"score {shown.source.score:.3f} of seed scores {self._seed(fragments):.4f} and "
            f"PageRank mass {self._mass(fragments):.4f} in {len(fragments)} fragments"
        )
        if place > self.limit:
            return Verdict(
                "order", "beyond_limit", f"place {place}, the limit is {self.limit}: {told}"
            )
        return Verdict("order", "returned", f"place {place}: {told}")
