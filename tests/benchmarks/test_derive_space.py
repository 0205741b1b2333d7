"""The packaged space is what our own notes and queries give, and nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.domain.search import SearchRequest
from app.embedding.builtin import DIMENSION, packaged_scale
from app.embedding.scale import Means, means_of
from app.factory import Application
from benchmarks.border import figure_of, sweep
from benchmarks.collection import (
    GradedQuery,
    embedded_application,
    our_queries,
    our_records,
)
from benchmarks.derive_space import (
    MEANS,
    SPACE_FILE,
    collect,
    derive_means,
    space_text,
    sweep_borders,
)
from benchmarks.replay import Replay, ask, stored_vectors

DOCUMENT = Path(__file__).parents[2] / "docs" / "evaluation.md"
A_FEW = 12
"""Notes of each language that are enough where any would do."""

Few = tuple[Application, list[GradedQuery]]


def test_the_packaged_space_is_derived_from_our_own_texts() -> None:
    material = collect()
    means = derive_means(material)
    border, packaged = packaged_scale()
    assert packaged is not None
    for name in MEANS:
        stored = np.frombuffer(getattr(packaged, name), np.float32)
        np.testing.assert_allclose(getattr(means, name), stored, rtol=0, atol=1e-4)
    assert sweep_borders(material, means).choose() == border


def test_the_document_names_the_packaged_border() -> None:
    assert f"**{packaged_scale()[0]}**" in DOCUMENT.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def few() -> Iterator[Few]:
    """Some of our notes, and every second query that they answer or nothing does."""
    records = [
        record
        for record in our_records()
        if record["type"] != "relation" and int(record["external_id"][-3:]) <= A_FEW
    ]
    known = {record["external_id"] for record in records}
    queries = [query for query in our_queries() if known.issuperset(query.grades)][::2]
    with embedded_application(records) as application:
        yield application, queries


def test_a_replay_answers_as_the_search_does(few: Few) -> None:
    application, queries = few
    spec = application.embedder.spec
    asked = ask(application.embedder, [query.text for query in queries])
    replay = Replay(stored_vectors(application), asked, means_of(spec))
    answers = set()
    for number, query in enumerate(queries):
        for ranker, cut in (("chatcrystal", True), ("vector", False)):
            request = SearchRequest(query.text, ranker, cut=cut, fields=("external_id",))
            found = application.searcher.search(request).found
            answer = tuple(note.extra["external_id"] for note in found)
            assert replay.answer(number, spec.border, ranker=ranker, cut=cut) == answer
            answers.add(answer)
    assert () in answers
    assert len(answers) > len(queries)


def test_a_sweep_gives_what_the_ranker_gives_at_each_border(few: Few) -> None:
    application, queries = few
    asked = ask(application.embedder, [query.text for query in queries])
    replay = Replay(stored_vectors(application), asked, None)
    borders = np.arange(200, 401, 10) / 1000
    swept = sweep(replay, queries, borders)
    for border in borders[[2, 10, 18]].tolist():
        alone = [
            figure_of(replay.answer(number, border), query) for number, query in enumerate(queries)
        ]
        assert swept.at(border).tolist() == alone
    assert set(swept.has_answer.tolist()) == {True, False}


def test_the_file_holds_every_digit_that_was_derived() -> None:
    random = np.random.default_rng(1)
    drawn = random.normal(0, 0.05, (4, DIMENSION)).round(6).astype(np.float32)
    content = json.loads(space_text(0.25, Means(*drawn)))
    assert (content["border"], content["dimension"]) == (0.25, DIMENSION)
    for name, values in zip(MEANS, drawn, strict=True):
        np.testing.assert_array_equal(np.array(content["means"][name], np.float32), values)


def test_the_file_can_be_compared_line_by_line() -> None:
    text = SPACE_FILE.read_text(encoding="utf-8")
    assert max(len(line) for line in text.splitlines()) <= 100
    assert len(text) < 30_000
