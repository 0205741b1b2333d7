"""Why one note is where it is, or missing, told from the record of the search itself.

Owns the choice of the reason. Must not rank again, nor by other rules.
"""

from __future__ import annotations

from typing import Any

from app.domain.evidence import Standing
from app.domain.notes import STATUS_DONE, Note
from app.domain.search import WhyAnswer
from app.ranking.run import Hit, Verdict
from app.search.outcome import Run, explanation_of, look_json
from app.search.trace import Trace
from app.text import round_half_up

_LEFT_OUT = ("candidates", "rows", "refused", "relations", "beyond_limit")


def why_of(run: Run, note: Note, trace: Trace) -> WhyAnswer:
    """Tell what one search did with a note."""
    with trace.stage("standing"):
        standing = run.evidence.standing(note.id)
    place, hit = _place(run, note.id)
    verdict = _verdict(run, note, hit, standing)
    explanation = explanation_of(run, trace)
    return WhyAnswer(
        note_id=note.id,
        title=note.title,
        returned=hit is not None,
        place=place,
        score=round_half_up(hit.score) if hit else None,
        via_relation=hit.via_relation if hit else None,
        stage=verdict.stage,
        rule=verdict.rule,
        message=verdict.message,
        best_chunk=_best_chunk(standing, explanation["candidates"]),
        search={name: value for name, value in explanation.items() if name not in _LEFT_OUT}
        | {"relations": [look_json(look) for look in run.expansion.looks_at(note.id)]},
        warnings=run.warnings,
    )


def _place(run: Run, note_id: int) -> tuple[int | None, Hit | None]:
    for place, hit in enumerate(run.expansion.hits, start=1):
        if hit.note.note_id == note_id:
            return place, hit
    return None, None


def _verdict(run: Run, note: Note, hit: Hit | None, standing: Standing | None) -> Verdict:
    if hit is not None and hit.via_relation is not None:
        return run.expansion.verdict(note.id)
    verdict = run.ranking.record.verdict(note.id, standing.rank if standing else None)
    if standing is not None or verdict.stage != "candidates":
        return verdict
    if not run.evidence.passes(note.id):
        return Verdict("filter", "filtered_out", "the filters of the request leave this note out")
    if not run.evidence.has_meaning:
        return Verdict("candidates", "not_reached", "words alone were searched, and do not find it")
    if note.embedding_status != STATUS_DONE:
        because = f": {note.embedding_error}" if note.embedding_error else ""
        return Verdict(
            "eligibility", "note_not_eligible", f"status {note.embedding_status}{because}"
        )
    return verdict


def _best_chunk(
    standing: Standing | None, candidates: list[dict[str, Any]]
) -> dict[str, Any] | None:
    """Return rank and cosine of a note's best chunk, with its judgement when it was judged."""
    if standing is None:
        return None
    for candidate in candidates:
        if candidate["chunk_id"] == standing.chunk_id:
            return candidate
    found = {"rank": standing.rank, "chunk_id": standing.chunk_id, "cosine": standing.cosine}
    # Rankers of whole notes judge no chunk, so theirs is not one that was left unreached.
    return found | {"outcome": "not reached"} if candidates else found
