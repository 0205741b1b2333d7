"""What one search came to, while its snapshot is open, and how that reads as JSON.

Owns no rule: everything told here was recorded by the stage that did it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.domain.search import SearchRequest
from app.domain.spaces import Space
from app.mirror.view import View
from app.ranking.expansion import Expansion, Look
from app.ranking.run import Ranking
from app.search.evidence import Evidence
from app.search.trace import Trace


@dataclass(frozen=True, slots=True)
class Run:
    """One search; ``size`` counts the chunks that it may find."""

    request: SearchRequest
    view: View
    evidence: Evidence
    size: int
    ranking: Ranking
    expansion: Expansion
    warnings: tuple[str, ...]


def explanation_of(run: Run, trace: Trace) -> dict[str, Any]:
    """Return a run's own record as JSON values."""
    space, second = run.view.space, run.view.second
    beside = {}
    if second is not None and run.evidence.has_second:
        beside = {"second_space": _name(second.space)}
    return {
        "ranker": run.request.ranker,
        "limit": run.request.limit,
        "space": space and _name(space),
        **beside,
        "sequence": run.view.state.sequence,
        "searched_chunks": run.size,
        **run.ranking.record.explain(),
        "relations": [look_json(look) for look in run.expansion.looks],
        "milliseconds": trace.milliseconds(),
    }


def _name(space: Space) -> str:
    return f"{space.spec.provider}/{space.spec.model}"


def look_json(look: Look) -> dict[str, Any]:
    """Return a relation that was looked at as JSON values."""
    return {
        "relation_id": look.relation_id,
        "type": look.relation_type,
        "confidence": look.confidence,
        "from_note_id": look.from_note_id,
        "to_note_id": look.to_note_id,
        "score": look.score,
        "skipped": look.skipped,
    }
