"""Means and border of a bundled space: ``python -m benchmarks.derive_space [SPACE] [--write]``.

Everything comes from our own example notes and labelled queries (docs/evaluation.md); the golden
files are never read.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import app  # noqa: F401 - limits native threads before numpy is imported
from app.domain.chunks import KIND_CHUNK, SECOND_FIELD, SECOND_WHOLE
from app.domain.spaces import PLAIN_BORDER
from app.embedding import builtin, quality
from app.embedding.scale import Means
from benchmarks.border import NOISE, Sweep, Worth, bounds_at, cross_validated, sweep
from benchmarks.collection import (
    WITH_SECOND,
    GradedQuery,
    embedded_application,
    our_queries,
    our_records,
)
from benchmarks.replay import Asked, Replay, Stored, ask, stored_vectors
from cli.evaluation import metrics

FOLDER = Path(builtin.__file__).parent
SPACE_FILE = FOLDER / builtin.SPACE_FILE
MEANS = ("query", "query_han", "passage", "passage_han")
DECIMALS = 6
NUMBERS_A_LINE = 8

BORDER_BEFORE = 0.285
"""The border of the built-in space without means that the table is compared with."""

SCALES = (0.5, 0.7, 0.85, 1.0)
"""Parts of the means that are tried; the whole is what is kept."""

_HEAD = f"{'border':>8}{'recall':>8}{'rejects':>8}{'mean':>8}"


@dataclass(frozen=True, slots=True)
class Bundled:
    """A space that ships with the package.

    ``candidates`` is the part of a view that is ranked, ``parts`` are all that the space holds.
    """

    file: Path
    dimension: int
    candidates: str
    parts: tuple[str, ...]
    has_second: bool = False


BUILTIN = Bundled(SPACE_FILE, builtin.DIMENSION, KIND_CHUNK, (KIND_CHUNK,))
QUALITY = Bundled(
    FOLDER / quality.SPACE_FILE,
    quality.DIMENSION,
    SECOND_WHOLE,
    (SECOND_WHOLE, SECOND_FIELD),
    has_second=True,
)
SPACES = {"builtin": BUILTIN, "quality": QUALITY}


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Our notes and our queries, embedded: what is ranked, and every vector of the space."""

    stored: Stored
    passages: tuple[Stored, ...]
    asked: Asked
    queries: tuple[GradedQuery, ...]


def collect(space: Bundled = BUILTIN) -> Material:
    """Import and embed our notes as any user's, and embed our queries."""
    queries = our_queries()
    values = WITH_SECOND if space.has_second else None
    with embedded_application(our_records(), values) as application:
        embedder = application.embedder
        if application.second is not None and application.second_companions is not None:
            embedder = application.second.embedder
            application.second_companions.fill()
        asked = ask(embedder, [query.text for query in queries])
        passages = tuple(stored_vectors(application, part) for part in space.parts)
        return Material(stored_vectors(application, space.candidates), passages, asked, queries)


def derive_means(material: Material) -> Means:
    """Average the unit vectors of queries and of passages, those with and without Han apart.

    Rounded as in the file, so that the border is fitted to what the file says.
    """
    asked = material.asked
    passages = np.concatenate([each.vectors for each in material.passages])
    has_han = np.concatenate([each.has_han for each in material.passages])
    return Means(
        query=_mean(asked.vectors[~asked.has_han]),
        query_han=_mean(asked.vectors[asked.has_han]),
        passage=_mean(passages[~has_han]),
        passage_han=_mean(passages[has_han]),
    )


def _mean(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    mean: NDArray[np.float64] = vectors.mean(axis=0, dtype=np.float64)
    return mean.round(DECIMALS).astype(np.float32)


def sweep_borders(material: Material, means: Means | None) -> Sweep:
    """Return what every border is worth on our queries."""
    return sweep(Replay(material.stored, material.asked, means), material.queries)


def space_text(border: float, means: Means) -> str:
    """Return the text of a space file: JSON, eight numbers of a mean a line."""
    parts = [f'    "{name}": [\n{_lines(getattr(means, name))}\n    ]' for name in MEANS]
    joined = ",\n".join(parts)
    return (
        f'{{\n  "border": {border},\n  "dimension": {len(means.query)},\n'
        f'  "means": {{\n{joined}\n  }}\n}}\n'
    )


def _lines(mean: NDArray[np.float32]) -> str:
    numbers = [json.dumps(round(float(number), DECIMALS)) for number in mean]
    starts = range(0, len(numbers), NUMBERS_A_LINE)
    return ",\n".join(
        "      " + ", ".join(numbers[start : start + NUMBERS_A_LINE]) for start in starts
    )


def report_material(material: Material) -> Iterator[str]:
    """Say what the numbers come from."""
    asked = material.asked
    has_han = np.concatenate([each.has_han for each in material.passages])
    yield f"passages: {(~has_han).sum()} without Han, {has_han.sum()} with"
    yield f"queries: {(~asked.has_han).sum()} without Han, {asked.has_han.sum()} with"
    groups = Counter(query.group for query in material.queries)
    yield "  " + ", ".join(f"{group} {count}" for group, count in sorted(groups.items()))


def report_forms(material: Material, means: Means) -> Iterator[str]:
    """Compare no means, one pair for both, parts and the whole, each at its own best border."""
    yield f"{'':20}{'nDCG@10':>8}{'en-zh':>8}{'zh-en':>8}{_HEAD}"
    yield from _form("no means, before", material, None, BORDER_BEFORE)
    yield from _form("no means", material, None)
    shared = replace(means, query=means.passage, query_han=means.passage_han)
    yield from _form("passages' for both", material, shared)
    for scale in SCALES:
        shortened = Means(*(np.float32(scale) * getattr(means, name) for name in MEANS))
        yield from _form(f"{scale:g} of the means", material, shortened)


def _form(
    name: str, material: Material, means: Means | None, border: float | None = None
) -> Iterator[str]:
    replay = Replay(material.stored, material.asked, means)
    swept = sweep(replay, material.queries)
    chosen = swept.choose() if border is None else border
    order = _ordering(replay, material.queries)
    cells = "".join(f"{order[group]:8.3f}" for group in ("all", "x_en_zh", "x_zh_en"))
    yield f"{name:20}{cells}{_cells(chosen, swept.worth_at(chosen))}"


def _ordering(replay: Replay, queries: Sequence[GradedQuery]) -> dict[str, float]:
    """Return nDCG@10 of the ranking by meaning alone, by class and over ``all``."""
    found: dict[str, list[float]] = {"all": []}
    for number, query in enumerate(queries):
        answer = replay.answer(number, PLAIN_BORDER, ranker="vector", cut=False)
        figure = metrics.ndcg(answer, query.grades)
        if figure is not None:
            found["all"].append(figure)
            found.setdefault(query.group, []).append(figure)
    return {group: sum(figures) / len(figures) for group, figures in found.items()}


def _cells(border: float, worth: Worth) -> str:
    return f"{border:8.3f}{worth.recall:8.3f}{worth.rejection:8.3f}{worth.mean:8.3f}"


def report_border(border: float, swept: Sweep, queries: Sequence[GradedQuery]) -> Iterator[str]:
    """Show the plateau, the folds, the uncertainty and the classes at the border."""
    plateau = swept.plateau()
    best = swept.curve().max()
    yield f"plateau: {plateau[0]:.3f} to {plateau[-1]:.3f} within {NOISE} of {best:.3f}"
    yield f"{'':20}{_HEAD}"
    yield f"{'all queries':20}{_cells(border, swept.worth_at(border))}"
    groups = [query.group for query in queries]
    folds = cross_validated(swept, groups)
    for number, fold in enumerate(folds, start=1):
        yield f"{f'fold {number}':20}{_cells(fold.border, fold.worth)}"
    borders, recalls, rejections = (
        float(np.mean(column))
        for column in zip(
            *((fold.border, fold.worth.recall, fold.worth.rejection) for fold in folds),
            strict=True,
        )
    )
    yield f"{'mean of the folds':20}{_cells(borders, Worth(recalls, rejections))}"
    bounds = bounds_at(border, swept)
    for name in ("recall", "rejection", "mean"):
        low, high = getattr(bounds, name)
        yield f"95 % of bootstrapped {name}: {low:.3f} to {high:.3f}"
    yield from _by_class(swept.at(border), np.array(groups))


def _by_class(figures: NDArray[np.float64], groups: NDArray[np.str_]) -> Iterator[str]:
    for group in sorted(set(groups.tolist())):
        what = "rejects" if group.startswith("none") else "recall"
        yield f"  {group:18}{what:>8}{figures[groups == group].mean():8.3f}"


def main() -> None:
    """Print the tables and whether the file agrees; with ``--write`` replace it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("space", nargs="?", choices=SPACES, default="builtin", help="which space")
    parser.add_argument("--write", action="store_true", help="replace its file")
    arguments = parser.parse_args()
    space = SPACES[arguments.space]
    material = collect(space)
    means = derive_means(material)
    swept = sweep_borders(material, means)
    border = swept.choose()
    for lines in (
        report_material(material),
        report_forms(material, means),
        report_border(border, swept, material.queries),
    ):
        print("\n".join(lines), end="\n\n", flush=True)
    text = space_text(border, means)
    if arguments.write:
        space.file.write_text(text, encoding="utf-8")
    is_same = space.file.read_text(encoding="utf-8") == text
    print(f"border {border}: {space.file.name} {'agrees' if is_same else 'differs'}")


if __name__ == "__main__":
    main()
