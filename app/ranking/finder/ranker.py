"""The run of `finder`: what it needs, in which order, and what it hands to the rules.

Owns which fragments may be seeds. Every rule itself is in the module of its concept.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from app.domain.evidence import NoteCard, NoteFacts
from app.domain.fragments import (
    ENTITY,
    Entity,
    Fragment,
    FragmentHit,
    FragmentText,
    GraphSlice,
    SourceCard,
)
from app.ranking.finder.find import spread_from
from app.ranking.finder.hints import hints_of, replicas_of
from app.ranking.finder.options import FULL_TEXT, VECTOR, FinderOptions
from app.ranking.finder.record import FinderRecord
from app.ranking.finder.replicas import Shown, collapsed
from app.ranking.finder.seeds import fuse, near, strong
from app.ranking.finder.slicing import slice_around
from app.ranking.run import (
    EntityNames,
    FragmentTexts,
    Hit,
    NearestFragments,
    Need,
    NoteCards,
    Question,
    Ranking,
    RankingRun,
    SourceCards,
    WordedFragments,
)

OVER_FETCH = 2
"""Fragments that each wanted seed makes the run ask for: some belong to notes that wait."""


def rank_finder(question: Question) -> RankingRun:
    """Find seeds by words and by meaning, let their relevance flow, and order the notes."""
    options = FinderOptions.of(question.options)
    worded, nearest = yield from _seed_lists(question, options)
    within = near(((hit.fragment, 1.0 - hit.value) for hit in nearest), options.max_vector_distance)
    by_words = strong([(hit.fragment, hit.value) for hit in worded], options.min_full_text_share)
    seeds = fuse((by_words, within), options.rrf_k, options.seed_k)
    around = yield from slice_around(seeds.scores, options)
    own = {hit.fragment: hit.note_id for hit in (*worded, *nearest) if hit.note_id is not None}
    around = GraphSlice(around.relations, {**own, **around.note_of})
    found = spread_from(seeds, around.relations, around.note_of, options)
    cards: Mapping[int, SourceCard] = yield SourceCards(
        tuple(source.id for source in found.sources)
    )
    answer = collapsed(found.sources, cards)
    shown = answer[: question.limit]
    names: Mapping[int, Entity] = yield EntityNames(_entities_beside(shown, around))
    hits = yield from _hits(question.query, shown, options)
    return Ranking(hits, FinderRecord(options, question.limit, found, around, answer, names))


def _seed_lists(
    question: Question, options: FinderOptions
) -> Generator[Need, Any, tuple[Sequence[FragmentHit], Sequence[FragmentHit]]]:
    """Return what is found by words and what is near by meaning, each best first."""
    worded: Sequence[FragmentHit] = ()
    nearest: Sequence[FragmentHit] = ()
    if question.seeds != VECTOR:
        worded = yield WordedFragments(options.seed_k)
    if question.seeds != FULL_TEXT:
        nearest = yield NearestFragments(OVER_FETCH * options.seed_k)
    owners = sorted({hit.note_id for hit in nearest if hit.note_id is not None})
    facts: Mapping[int, NoteFacts] = yield NoteCards(tuple(owners))
    # A note that waits to be embedded may have vectors of an older text.
    embedded = {id_ for id_, known in facts.items() if known.card.ineligible_because is None}
    return worded, [hit for hit in nearest if hit.note_id is None or hit.note_id in embedded]


def _entities_beside(shown: Sequence[Shown], around: GraphSlice) -> tuple[int, ...]:
    """Return the entities that the shown notes mention, for the account of what they carried."""
    own = {fragment for each in shown for fragment, _ in each.source.fragments}
    mentioned = {each.target for each in around.relations if each.source in own}
    return tuple(sorted(end.id for end in mentioned if end.name == ENTITY))


def _hits(
    query: str, shown: Sequence[Shown], options: FinderOptions
) -> Generator[Need, Any, tuple[Hit, ...]]:
    fragments = (
        fragment for each in shown for fragment, _ in each.source.fragments[: options.max_hints]
    )
    texts: Mapping[Fragment, FragmentText] = yield FragmentTexts(tuple(fragments))
    return tuple(
        Hit(
            NoteCard(each.card.note_id, each.card.title, each.card.status,
                     each.card.conversation_id),
            each.source.score,
            extra={
                "hints": hints_of(each.source.fragments[: options.max_hints], texts),
                "replicas": replicas_of(each),
            },
        )
        for each in shown
    )  # fmt: skip
