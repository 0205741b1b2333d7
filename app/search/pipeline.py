"""The path of one search: embed, open a snapshot, rank, expand, answer.

Owns the order of the stages and their timing. Runs any ranker by meeting its needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.db import notes
from app.domain.search import FoundNote, SearchAnswer, SearchRequest, WhyAnswer
from app.domain.spaces import PLAIN_BORDER
from app.embedding.active import Active, ActiveEmbedder, SecondSpace
from app.embedding.base import QueryVector
from app.errors import CrystalError, NoteNotFound, ProviderError, SpaceMismatch
from app.index.work import aside
from app.mirror.mirror import Mirror
from app.mirror.view import View
from app.ranking.expansion import Expansion, expand
from app.ranking.registry import BY_NAME, Ranker
from app.ranking.run import EdgesOf, Hit, Question, Ranking
from app.search.evidence import Evidence, Sought
from app.search.found import found_notes
from app.search.kept import Kept
from app.search.meaning import is_of, prepared
from app.search.outcome import Run, explanation_of
from app.search.searchable import told_of_unembedded, while_changing
from app.search.second import NOT_ASKED, Glance, SecondModel
from app.search.stages import STAGE_OF_NEED
from app.search.trace import Trace
from app.search.turns import Turns
from app.search.why import why_of


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with its embedded query, and what that was embedded with.

    ``query`` is None when it could not be embedded, for ``fault``, and the ranker does without.
    ``further`` are the other queries of a search with several; ``begun`` is the query on its way
    through the second model.
    """

    request: SearchRequest
    query: QueryVector | None
    active: Active
    fault: CrystalError | None = None
    further: tuple[QueryVector, ...] = ()
    begun: Future[QueryVector] | None = None


class Searcher:
    """Answers searches over one database; safe among threads."""

    def __init__(
        self,
        mirror: Mirror,
        active: ActiveEmbedder,
        kept: Kept,
        second: SecondSpace | None = None,
        *,
        follow: Callable[[], None] = lambda: None,
        turns: Turns = nullcontext,
    ) -> None:
        """Search with the embedder in use, and with a second model for rankers that weigh two.

        ``follow`` brings the embedder in step with the database, when searches moved to another
        space; ``kept`` is what searches keep between them, and ``turns`` give one of them its
        turn to be ranked.
        """
        self._follow = follow
        self._mirror = mirror
        self._active = active
        self._second = SecondModel(second)
        self._kept = kept
        self._turns = turns

    def search(self, request: SearchRequest) -> SearchAnswer:
        """Answer one search.

        A ranker that does without meaning raises the first two when words find nothing either: an
        empty answer always means that there is none.

        Raises:
            ProviderError: the query could not be embedded.
            SpaceMismatch: the provider's vectors do not belong to the space that is searched.
            NothingEmbedded: there are notes, and none can be found by meaning for a fault.
            DatabaseUnavailable: the database cannot be read.
        """
        if request.limit == 0:
            return SearchAnswer(())
        trace = Trace()
        with self._opened(request, trace) as (asked, connection, view):
            run = self._run(asked, connection, view, trace)
            warnings = run.warnings
            if not run.expansion.hits:
                warnings += told_of_unembedded(connection, view)
            with trace.stage("answer"):
                found = self._found(connection, view, run.expansion.hits, request)
        explanation = explanation_of(run, trace) if request.explain else None
        return SearchAnswer(found, warnings, explanation, trace.milliseconds())

    def why(self, request: SearchRequest, note_id: int) -> WhyAnswer:
        """Say why a note stands where it stands in the answer to a search, or is missing.

        Raises:
            NoteNotFound: there is no such note.
            ProviderError: the query could not be embedded.
            SpaceMismatch: the provider's vectors do not belong to the space that is searched.
            DatabaseUnavailable: the database cannot be read.
        """
        trace = Trace()
        with self._opened(request, trace) as (asked, connection, view):
            note = notes.get(connection, note_id)
            if note is None:
                raise NoteNotFound
            run = self._run(asked, connection, view, trace)
            return why_of(run, note, trace)

    @contextmanager
    def _opened(
        self, request: SearchRequest, trace: Trace
    ) -> Iterator[tuple[Asked, Connection, View]]:
        """Open a view with the query embedded for its space; searches may have moved meanwhile."""
        for may_follow in (True, True, False):
            asked = self._embed(request, trace)
            wanted = _ranker(request).parts
            # Loading may take seconds: nobody has the turn meanwhile.
            self._mirror.prepare(wanted)
            with self._turns(), self._mirror.open(wanted) as (connection, view):
                if not may_follow or is_of(view, asked.active):
                    yield asked, connection, view
                    return
            self._follow()

    def _embed(self, request: SearchRequest, trace: Trace) -> Asked:
        active = self._active.searching
        begun = None
        if _ranker(request).weighs_two:
            begun = self._second.begin(self._mirror.latest, request.query)
        with trace.stage("embed"):
            try:
                query, *further = active.embedder.embed_queries(
                    (request.query, *request.topics[1:])
                )
            except (ProviderError, SpaceMismatch) as error:
                fault = while_changing(self._active, error)
                if not _ranker(request).does_without_meaning:
                    raise fault from error
                return Asked(request, None, active, fault)
        return Asked(request, query, active, further=tuple(further), begun=begun)

    def _run(self, asked: Asked, connection: Connection, view: View, trace: Trace) -> Run:
        request = asked.request
        with trace.stage("filter"):
            vector, fault = _meaning(view, asked)
            further = _further(view, asked)
            glance = self._glance(asked, view) if vector is not None else NOT_ASKED
            sought = Sought(
                request.query, vector, request.filters, further=further, second=glance.vector
            )
            evidence = Evidence(connection, view, sought, self._kept)
            size = evidence.size()
        scope = _Scope(size, glance.border, self._active.current.settings.finder)
        ranking = _rank(request, view, evidence, scope, trace)
        if fault is not None and not ranking.hits:
            raise fault
        expansion = _expand(request, ranking, evidence, trace)
        warnings = _warnings(asked, fault) + glance.warnings
        return Run(request, view, evidence, size, ranking, expansion, warnings)

    def _found(
        self, connection: Connection, view: View, hits: Sequence[Hit], request: SearchRequest
    ) -> tuple[FoundNote, ...]:
        if not hits:
            return ()
        note_ids = [hit.note.note_id for hit in hits]
        fields = tuple(dict.fromkeys((*request.fields, *_ranker(request).fields)))
        details = self._kept.details.read(connection, view.state.epoch, note_ids, fields)
        return found_notes(connection, hits, request, details)

    def _glance(self, asked: Asked, view: View) -> Glance:
        if not _ranker(asked.request).weighs_two:
            return NOT_ASKED
        with aside():
            return self._second.look(view, asked.request.query, asked.begun)


@dataclass(frozen=True, slots=True)
class _Scope:
    """How many chunks a request may find, and the second space's border if that is asked.

    ``options`` are what the settings say of ``finder``.
    """

    size: int
    second_border: float | None
    options: Mapping[str, float]


def _ranker(request: SearchRequest) -> Ranker:
    return BY_NAME[request.ranker]


def _meaning(view: View, asked: Asked) -> tuple[NDArray[np.float32] | None, CrystalError | None]:
    """Return the query as the index holds vectors, or the fault for which words must do."""
    if asked.query is None:
        return None, asked.fault
    try:
        return prepared(view, asked.active, asked.query.vector, asked.request.query), None
    except SpaceMismatch as fault:
        if not _ranker(asked.request).does_without_meaning:
            raise
        return None, fault


def _warnings(asked: Asked, fault: CrystalError | None) -> tuple[str, ...]:
    if fault is not None:
        return (f"Found by words alone: {fault.message}",)
    queries = (asked.query, *asked.further) if asked.query else ()
    return tuple(warning for query in queries for warning in query.warnings)


def _further(view: View, asked: Asked) -> tuple[tuple[str, NDArray[np.float32]], ...]:
    return tuple(
        (text, prepared(view, asked.active, query.vector, text))
        for text, query in zip(asked.request.topics[1:], asked.further, strict=True)
    )


def _rank(
    request: SearchRequest, view: View, evidence: Evidence, scope: _Scope, trace: Trace
) -> Ranking:
    border = view.space.spec.border if view.space else PLAIN_BORDER
    question = Question(
        request.query,
        request.limit,
        scope.size,
        border,
        request.cut,
        second_border=scope.second_border,
        topics=request.topics or (request.query,),
        per_note=request.per_note,
        options={**scope.options, **request.options},
        seeds=request.seeds,
    )
    run = _ranker(request).rank(question)
    met: Any = None
    while True:
        try:
            with trace.stage("rank"):
                need = run.send(met)
        except StopIteration as finished:
            ranking: Ranking = finished.value
            return ranking
        with trace.stage(STAGE_OF_NEED[type(need)]):
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
