"""Expansion against the page's own words, for any ranker's hits and any relations."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.evidence import Edge, NoteCard
from app.ranking.expansion import expand
from app.ranking.run import Hit


def card(note_id: int, status: str = "done", conversation: str | None = "c") -> NoteCard:
    return NoteCard(note_id, f"note {note_id}", status, conversation)


NOTES = {
    **{note_id: card(note_id) for note_id in range(1, 8)},
    8: card(8, status="pending"),
    9: card(9, conversation=None),
}


def edge(
    relation_id: int, source: int, target: int, confidence: float | None, kind: str = "EXTENDS"
) -> Edge:
    return Edge(relation_id, kind, confidence, NOTES[source], NOTES[target])


CONFIDENCES = st.one_of(
    st.none(), st.sampled_from([0.0, 0.499999, 0.5, 0.500001, 1.0]), st.floats(0, 1)
)
EDGES = st.lists(
    st.tuples(st.sampled_from(sorted(NOTES)), st.sampled_from(sorted(NOTES)), CONFIDENCES),
    max_size=25,
).map(lambda found: [edge(number, *parts) for number, parts in enumerate(found, start=1)])
HITS = st.lists(
    st.tuples(st.integers(1, 7), st.floats(0.58, 1.0)), max_size=4, unique_by=lambda pair: pair[0]
).map(lambda found: [Hit(NOTES[key], score) for key, score in sorted(found, key=lambda p: -p[1])])


def by_the_page(direct: list[Hit], edges: list[Edge]) -> list[Hit]:
    """Stage 9, sentence by sentence."""
    result = list(direct)
    for hit in direct:
        mine = hit.note.note_id
        outgoing = [each for each in edges if each.source.note_id == mine]
        incoming = [each for each in edges if each.target.note_id == mine]
        for each in [*outgoing, *incoming]:
            if each.confidence is None or each.confidence < 0.5:
                continue
            other = each.target if each in outgoing else each.source
            if other.note_id in [known.note.note_id for known in result]:
                continue
            if other.status != "done" or other.conversation_id is None:
                continue
            score = math.floor(hit.score * 0.7 * each.confidence * 1000 + 0.5) / 1000
            result.append(Hit(other, score, each.relation_type))
    return sorted(result, key=lambda known: -known.score)


@given(direct=HITS, edges=EDGES)
def test_expansion_is_that_of_the_page(direct: list[Hit], edges: list[Edge]) -> None:
    assert list(expand(direct, edges).hits) == by_the_page(direct, edges)


@given(direct=HITS, edges=EDGES)
def test_every_relation_that_was_looked_at_is_recorded(
    direct: list[Hit], edges: list[Edge]
) -> None:
    expansion = expand(direct, edges)
    found = {hit.note.note_id for hit in direct}
    ends = [
        end for each in edges for end in {each.source.note_id, each.target.note_id} if end in found
    ]
    assert len(expansion.looks) == len(ends)
    followed = [look.to_note_id for look in expansion.looks if look.skipped is None]
    added = [hit for hit in expansion.hits if hit.via_relation is not None]
    assert sorted(followed) == sorted(hit.note.note_id for hit in added)
    for hit in added:
        verdict = expansion.verdict(hit.note.note_id)
        assert (verdict.stage, verdict.rule) == ("expansion", "followed")
        assert f"= {hit.score:.3f}" in verdict.message


@pytest.mark.parametrize(
    ("confidence", "score"),
    [(0.5, 0.315), (0.49999999, None), (None, None), (1.0, 0.63)],
    ids=["threshold", "below", "none", "full"],
)
def test_the_threshold_is_inclusive(confidence: float | None, score: float | None) -> None:
    found = expand([Hit(NOTES[1], 0.9)], [edge(1, 1, 2, confidence)]).hits
    assert [hit.score for hit in found[1:]] == ([] if score is None else [score])


def test_the_first_relation_wins_and_not_the_strongest() -> None:
    """Outgoing by id, then incoming by id."""
    edges = [edge(1, 2, 1, 1.0, "LEADS_TO"), edge(2, 1, 2, 0.6, "EXTENDS"), edge(3, 1, 2, 0.9)]
    found = expand([Hit(NOTES[1], 1.0)], edges).hits
    assert [(hit.via_relation, hit.score) for hit in found] == [(None, 1.0), ("EXTENDS", 0.42)]


def test_the_score_comes_from_the_unrounded_one_and_is_rounded_half_up() -> None:
    direct = Hit(NOTES[1], 0.9005 / 0.7)
    found = expand([direct], [edge(1, 1, 2, 1.0)]).hits
    assert found[1].score == 0.901
    assert expand([Hit(NOTES[1], 0.81964)], [edge(1, 1, 2, 1.0)]).hits[1].score == 0.574


def test_added_notes_are_not_bounded_and_are_one_hop_away() -> None:
    edges = [edge(number, 1, number + 1, 1.0) for number in range(1, 6)]
    edges.append(edge(6, 6, 7, 1.0))
    found = expand([Hit(NOTES[1], 0.9)], edges).hits
    assert [hit.note.note_id for hit in found] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("target", "reason"),
    [(8, "status pending"), (9, "conversation deleted"), (1, "already in the answer")],
)
def test_a_note_that_may_not_be_found_is_skipped_with_the_reason(target: int, reason: str) -> None:
    expansion = expand([Hit(NOTES[1], 0.9)], [edge(1, 1, target, 1.0)])
    assert len(expansion.hits) == 1
    assert [look.skipped for look in expansion.looks] == [reason]


def test_a_strong_relation_may_pass_a_weak_hit() -> None:
    direct = [Hit(NOTES[1], 1.0), Hit(NOTES[2], 0.6)]
    found = expand(direct, [edge(1, 1, 3, 1.0)]).hits
    assert [hit.note.note_id for hit in found] == [1, 3, 2]
