"""Fitting a space: the figures are the ranker's own, folds see nothing of what they weigh."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from app.db import spaces
from app.domain.calibration import LabelledQuery, Scale
from app.domain.spaces import PLAIN_BORDER, SpaceMeans
from app.embedding.builtin import packaged_scale
from app.errors import CalibrationRefused
from app.factory import Application
from app.maintenance.calibration import scales
from app.maintenance.calibration.averages import BELIEF, means_of_vectors, stored_form
from app.maintenance.calibration.calibrator import (
    BORDER_ALONE,
    MEANS_AND_BORDER,
    Calibration,
    calibrate,
)
from app.maintenance.calibration.fitting import FOLDS, balanced_folds
from app.maintenance.calibration.material import Passages, embed, grades_by_id
from app.maintenance.calibration.nearness import Nearness, figures_at, ndcg
from app.maintenance.doctor.checks import Check, Patient
from app.maintenance.doctor.examination import examine
from cli.evaluation import metrics
from tests.support.application import ask, found_ids, opened, stub_values
from tests.support.divided import ANSWERED, CASES, ENTRIES, QUERIES, UNANSWERED, divided_vector
from tests.support.library import store
from tests.support.provider import StubProvider


def silent(done: int) -> None:
    """Show no progress."""


@pytest.fixture(scope="module")
def model() -> Iterator[StubProvider]:
    """The provider that makes the vectors."""
    with StubProvider(vector=divided_vector) as stub:
        yield stub


@pytest.fixture(scope="module")
def filled_folder(model: StubProvider, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the notes, to be copied; note n has the id n + 1."""
    folder = tmp_path_factory.mktemp("divided")
    with opened(folder, stub_values(model)) as application:
        store(application, ENTRIES, fills=False)
    return folder


@pytest.fixture
def divided(filled_folder: Path, model: StubProvider, tmp_path: Path) -> Iterator[Application]:
    """An application over a copy of the test's own."""
    shutil.copytree(filled_folder, tmp_path, dirs_exist_ok=True)
    with opened(tmp_path, stub_values(model)) as application:
        yield application


def calibrated(application: Application, queries: Sequence[LabelledQuery]) -> Calibration:
    return calibrate(application.database, application.active, queries, silent)


def scale_now(application: Application) -> Scale:
    with application.database.read() as connection:
        return scales.scale_of(spaces.get(connection, application.active.current.space_id))


def test_means_and_border_are_fitted_to_a_space_of_any_provider(divided: Application) -> None:
    found = calibrated(divided, QUERIES)
    forms = {form.name: form for form in found.fitted}
    assert found.before.scale == Scale(PLAIN_BORDER)
    assert (found.before.worth.recall, found.before.worth.rejection) == (0.5, 0)
    alone = forms[BORDER_ALONE].held_out
    assert (alone.recall, alone.rejection) == (0.5, 1), "the other language is out of reach"
    assert found.chosen is forms[MEANS_AND_BORDER]
    assert found.chosen.held_out.mean == found.chosen.worth.mean == 1
    assert found.chosen.ndcg == 1 > found.before.ndcg
    assert found.is_gain
    assert scale_now(divided) == Scale(PLAIN_BORDER), "fitting writes nothing"


def test_a_written_scale_is_what_searches_use_in_every_process(
    divided: Application, model: StubProvider, tmp_path: Path
) -> None:
    other_language, nothing = QUERIES[3].text, QUERIES[-1].text
    found = calibrated(divided, QUERIES)
    with opened(tmp_path, stub_values(model)) as other:
        assert len(found_ids(ask(other, nothing))) == 10
        assert 4 not in found_ids(ask(other, other_language))
        scales.write(divided.database, found.space.id, found.chosen.scale)
        for application in (divided, other):
            assert found_ids(ask(application, nothing)) == []
            assert found_ids(ask(application, other_language)) == [4]
    assert scale_now(divided) == found.chosen.scale


def test_what_is_measured_is_what_the_ranker_answers(divided: Application) -> None:
    """Also where a text holds every term of the query, and at any border."""
    some = [*ANSWERED[::5], *UNANSWERED[::8]]
    queries = [*some, LabelledQuery("case", "terms", {"n0": 1, "5": 1})]
    space_id = divided.active.current.space_id
    embedded = embed(divided.embedder, queries, silent)
    with divided.database.read() as connection:
        passages = Passages(connection, spaces.get(connection, space_id))
        grades, unknown = grades_by_id(connection, queries)
        near = passages.near(embedded, None)
    assert unknown == ()
    borders = np.array([0.1, 0.3, 0.58, 0.83, 0.9])
    seen: set[float] = set()
    for place, border in enumerate(borders.tolist()):
        scales.write(divided.database, space_id, Scale(border))
        for query, each, graded in zip(queries, near, grades, strict=True):
            answer = [str(note_id) for note_id in found_ids(ask(divided, query.text))]
            named = {str(note_id): grade for note_id, grade in graded.items()}
            recall = metrics.relevant_recall(answer, named)
            expected = metrics.rejection(answer, named) if recall is None else recall
            assert figures_at(each, graded, borders)[place] == expected
            seen.add(expected or 0.0)
    assert seen >= {0.0, 1.0}


def near_of(cosines: Mapping[int, float], floored: Sequence[int] = ()) -> Nearness:
    """Notes near a query, by their cosines."""
    order = sorted(cosines, key=lambda note: (-cosines[note], note))
    return Nearness(
        np.array(order),
        np.array([cosines[note] for note in order]),
        np.array([note in floored for note in order]),
    )


def test_an_answer_holds_ten_notes_the_floored_before_the_merely_near() -> None:
    crowd = dict.fromkeys(range(1, 13), 0.6)
    borders = np.array([0.5])
    assert figures_at(near_of(crowd), {10: 2, 11: 2}, borders).tolist() == [0.5]
    assert figures_at(near_of(crowd, [11]), {10: 2, 11: 2}, borders).tolist() == [0.5]
    assert figures_at(near_of(crowd, [11]), {9: 2, 11: 2}, borders).tolist() == [1]
    assert figures_at(near_of({1: 0.1}, [1]), {}, np.array([0.5])).tolist() == [0]
    assert figures_at(near_of({1: 0.1}), {}, np.array([0.05, 0.5])).tolist() == [0, 1]


def test_the_order_is_weighed_as_everywhere() -> None:
    cosines = {1: 0.9, 2: 0.8, 3: 0.7, 4: 0.6}
    grades = {4: 2, 2: 1, 9: 1}
    expected = metrics.ndcg(["1", "2", "3", "4"], {str(note): g for note, g in grades.items()})
    assert ndcg([near_of(cosines), near_of(cosines)], [grades, {}]) == pytest.approx(expected)


def test_folds_have_their_share_of_either_kind_and_of_each_class() -> None:
    groups = [f"a{number}" for number in range(5)] + ["b"] * 10 + ["c"] * 7
    has_answer = np.array([True] * 15 + [False] * 7)
    folds = balanced_folds(has_answer, groups)
    for fold in range(FOLDS):
        assert (folds[:5] == fold).sum() == 1
        assert (folds[5:15] == fold).sum() == 2
        assert 1 <= (folds[15:] == fold).sum() <= 2


def test_an_average_of_few_texts_is_believed_a_little() -> None:
    one = np.eye(4, dtype=np.float32)[:1]
    many = np.repeat(one, 95, axis=0)
    flags: NDArray[np.bool_] = np.zeros(95, dtype=np.bool_)
    means = means_of_vectors(one, flags[:1], many, flags)
    assert means.query[0] == pytest.approx(1 / (1 + BELIEF))
    assert means.passage[0] == pytest.approx(95 / 100)
    assert not means.query_han.any()
    stored = stored_form(means)
    assert np.frombuffer(stored.passage, np.float32).tolist() == means.passage.tolist()


@pytest.mark.parametrize(("answered", "unanswered"), [(5, 4), (4, 5), (0, 5), (5, 0)], ids=str)
def test_too_few_queries_are_refused(answered: int, unanswered: int, divided: Application) -> None:
    with pytest.raises(CalibrationRefused, match=f"the file has {answered} and {unanswered}"):
        calibrated(divided, [*ANSWERED[:answered], *UNANSWERED[:unanswered]])


def test_the_fewest_queries_are_enough_and_missing_notes_are_told(divided: Application) -> None:
    gone = LabelledQuery(QUERIES[0].text, "english", {"gone": 2})
    found = calibrated(divided, [gone, *ANSWERED[1:5], *UNANSWERED[:5]])
    assert found.unknown == ("gone",)
    assert len(found.chosen.folds) == FOLDS
    assert found.chosen.worth.recall <= 0.8


def test_a_database_without_the_notes_is_refused(divided: Application) -> None:
    named = [
        LabelledQuery(query.text, query.group, {f"x{name}": 2 for name in query.grades})
        for query in QUERIES
    ]
    with pytest.raises(CalibrationRefused, match=f"none of the {CASES} notes"):
        calibrated(divided, named)


def test_a_database_without_vectors_is_refused_before_a_provider_is_asked(
    application: Application, provider: StubProvider
) -> None:
    store(application, ENTRIES, embeds=False)
    with pytest.raises(CalibrationRefused, match="No note is embedded"):
        calibrated(application, QUERIES)
    assert provider.requests == []


def test_a_shipped_scale_is_offered_where_a_space_has_another(tmp_path: Path) -> None:
    with opened(tmp_path) as application:
        space_id = application.active.current.space_id
        assert scales.offered(application.database) == ()
        old = Scale(0.285, SpaceMeans(*(bytes(2048) for _ in range(4))))
        scales.write(application.database, space_id, old)
        (offer,) = scales.offered(application.database)
        assert (offer.space.spec.border, offer.shipped.border) == (0.285, packaged_scale()[0])
        told = _scales_check(application, tmp_path)
        assert (told.ok, told.count) == (True, 1)
        assert "crystal calibrate --shipped" in told.message
        scales.write(application.database, space_id, offer.shipped)
        assert scales.offered(application.database) == ()
        assert _scales_check(application, tmp_path).message == ""


def _scales_check(application: Application, folder: Path) -> Check:
    """What a check-up says of the scales."""
    report = examine(Patient(application.database, folder), lambda done, total: None)
    (check,) = [each for each in report.checks if each.name == "scales"]
    return check


def test_a_space_without_a_shipped_scale_is_offered_the_plain_one(divided: Application) -> None:
    assert scales.offered(divided.database) == ()
    space_id = divided.active.current.space_id
    scales.write(divided.database, space_id, Scale(0.3))
    (offer,) = scales.offered(divided.database)
    assert offer.shipped == Scale(PLAIN_BORDER)
