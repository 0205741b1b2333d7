"""What `hybrid` measured of graded queries, weighed anew with other constants.

Owns the arrays. What is measured comes from the record of real runs; only the weights are others.
A test compares the two at the weights that are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.db import notes
from app.domain.chunks import KIND_WHOLE, SECOND_WHOLE
from app.domain.search import SearchRequest
from app.embedding.scale import centre_passages
from app.factory import Application
from app.ranking.hybrid import scoring
from app.text import has_han
from benchmarks.collection import GradedQuery
from benchmarks.replay import stored_vectors
from cli.evaluation import metrics

DEPTH = 50
LIMIT = 10

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weights:
    """Shares of whole note, best field and title, weights of words and likeness, and the models."""

    whole: float = scoring.WHOLE_SHARE
    field: float = scoring.FIELD_SHARE
    title: float = scoring.TITLE_SHARE
    words: float = scoring.WORDS_WEIGHT
    likeness: float = scoring.LIKENESS_WEIGHT
    models: tuple[int, ...] = (0,)

    def with_second(self) -> Weights:
        """The same with both models."""
        return replace(self, models=(0, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """One query: its notes by id, and what was measured of them.

    ``cosines`` (models, n, 3) holds whole, best field and title, ``likeness`` (models, n, n) the
    notes to each other, ``words``, ``coverage`` and ``is_same_script`` (n,).
    """

    query: GradedQuery
    names: tuple[str, ...]
    cosines: Numbers
    likeness: Numbers
    words: Numbers
    coverage: Numbers
    is_same_script: NDArray[np.bool_]

    def meaning(self, weights: Weights) -> Numbers:
        """Return the meaning of each note, (n,)."""
        shares = np.array([weights.whole, weights.field, weights.title])
        models = self.cosines[list(weights.models)].mean(axis=0)
        return np.asarray(models @ shares / shares.sum(), dtype=np.float64)

    def joined(self, weights: Weights) -> Numbers:
        """Return what each note is worth before likeness, (n,)."""
        meaning = self.meaning(weights)
        joined = (meaning + weights.words * self.words * self.coverage) / (1 + weights.words)
        counted: Numbers = np.where(self.is_same_script | (joined > meaning), joined, meaning)
        return counted

    def scores(self, weights: Weights) -> Numbers:
        """Return what each note is worth, (n,)."""
        joined = self.joined(weights)
        if not weights.likeness or not len(joined):
            return joined
        likeness = self.likeness[list(weights.models)].mean(axis=0)[int(joined.argmax())]
        lifted = joined + weights.likeness * np.maximum(likeness, 0.0)
        return np.asarray(lifted / (1 + weights.likeness), dtype=np.float64)

    def ordered(self, scores: Numbers) -> list[int]:
        """Return the places of the notes, best first."""
        order: list[int] = np.lexsort((np.arange(len(scores)), -scores)).tolist()
        return order

    def answer(self, scores: Numbers, kept: NDArray[np.bool_] | None = None) -> list[str]:
        """Return the external ids of the best notes, of those that are kept."""
        order = [place for place in self.ordered(scores) if kept is None or kept[place]]
        return [self.names[place] for place in order[:LIMIT]]


def weigh(application: Application, queries: Sequence[GradedQuery]) -> list[Weighed]:
    """Answer every query once, without a cut, and keep what was measured."""
    library = _Library(application)
    found = []
    for query in queries:
        request = SearchRequest(query.text, "hybrid", DEPTH, explain=True, cut=False)
        explanation = application.searcher.search(request).explanation or {}
        rows = sorted(explanation["rows"], key=lambda row: row["note_id"])
        found.append(library.weighed(query, rows))
    return found


class _Library:
    """The notes of an application: names, titles, and how like each other they are."""

    def __init__(self, application: Application) -> None:
        with application.database.read() as connection:
            known = notes.get_many(connection, notes.all_ids(connection))
        self._names = {note.id: note.external_id or "" for note in known}
        self._titles = {note.id: note.title for note in known}
        self._places = {note.id: place for place, note in enumerate(known)}
        kinds = [KIND_WHOLE] if application.second is None else [KIND_WHOLE, SECOND_WHOLE]
        self._likeness = np.stack([self._alike(application, kind) for kind in kinds])

    def _alike(self, application: Application, kind: str) -> Numbers:
        stored = stored_vectors(application, kind)
        with application.mirror.open((kind,)) as (_, view):
            means = view.means_for(kind)
        vectors = centre_passages(stored.vectors, stored.has_han, means).astype(np.float64)
        owners = [self._places[stored.rows[chunk].note.note_id] for chunk in stored.ids.tolist()]
        by_note = np.zeros((len(self._places), vectors.shape[1]))
        by_note[owners] = vectors
        return by_note @ by_note.T

    def weighed(self, query: GradedQuery, rows: Sequence[Mapping[str, Any]]) -> Weighed:
        ids = [row["note_id"] for row in rows]
        places = [self._places[note_id] for note_id in ids]
        models = len(self._likeness)
        told = [[_cosines(row if model == 0 else row["second"]) for row in rows]
                for model in range(models)]  # fmt: skip
        query_has_han = has_han(query.text)
        return Weighed(
            query=query,
            names=tuple(self._names[note_id] for note_id in ids),
            cosines=np.array(told).reshape(models, len(rows), 3),
            likeness=self._likeness[:, places][:, :, places],
            words=np.array([row["words"] for row in rows]),
            coverage=np.array([row["coverage"] for row in rows]),
            is_same_script=np.array(
                [has_han(self._titles[note_id]) == query_has_han for note_id in ids], dtype=np.bool_
            ),
        )


def _cosines(row: Mapping[str, Any]) -> tuple[float, float, float]:
    fields = row["fields"]
    pieces = [*fields.values(), *([] if row["chunk"] is None else [row["chunk"]])]
    return row["whole"], max(pieces), fields[str(scoring.TITLE_FIELD)]


def order_by_class(found: Sequence[Weighed], weights: Weights) -> dict[str, float]:
    """Return the mean nDCG@10 by class, and over ``all``, of the queries that have an answer."""
    figures: dict[str, list[float]] = {"all": []}
    for each in found:
        figure = metrics.ndcg(each.answer(each.scores(weights)), each.query.grades)
        if figure is not None:
            figures["all"].append(figure)
            figures.setdefault(each.query.group, []).append(figure)
    return {group: sum(values) / len(values) for group, values in figures.items()}
