"""The path of one search: embed, open a snapshot, rank, expand, answer.

Owns the order of the stages and their timing. Runs any ranker by meeting its needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.db import notes
from app.domain.search import FoundNote, SearchAnswer, SearchRequest, WhyAnswer
from app.domain.spaces import PLAIN_BORDER, SpaceSpec
from app.embedding.active import ActiveEmbedder
from app.embedding.base import QueryVector
from app.errors import CrystalError, NoteNotFound, ProviderError, SpaceMismatch
from app.mirror.mirror import Mirror
from app.mirror.view import View
from app.ranking.expansion import Expansion, expand
from app.ranking.registry import BY_NAME, Ranker
from app.ranking.run import (
    ChunkRows,
    Coverage,
    EdgesOf,
    Hit,
    LexicalHits,
    NearestChunks,
    NearestNotes,
    Need,
    NoteCards,
    NoteCosines,
    Question,
    Ranking,
    RecentOpens,
    Together,
)
from app.search.evidence import Evidence, Sought
from app.search.folding import FoldedTexts
from app.search.outcome import Run, explanation_of
from app.search.passages import passages_of
from app.search.trace import Trace
from app.search.why import why_of
from app.text import round_half_up

_STAGE_OF_NEED: dict[type[Need], str] = {
    NearestChunks: "candidates",
    NearestNotes: "candidates",
    Together: "candidates",
    LexicalHits: "words",
    Coverage: "words",
    ChunkRows: "rows",
    NoteCards: "rows",
    NoteCosines: "rows",
    RecentOpens: "rows",
    EdgesOf: "relations",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with its embedded query and the space that the query was embedded into.

    ``query`` is None when it could not be embedded, for ``fault``, and the ranker does without.
    """

    request: SearchRequest
    query: QueryVector | None
    spec: SpaceSpec
    fault: CrystalError | None = None


class Searcher:
    """Answers searches over one database; safe among threads."""

    def __init__(self, mirror: Mirror, active: ActiveEmbedder) -> None:
        self._mirror = mirror
        self._active = active
        self._texts = FoldedTexts()

    def search(self, request: SearchRequest) -> SearchAnswer:
        """Answer one search.

        A ranker that does without meaning raises the first two when words find nothing either: an
        empty answer always means that there is none.

        Raises:
            ProviderError: the query could not be embedded.
            SpaceMismatch: the provider's vectors do not belong to the active space.
            DatabaseUnavailable: the database cannot be read.
        """
        if request.limit == 0:
            return SearchAnswer(())
        trace = Trace()
        asked = self._embed(request, trace)
        with self._mirror.open(_ranker(request).parts) as (connection, view):
            run = self._run(asked, connection, view, trace)
            with trace.stage("answer"):
                found = _found_notes(connection, run.expansion.hits, request)
        explanation = explanation_of(run, trace) if request.explain else None
        return SearchAnswer(found, run.warnings, explanation)

    def why(self, request: SearchRequest, note_id: int) -> WhyAnswer:
        """Say why a note stands where it stands in the answer to a search, or is missing.

        Raises:
            NoteNotFound: there is no such note.
            ProviderError: the query could not be embedded.
            SpaceMismatch: the provider's vectors do not belong to the active space.
            DatabaseUnavailable: the database cannot be read.
        """
        trace = Trace()
        asked = self._embed(request, trace)
        with self._mirror.open(_ranker(request).parts) as (connection, view):
            note = notes.get(connection, note_id)
            if note is None:
                raise NoteNotFound
            run = self._run(asked, connection, view, trace)
            return why_of(run, note, trace)

    def _embed(self, request: SearchRequest, trace: Trace) -> Asked:
        embedder = self._active.current.embedder
        with trace.stage("embed"):
            try:
                query = embedder.embed_query(request.query)
            except (ProviderError, SpaceMismatch) as fault:
                if not _ranker(request).does_without_meaning:
                    raise
                return Asked(request, None, embedder.spec, fault)
        return Asked(request, query, embedder.spec)

    def _run(self, asked: Asked, connection: Connection, view: View, trace: Trace) -> Run:
        request = asked.request
        with trace.stage("filter"):
            vector, fault = _meaning(view, asked)
            sought = Sought(request.query, vector, request.filters)
            evidence = Evidence(connection, view, sought, self._texts)
            size = evidence.size()
        ranking = _rank(request, view, size, evidence, trace)
        if fault is not None and not ranking.hits:
            raise fault
        expansion = _expand(request, ranking, evidence, trace)
        return Run(request, view, evidence, size, ranking, expansion, _warnings(asked, fault))


def _ranker(request: SearchRequest) -> Ranker:
    return BY_NAME[request.ranker]


def _meaning(view: View, asked: Asked) -> tuple[NDArray[np.float32] | None, CrystalError | None]:
    """Return the query as the index holds vectors, or the fault for which words must do."""
    if asked.query is None:
        return None, asked.fault
    try:
        return _prepared(view, asked, asked.query.vector), None
    except SpaceMismatch as fault:
        if not _ranker(asked.request).does_without_meaning:
            raise
        return None, fault


def _warnings(asked: Asked, fault: CrystalError | None) -> tuple[str, ...]:
    if fault is not None:
        return (f"Found by words alone: {fault.message}",)
    return asked.query.warnings if asked.query else ()


def _prepared(view: View, asked: Asked, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Bring a query's vector to the form of the index, if it belongs to the index's space."""
    if view.space is not None:
        spec, mine = view.space.spec, asked.spec
        is_same = (spec.provider, spec.model) == (mine.provider, mine.model)
        if not is_same or spec.dimension not in (None, len(vector)):
            raise SpaceMismatch(
                f"The query was embedded by {mine.provider}/{mine.model} ({len(vector)} "
                f"dimensions), the active space is {spec.provider}/{spec.model} "
                f"({spec.dimension}); set embedding.provider and embedding.model back, or run: "
                "crystal reindex"
            )
    return view.prepared(vector, asked.request.query)


def _rank(
    request: SearchRequest, view: View, size: int, evidence: Evidence, trace: Trace
) -> Ranking:
    border = view.space.spec.border if view.space else PLAIN_BORDER
    question = Question(request.query, request.limit, size, border, request.cut)
    run = _ranker(request).rank(question)
    met: Any = None
    while True:
        try:
            with trace.stage("rank"):
                need = run.send(met)
        except StopIteration as finished:
            ranking: Ranking = finished.value
            return ranking
        with trace.stage(_STAGE_OF_NEED[type(need)]):
            met = evidence.meet(need)


def _expand(
    request: SearchRequest, ranking: Ranking, evidence: Evidence, trace: Trace
) -> Expansion:
    if not request.expand or not ranking.hits:
        return Expansion(ranking.hits, ())
    note_ids = tuple(hit.note.note_id for hit in ranking.hits)
    with trace.stage("relations"):
        edges = evidence.meet(EdgesOf(note_ids))
    with trace.stage("expand"):
        return expand(ranking.hits, edges)


def _found_notes(
    connection: Connection, hits: Iterable[Hit], request: SearchRequest
) -> tuple[FoundNote, ...]:
    listed = list(hits)
    if not listed:
        return ()
    note_ids = [hit.note.note_id for hit in listed]
    details = notes.details(connection, note_ids, request.fields)
    passages = passages_of(connection, note_ids, request.query) if request.highlight else {}
    return tuple(
        FoundNote(
            note_id=hit.note.note_id,
            conversation_id=hit.note.conversation_id or "",
            title=hit.note.title,
            project_name=details[hit.note.note_id].project_name,
            score=round_half_up(hit.score),
            tags=details[hit.note.note_id].tags,
            via_relation=hit.via_relation,
            extra=details[hit.note.note_id].extra | _passage(passages, hit.note.note_id),
        )
        for hit in listed
    )


def _passage(passages: Mapping[int, Any], note_id: int) -> dict[str, Any]:
    return {"passage": passages[note_id]} if note_id in passages else {}
