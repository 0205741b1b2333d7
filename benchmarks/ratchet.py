"""The ratchet of relevance: ``python -m benchmarks.ratchet [--update]``.

Every ranker on every graded corpus and on two real spaces, the built-in one and that of the extra
``quality``: a mean that falls below ``tests/evaluation/baseline.json`` is a failure, one that rises
is told. ``--update`` writes the means of now, and the vectors that they are measured with.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from app.domain.search import SearchRequest
from app.embedding.base import Embedder
from app.factory import Application, build
from app.ranking.registry import RANKERS, Ranker
from app.settings.values import EmbeddingSettings
from benchmarks.collection import FIXTURES, GradedQuery, embedded_application, read_graded
from benchmarks.kept_vectors import KeptEmbedder, KeptVectors
from cli.evaluation import metrics
from cli.evaluation.baseline import Comparison, Row, compare
from cli.evaluation.figures import DECIMALS, MRR, NDCG

BASELINE = Path(__file__).parent.parent / "tests" / "evaluation" / "baseline.json"
KEYS = ("corpus", "space", "ranker")
FIGURES = (NDCG, MRR)
LIMIT = 10

CORPORA = {
    "golden": FIXTURES / "golden" / "relevance.json",
    "graded": FIXTURES / "graded",
}
BUILTIN = "builtin"
QUALITY = "quality"
BOTH = "builtin+quality"
SPACES = (BUILTIN, QUALITY)
"""What can be the active space; over the built-in one, both are measured as well."""


def measure(
    corpus: str, space: str, kept: KeptVectors | None = None, *, makes: bool = False
) -> list[Row]:
    """Return nDCG@10 and MRR of every ranker on a corpus in a space, without a cut.

    Args:
        kept: Where the vectors of the second model come from; the repository's by default.
        makes: Whether those that are missing are made.

    Raises:
        NotKept: a vector is missing.
        UnusableCollection: the notes cannot be imported or embedded.
    """
    records, queries = read_graded(CORPORA[corpus])
    vectors = KeptVectors.read() if kept is None else kept

    def quality(settings: EmbeddingSettings) -> Embedder:
        return KeptEmbedder(settings, vectors, makes=makes)

    embedder = quality if space == QUALITY else None
    with embedded_application(records, embedder=embedder) as application:
        rows = list(_rows(application, corpus, space, RANKERS, queries))
        if space == BUILTIN:
            with _beside(application, quality) as both:
                weighing = [ranker for ranker in RANKERS if ranker.weighs_two]
                rows += _rows(both, corpus, BOTH, weighing, queries)
    return rows


@contextmanager
def _beside(
    application: Application, quality: Callable[[EmbeddingSettings], Embedder]
) -> Iterator[Application]:
    """Open the same notes with a second model, which embeds them too."""
    settings = replace(application.settings, search_second_space=True)
    both = build(settings, application.embedder, quality(settings.embedding))
    try:
        if both.second_companions is not None:
            both.second_companions.fill()
        yield both
    finally:
        both.close()


def _rows(
    application: Application,
    corpus: str,
    space: str,
    rankers: Iterable[Ranker],
    queries: Sequence[GradedQuery],
) -> Iterator[Row]:
    for ranker in rankers:
        means = _means(application, ranker.name, queries)
        yield {"corpus": corpus, "space": space, "ranker": ranker.name, **means}


def _means(
    application: Application, ranker: str, queries: Sequence[GradedQuery]
) -> dict[str, float]:
    answered = [query for query in queries if metrics.has_answer(query.grades)]
    answers = [_answer(application, ranker, query.text) for query in answered]
    pairs = [(answer, query.grades) for answer, query in zip(answers, answered, strict=True)]
    return {
        NDCG: _rounded(metrics.mean(metrics.ndcg(*pair) for pair in pairs)),
        MRR: _rounded(metrics.mean(metrics.reciprocal_rank(*pair) for pair in pairs)),
    }


def _answer(application: Application, ranker: str, text: str) -> list[str]:
    request = SearchRequest(text, ranker, LIMIT, cut=False, fields=("external_id",))
    return [found.extra["external_id"] for found in application.searcher.search(request).found]


def _rounded(figure: float | None) -> float:
    return round(figure or 0.0, DECIMALS)


def read_baseline(path: Path = BASELINE) -> list[Row]:
    """Read the rows that were reached before."""
    rows: list[Row] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def hold(before: Sequence[Row], now: Sequence[Row]) -> Comparison:
    """Compare rows of now with those of before."""
    return compare(before, now, KEYS, FIGURES)


def unknown(before: Sequence[Row], now: Sequence[Row]) -> list[str]:
    """Return the rows of now that the baseline does not have, such as of a new ranker."""
    known = {tuple(row[key] for key in KEYS) for row in before}
    places = (tuple(row[key] for key in KEYS) for row in now)
    return [" ".join(place) for place in places if place not in known]


def _write(rows: Sequence[Row]) -> None:
    lines = ",\n".join(f"  {json.dumps(row)}" for row in rows)
    BASELINE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def report(before: Sequence[Row], now: Sequence[Row]) -> Iterator[str]:
    """Say what is new, what fell and what rose."""
    for place in unknown(before, now):
        yield f"{place}: not in the baseline"
    yield from map(str, hold(before, now).moves)


def _line(row: Row) -> str:
    place = f"{row['corpus']:8}{row['space']:16}{row['ranker']:13}"
    return f"{place}{row[NDCG]:10.4f}{row[MRR]:8.4f}"


def main() -> None:
    """Print every mean; exit 1 when one fell, or write them all with ``--update``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="write the baseline anew")
    is_update = parser.parse_args().update
    kept = KeptVectors.read()
    rows: list[Row] = []
    print(f"{'corpus':8}{'space':16}{'ranker':13}{NDCG:>10}{MRR:>8}")
    for corpus in CORPORA:
        for space in SPACES:
            measured = measure(corpus, space, kept, makes=is_update)
            print("\n".join(map(_line, measured)), flush=True)
            rows += measured
    before = read_baseline() if BASELINE.exists() else []
    print("\n".join(report(before, rows)))
    if is_update:
        _write(rows)
        kept.write()
        return
    if hold(before, rows).falls or unknown(before, rows):
        sys.exit("Run python -m benchmarks.ratchet --update if this is meant.")


if __name__ == "__main__":
    main()
