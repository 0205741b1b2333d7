"""Hidden notes and boosted search over a real database."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.domain.notes import NoteDraft, NotePatch
from app.domain.relations import RelationDraft
from app.errors import NoteNotFound, ProviderRejected
from app.factory import Application
from app.ranking.notebrain.boosted import BOOST
from tests.support.application import opened, recorded_statements, stub_values
from tests.support.library import Entry, store
from tests.support.provider import StubProvider, status


def angle_vector(text: str) -> list[float]:
    """Texts name an angle, as in ``at=30``; the cosine of two is that of their difference."""
    angles = [word.partition("=")[2] for word in text.split() if word.startswith("at=")]
    angle = math.radians(float(angles[-1])) if angles else 0.0
    return [math.cos(angle), math.sin(angle), 0.0]


@pytest.fixture
def provider() -> Iterator[StubProvider]:
    with StubProvider(vector=angle_vector) as running:
        yield running


@pytest.fixture
def circle(provider: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """Ten notes, 10 degrees from one another; the first is linked to the next three."""
    with opened(tmp_path, stub_values(provider)) as application:
        store(application, [Entry(f"n{number} at={10 * number}") for number in range(10)])
        for target in (2, 3):
            application.writer.create_relation(RelationDraft(1, target, "EXTENDS", 0.5))
        application.writer.create_relation(RelationDraft(4, 1, "CAUSED_BY"))
        yield application


def hidden(application: Application, note_id: int, limit: int = 3, **more: bool) -> list[int]:
    answer = application.neighbours.hidden(note_id, limit, with_linked=False, **more)
    assert not answer.warnings
    return [each.note.id for each in answer.found]


def test_linked_notes_are_left_out_and_do_not_starve_the_answer(circle: Application) -> None:
    assert hidden(circle, 1) == [5, 6, 7]
    assert hidden(circle, 1, 1) == [5]
    assert hidden(circle, 2) == [3, 4, 5]
    kept = circle.neighbours.hidden(1, 3, with_linked=True)
    assert [each.note.id for each in kept.found] == [2, 3, 4]
    assert [each.score for each in kept.found] == pytest.approx(
        [math.cos(math.radians(angle)) for angle in (10, 20, 30)], abs=1e-6
    )


def test_ties_go_by_id(circle: Application) -> None:
    assert hidden(circle, 6, 10) == [5, 7, 4, 8, 3, 9, 2, 10, 1]


def test_whole_notes_are_compared_and_not_their_names(circle: Application) -> None:
    circle.writer.edit_note(9, NotePatch({"summary": "at=1"}))
    circle.companions.fill()
    assert hidden(circle, 1) == [9, 5, 6]


def test_notes_whose_companions_are_still_to_be_made_are_found(circle: Application) -> None:
    fresh = circle.writer.create_note(NoteDraft("n10 at=2", "at=2"))
    answer = circle.neighbours.hidden(1, 2, with_linked=False)
    assert [each.note.id for each in answer.found] == [fresh, 5]
    assert answer.warnings == (
        "1 note has no vector of the whole yet: the mean of the chunks stood in for it",
    )
    around = circle.neighbours.hidden(fresh, 3, with_linked=False)
    assert [each.note.id for each in around.found] == [1, 2, 3]
    circle.companions.fill()
    assert hidden(circle, fresh) == [1, 2, 3]


def test_a_note_without_vectors_cannot_be_compared(
    circle: Application, provider: StubProvider
) -> None:
    provider.behave(status(500))
    failed = circle.writer.create_note(NoteDraft("at=1", ""))
    for deep in (False, True):
        answer = (
            circle.neighbours.hidden_deep(failed, 3, 3, with_linked=False)
            if deep
            else circle.neighbours.hidden(failed, 3, with_linked=False)
        )
        assert answer.found == ()
        (warning,) = answer.warnings
        assert warning.startswith(f"Note {failed} has no vectors yet (status failed)")
    assert failed not in hidden(circle, 1, 20)


def test_hidden_by_section(circle: Application) -> None:
    body = "# One\n\nat=5\n\n## Two\n\nat=60\n\n# Three\n\nat=200\n"
    seed = circle.writer.create_note(NoteDraft("seed at=100", "", body=body))
    answer = circle.neighbours.hidden_deep(seed, 4, 3, with_linked=False)
    assert answer.sections == 4
    first = answer.found[0]
    assert (first.note.id, first.matched_sections) == (7, 3)
    assert [match.heading_path for match in first.shown] == ["One > Two", None]
    assert [match.section for match in first.shown] == [2, 0]
    assert first.score == first.shown[0].score == pytest.approx(1, abs=1e-6)
    assert [each.matched_sections for each in answer.found] == [3] * 4
    circle.writer.create_relation(RelationDraft(7, seed, "EXTENDS"))
    without = circle.neighbours.hidden_deep(seed, 4, 3, with_linked=False)
    assert 7 not in [each.note.id for each in without.found]
    assert len(without.found) == 4
    with_it = circle.neighbours.hidden_deep(seed, 4, 3, with_linked=True)
    assert with_it == answer


def test_the_number_of_statements_does_not_grow_with_the_notes(circle: Application) -> None:
    circle.neighbours.hidden(1, 3, with_linked=False)
    for start in (20, 40, 60):
        with recorded_statements(circle.database) as statements:
            circle.neighbours.hidden(1, 3, with_linked=False)
        assert len(statements) <= 12
        store(circle, [Entry(f"more at={100 + number}") for number in range(60)])
        for target in range(start, start + 20):
            circle.writer.create_relation(RelationDraft(1, target, "EXTENDS"))
        circle.neighbours.hidden(1, 3, with_linked=False)


def test_boosted(circle: Application) -> None:
    answer = circle.neighbours.boosted(1, ["at=45"], 4, BOOST)
    rows = [(each.note.id, each.is_linked, each.score) for each in answer.found]
    cosines = {number: math.cos(math.radians(45 - 10 * (number - 1))) for number in range(1, 11)}
    scores = {number: cosines[number] * (1.5 if number in (2, 3, 4) else 1) for number in cosines}
    wanted = sorted(scores, key=lambda number: (-scores[number], number))[:4]
    assert [row[0] for row in rows] == wanted
    assert [row[1] for row in rows] == [number in (2, 3, 4) for number in wanted]
    assert [row[2] for row in rows] == pytest.approx([scores[each] for each in wanted], abs=1e-6)


def test_boosted_takes_three_times_the_limit_and_keeps_negative_cosines(
    circle: Application,
) -> None:
    """The neighbours are not among the nearest three, so nothing lifts them."""
    answer = circle.neighbours.boosted(1, ["at=90"], 1, 100.0)
    assert [each.note.id for each in answer.found] == [10]
    against = circle.neighbours.boosted(1, ["at=180"], 10, 2.0)
    assert [each.note.id for each in against.found][-2:] == [3, 2]
    assert against.found[-1].score == pytest.approx(2 * math.cos(math.radians(170)), abs=1e-6)


def test_boosted_by_several_queries(circle: Application, provider: StubProvider) -> None:
    before = len(provider.requests)
    answer = circle.neighbours.boosted(9, ["at=0", "at=50"], 10, 1.0)
    assert [asked.texts for asked in provider.requests[before:]] == [["at=0", "at=50"]]
    counts = [each.matched_queries for each in answer.found]
    assert counts == sorted(counts, reverse=True)
    both = [each.note.id for each in answer.found if each.matched_queries == 2]
    assert sorted(both) == [2, 3, 4, 5]


def test_what_is_missing_and_what_fails(circle: Application, provider: StubProvider) -> None:
    provider.behave(status(500))
    with pytest.raises(NoteNotFound):
        circle.neighbours.boosted(99, ["x"], 3, BOOST)
    with pytest.raises(ProviderRejected):
        circle.neighbours.boosted(1, ["never asked"], 3, BOOST)
    with pytest.raises(NoteNotFound):
        circle.neighbours.hidden(99, 3, with_linked=False)
    with pytest.raises(NoteNotFound):
        circle.neighbours.hidden_deep(99, 3, 3, with_linked=False)
    assert hidden(circle, 1, 0) == []
