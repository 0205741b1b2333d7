"""Calibrating the active space: what is tried, how each is weighed, and which is better.

Owns the run. Writes nothing; ``scales.write`` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.db import spaces
from app.db.engine import Database
from app.domain.calibration import LabelledQuery, Scale
from app.domain.spaces import Space
from app.embedding.active import ActiveEmbedder
from app.embedding.scale import Means, means_of
from app.errors import CalibrationRefused
from app.maintenance.calibration.averages import means_of_vectors, stored_form
from app.maintenance.calibration.fitting import FOLDS, NOISE, Fold, Worth, balanced_folds
from app.maintenance.calibration.material import (
    Passages,
    Progress,
    Queries,
    embed,
    grades_by_id,
    refuse_without_vectors,
)
from app.maintenance.calibration.nearness import Grades, Nearness, ndcg, sweep

BEFORE = "before"
BORDER_ALONE = "border alone"
MEANS_AND_BORDER = "means and border"


@dataclass(frozen=True, slots=True)
class Form:
    """A scale with what it is worth on all queries, and on those that it was chosen without.

    ``ndcg`` is nDCG@10 of the order by meaning alone. The scale of before was not chosen here, so
    it has no ``folds``, and is worth the same on either.
    """

    name: str
    scale: Scale
    ndcg: float
    worth: Worth
    folds: tuple[Fold, ...] = ()

    @property
    def held_out(self) -> Worth:
        """What it is worth on queries that it was chosen without, the mean of the folds."""
        if not self.folds:
            return self.worth
        recalls = [fold.worth.recall for fold in self.folds]
        rejections = [fold.worth.rejection for fold in self.folds]
        return Worth(sum(recalls) / FOLDS, sum(rejections) / FOLDS)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What came of it: the space as it is, and the forms that were fitted, the better first."""

    space: Space
    queries: tuple[LabelledQuery, ...]
    unknown: tuple[str, ...]
    before: Form
    fitted: tuple[Form, ...]

    @property
    def chosen(self) -> Form:
        """The better of the fitted forms."""
        return self.fitted[0]

    @property
    def is_gain(self) -> bool:
        """Tell whether it is better than what is there, and not by noise alone."""
        return self.chosen.held_out.mean > self.before.held_out.mean + NOISE


def calibrate(
    database: Database,
    active: ActiveEmbedder,
    queries: Sequence[LabelledQuery],
    on_progress: Progress,
) -> Calibration:
    """Fit means and border of the active space on labelled queries; writes nothing.

    Args:
        on_progress: Called with the number of queries that are embedded.

    Raises:
        CalibrationRefused: there are too few queries, no vectors, or none of the notes.
        ProviderError: a query could not be embedded.
    """
    _refuse_too_few(queries)
    now = active.current
    with database.read() as connection:
        # Before a provider is asked, and perhaps paid.
        refuse_without_vectors(connection, now.space_id)
        grades, unknown = grades_by_id(connection, queries)
    embedded = embed(now.embedder, queries, on_progress)
    with database.read() as connection:
        space = spaces.get(connection, now.space_id)
        fitting = _Fitting(Passages(connection, space), embedded, grades)
        before = fitting.form_of_now(space)
        fitted = (fitting.fitted(MEANS_AND_BORDER), fitting.fitted(BORDER_ALONE))
    return Calibration(space, tuple(queries), unknown, before, _better_first(*fitted))


def _refuse_too_few(queries: Sequence[LabelledQuery]) -> None:
    answered = sum(query.has_answer for query in queries)
    if min(answered, len(queries) - answered) < FOLDS:
        raise CalibrationRefused(
            f"A calibration needs {FOLDS} queries with an answer and {FOLDS} without at least; "
            f"the file has {answered} and {len(queries) - answered}"
        )


def _better_first(one: Form, other: Form) -> tuple[Form, Form]:
    """Order by balanced accuracy on held-out queries; within noise the order of notes decides."""
    gain = other.held_out.mean - one.held_out.mean
    if abs(gain) <= NOISE:
        gain = other.ndcg - one.ndcg
    return (other, one) if gain > 0 else (one, other)


class _Fitting:
    """Fits scales to one set of queries over one set of passages."""

    def __init__(self, passages: Passages, queries: Queries, grades: Sequence[Grades]) -> None:
        self._passages = passages
        self._queries = queries
        self._grades = grades
        has_answer = np.array([query.has_answer for query in queries.labelled])
        self._fold_of = balanced_folds(has_answer, queries.groups)
        self._plain: list[Nearness] | None = None

    def form_of_now(self, space: Space) -> Form:
        """Weigh the scale that a space has."""
        near = self._near(means_of(space.spec))
        border = space.spec.border
        worth = sweep(near, self._grades, np.array([border])).worth_at(border)
        scale = Scale(border, space.spec.means)
        return Form(BEFORE, scale, ndcg(near, self._grades), worth)

    def fitted(self, name: str) -> Form:
        """Fit a scale to all queries, and once without each fifth of them."""
        everything = np.ones(len(self._grades), dtype=np.bool_)
        means = self._means(name, everything)
        near = self._near(means)
        swept = sweep(near, self._grades)
        border = swept.choose()
        folds = tuple(self._fold(name, fold) for fold in range(FOLDS))
        scale = Scale(border, None if means is None else stored_form(means))
        return Form(name, scale, ndcg(near, self._grades), swept.worth_at(border), folds)

    def _fold(self, name: str, fold: int) -> Fold:
        """Choose without a fifth of the queries, means included, and weigh on that fifth."""
        is_held_out = self._fold_of == fold
        near = self._near(self._means(name, ~is_held_out))
        swept = sweep(near, self._grades)
        border = swept.of(~is_held_out).choose()
        return Fold(border, swept.of(is_held_out).worth_at(border))

    def _near(self, means: Means | None) -> list[Nearness]:
        if means is not None:
            return self._passages.near(self._queries, means)
        if self._plain is None:
            self._plain = self._passages.near(self._queries, None)
        return self._plain

    def _means(self, name: str, chosen: NDArray[np.bool_]) -> Means | None:
        if name != MEANS_AND_BORDER:
            return None
        return means_of_vectors(
            self._queries.vectors[chosen],
            self._queries.has_han[chosen],
            self._passages.vectors,
            self._passages.has_han,
        )
