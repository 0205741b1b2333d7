"""The ratchet: no mean of the graded corpora falls, on either of two real models.

``python -m benchmarks.ratchet --update`` renews the baseline; that a mean rose is told at the end
of a run of the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.embedding.quality import QualityEmbedder
from app.ranking.registry import BY_NAME, RANKERS
from benchmarks import ratchet
from benchmarks.collection import read_graded
from benchmarks.kept_vectors import KeptEmbedder, KeptVectors, NotKept, key_of
from tests.support.application import make_settings

COMMAND = "run python -m benchmarks.ratchet --update if this is meant"
SAMPLE = 3
"""So many kept vectors of passages, and of queries, are made anew."""


@pytest.mark.parametrize("space", ratchet.SPACES)
@pytest.mark.parametrize("corpus", ratchet.CORPORA)
def test_no_mean_falls(
    corpus: str, space: str, record_property: Callable[[str, object], None]
) -> None:
    before = ratchet.read_baseline()
    measured = ratchet.measure(corpus, space)
    compared = ratchet.hold(before, measured)
    for move in compared.rises:
        record_property("rose", str(move))
    assert ratchet.unknown(before, measured) == [], f"not in the baseline: {COMMAND}"
    assert [str(move) for move in compared.falls] == [], COMMAND


def test_the_baseline_has_every_ranker_and_nothing_else() -> None:
    rows = {tuple(row[key] for key in ratchet.KEYS) for row in ratchet.read_baseline()}
    both = {name for name, ranker in BY_NAME.items() if ranker.weighs_two}
    assert rows == {
        (corpus, space, ranker)
        for corpus in ratchet.CORPORA
        for space, rankers in (
            (ratchet.BUILTIN, BY_NAME),
            (ratchet.QUALITY, BY_NAME),
            (ratchet.BOTH, both),
        )
        for ranker in rankers
    }, COMMAND
    assert both < {ranker.name for ranker in RANKERS}


@pytest.mark.parametrize("is_query", [False, True], ids=["passages", "queries"])
def test_kept_vectors_are_what_the_model_makes(is_query: bool, tmp_path: Path) -> None:
    kept = KeptVectors.read()
    _, queries = read_graded(ratchet.CORPORA["golden"])
    records, _ = read_graded(ratchet.CORPORA["graded"])
    titles = [record["title"] for record in records if record["type"] == "note"]
    texts = [query.text for query in queries] if is_query else titles
    sample = texts[:: len(texts) // SAMPLE][:SAMPLE]
    model = QualityEmbedder(make_settings(tmp_path).embedding)
    made = model.request_vectors(sample, is_query=is_query)
    known = [kept.vectors[key_of(text, is_query=is_query)] for text in sample]
    assert isinstance(made, np.ndarray)
    np.testing.assert_allclose(np.stack(known), made, rtol=0, atol=2e-3)


def test_a_vector_that_is_not_kept_is_made_only_when_told_to(tmp_path: Path) -> None:
    settings = make_settings(tmp_path).embedding
    kept = KeptVectors({})
    with pytest.raises(NotKept, match="'lock'"):
        KeptEmbedder(settings, kept, makes=False).request_vectors(["lock"], is_query=True)
    made = KeptEmbedder(settings, kept, makes=True).request_vectors(["lock"], is_query=True)
    again = KeptEmbedder(settings, kept, makes=False).request_vectors(["lock"], is_query=True)
    assert isinstance(made, np.ndarray)
    np.testing.assert_array_equal(made, again)
    with pytest.raises(NotKept):
        KeptEmbedder(settings, kept, makes=False).request_vectors(["lock"], is_query=False)


def test_kept_vectors_are_written_as_they_are_used(tmp_path: Path) -> None:
    vectors = {key: np.full(4, key % 11, np.float16) for key in (3, 2**64 - 1, 7)}
    kept = KeptVectors(vectors)
    kept.used.update((2**64 - 1, 3))
    kept.write(tmp_path / "one.npz")
    read = KeptVectors.read(tmp_path / "one.npz")
    assert {key: vector.tolist() for key, vector in read.vectors.items()} == {
        key: vectors[key].tolist() for key in (3, 2**64 - 1)
    }
    kept.write(tmp_path / "other.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "other.npz").read_bytes()
    assert KeptVectors.read(tmp_path / "none.npz").vectors == {}


def test_a_report_says_what_is_new_what_fell_and_what_rose() -> None:
    def row(ranker: str, ndcg: float) -> dict[str, object]:
        return {"corpus": "c", "space": "s", "ranker": ranker, "ndcg@10": ndcg, "mrr": 0.5}

    before = [row("hybrid", 0.8), row("vector", 0.8), row("fusion", 0.8)]
    now = [row("hybrid", 0.81), row("vector", 0.79), row("fusion", 0.80005), row("finder", 1)]
    assert list(ratchet.report(before, now)) == [
        "c s finder: not in the baseline",
        "c s hybrid: ndcg@10 rose from 0.800000 to 0.810000",
        "c s vector: ndcg@10 fell from 0.800000 to 0.790000",
    ]
