"""Our embedding rate beside the bare model's: ``python -m benchmarks.embed --json``.

Texts are the chunks of the example notes, cut or joined to about 450 characters, English and
Chinese apart; both ways embed the same texts in turn.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from app.embedding.builtin import BuiltinEmbedder, load_encoder
from app.settings.store import load
from benchmarks.timing import best_milliseconds

LENGTH = 450
NOTES = Path(__file__).parent.parent / "fixtures" / "notes"


def texts(language: str, count: int) -> list[str]:
    """Return texts of 450 characters from the example notes of a language."""
    with (NOTES / f"{language}.jsonl").open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    joined = " ".join(
        f"{record['title']} {record['summary']}" for record in records if record["type"] == "note"
    )
    pieces = [joined[start : start + LENGTH] for start in range(0, len(joined), LENGTH)]
    return pieces[:count]


def measure(language: str, count: int, runs: int) -> dict[str, float]:
    """Return texts a second of both, and our share of the bare model's rate."""
    batch = texts(language, count)
    encoder = load_encoder()
    embedder = BuiltinEmbedder(load(environment={}).embedding)
    embedder.warm()
    best = best_milliseconds(
        {"bare": lambda: encoder.encode(batch), "ours": lambda: embedder.embed_passages(batch)},
        runs,
    )
    return {
        "texts": len(batch),
        "bare_per_second": len(batch) / best["bare"] * 1000,
        "ours_per_second": len(batch) / best["ours"] * 1000,
        "ratio": best["bare"] / best["ours"],
    }


def main() -> None:
    """Print the figures, as JSON with ``--json``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = {
        language: measure(language, arguments.count, arguments.runs) for language in ("en", "zh")
    }
    if arguments.json:
        print(json.dumps(figures))
        return
    for language, figure in figures.items():
        print(
            f"  {language}: bare {figure['bare_per_second']:.1f} texts/s, "
            f"ours {figure['ours_per_second']:.1f}, ratio {figure['ratio']:.3f}"
        )


if __name__ == "__main__":
    main()
