"""Where the constants of `hybrid` come from: ``python -m benchmarks.hybrid``.

Our own labelled queries and the golden ones are answered once, without a cut; every note that was
weighed is then weighed anew without some parts, and with other constants of the cut. With the
extra ``quality``, both with and without the second model, which takes some minutes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.embedding import quality
from app.maintenance.calibration.fitting import Sweep, cross_validated
from app.ranking.hybrid import cut
from benchmarks.collection import (
    FIXTURES,
    WITH_SECOND,
    GradedQuery,
    embedded_application,
    our_queries,
    our_records,
    read_graded,
)
from benchmarks.cutting import CHOSEN, RULES, precision_at, sweep_margins
from benchmarks.weighing import Weighed, Weights, order_by_class, weigh

CLASSES = ("all", "x_en_zh", "x_zh_en")
PLAIN = Weights()

PARTS = {
    "whole note": Weights(1, 0, 0, 0, 0),
    "and the best field": Weights(0.5, 0.5, 0, 0, 0),
    "and the title once more": Weights(words=0, likeness=0),
    "and words": Weights(likeness=0),
    "and likeness to the best": PLAIN,
}
"""Each adds a part to the one before; the last is `hybrid`."""

OTHERS = {
    "words 0.1": Weights(words=0.1),
    "words 0.3": Weights(words=0.3),
    "likeness 0.05": Weights(likeness=0.05),
    "likeness 0.2": Weights(likeness=0.2),
    "the title as much again": Weights(0.3, 0.3, 0.4),
}


@dataclass(frozen=True, slots=True)
class Corpus:
    """Graded queries, weighed, and the borders of the spaces that they were weighed in."""

    found: Sequence[Weighed]
    borders: tuple[float, ...]

    def border(self, weights: Weights) -> float:
        """Return the border on the scale of the scores."""
        asked = [self.borders[model] for model in weights.models]
        return sum(asked) / len(asked)


def corpora() -> dict[str, Corpus]:
    """Embed and weigh our notes and the golden ones."""
    golden = read_graded(FIXTURES / "golden" / "relevance.json")
    given = {"ours": (our_records(), our_queries()), "golden": golden}
    return {name: _corpus(records, queries) for name, (records, queries) in given.items()}


def _corpus(records: Sequence[Mapping[str, Any]], queries: Sequence[GradedQuery]) -> Corpus:
    values = WITH_SECOND if quality.is_installed() else None
    with embedded_application(records, values) as application:
        specs = [application.embedder.spec]
        if application.second is not None and application.second_companions is not None:
            specs.append(application.second.embedder.spec)
            application.second_companions.fill()
        return Corpus(weigh(application, queries), tuple(spec.border for spec in specs))


def variants(weighed: Mapping[str, Corpus]) -> dict[str, Weights]:
    """Return `hybrid`, and where the second model was asked, what it adds."""
    if len(weighed["ours"].borders) == 1:
        return {"hybrid": PLAIN}
    return {"hybrid": PLAIN, "hybrid+e5": PLAIN.with_second()}


def order(weighed: Mapping[str, Corpus]) -> dict[str, dict[str, dict[str, float]]]:
    """Return nDCG@10 of every form, by corpus and class."""
    forms = PARTS | OTHERS
    if len(weighed["ours"].borders) > 1:
        forms |= {
            "the second model alone": Weights(words=0, likeness=0, models=(1,)),
            "both models": Weights(words=0, likeness=0).with_second(),
            "both, and words": Weights(likeness=0).with_second(),
            "both, words and likeness": PLAIN.with_second(),
        }
    return {
        form: {
            name: {
                group: round(figure, 4)
                for group, figure in order_by_class(corpus.found, weights).items()
                if group in CLASSES
            }
            for name, corpus in weighed.items()
        }
        for form, weights in forms.items()
    }


def cuts(weighed: Mapping[str, Corpus], weights: Weights) -> dict[str, dict[str, Any]]:
    """Return for every rule what its margin is worth, fitted on either corpus and by folds."""
    found = {}
    for rule in RULES:
        sweeps = {
            name: sweep_margins(corpus.found, weights, corpus.border(weights), rule)
            for name, corpus in weighed.items()
        }
        told: dict[str, Any] = {}
        for name, other in (("ours", "golden"), ("golden", "ours")):
            swept, corpus = sweeps[name], weighed[name]
            plateau = swept.plateau()
            told[name] = {
                "plateau": [float(plateau[0]), float(plateau[-1])],
                "at its own": _worth(swept, swept.choose()),
                "at the other's": _worth(swept, sweeps[other].choose()),
                "folds": _folds(swept, [each.query.group for each in corpus.found]),
            }
            if rule == CHOSEN:
                border = corpus.border(weights)
                told[name]["at the cut"] = _worth(swept, cut.MARGIN)
                told[name]["precision"] = [
                    round(precision_at(cut.MARGIN, corpus.found, weights, border), 3)
                ]
        found[rule.name] = told
    return found


def _worth(swept: Sweep, margin: float) -> list[float]:
    worth = swept.worth_at(margin)
    return [round(each, 3) for each in (margin, worth.recall, worth.rejection, worth.mean)]


def _folds(swept: Sweep, groups: Sequence[str]) -> list[float]:
    folds = cross_validated(swept, groups)
    columns = ((fold.border, fold.worth.recall, fold.worth.rejection, fold.worth.mean)
               for fold in folds)  # fmt: skip
    return [round(sum(column) / len(folds), 3) for column in zip(*columns, strict=True)]


def measure() -> dict[str, Any]:
    """Return every figure."""
    weighed = corpora()
    return {
        "ndcg@10": order(weighed),
        "cut": {name: cuts(weighed, weights) for name, weights in variants(weighed).items()},
    }


def lines(figures: Mapping[str, Any]) -> Iterator[str]:
    """Write the figures as text."""
    head = "".join(f"{name:>9}" for _ in ("ours", "golden") for name in CLASSES)
    yield f"{'nDCG@10':28}{'ours':>9}{'':18}{'golden':>9}"
    yield f"{'':28}{head}"
    for form, by_corpus in figures["ndcg@10"].items():
        cells = (by_corpus[name][group] for name in ("ours", "golden") for group in CLASSES)
        yield f"{form:28}" + "".join(f"{cell:9.3f}" for cell in cells)
    for variant, rules in figures["cut"].items():
        yield ""
        yield f"{variant}: margin beyond the border, relevant recall, rejection, their mean"
        for rule, by_corpus in rules.items():
            yield f"  {rule}"
            for name, told in by_corpus.items():
                for what, numbers in told.items():
                    row = "".join(f"{number:8.3f}" for number in numbers)
                    yield f"    {name:8}{what:16}{row}"


def main() -> None:
    """Print the tables, or with ``--json`` the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure()
    print(json.dumps(figures) if arguments.json else "\n".join(lines(figures)))


if __name__ == "__main__":
    main()
