"""Our index beside vectra's LocalIndex, on the same generated vectors, in one run.

``python -m benchmarks.peers --vectors 30000 --dim 384 --json`` prints how many times better ours
is. Both do each piece of work in turn, queries in rounds, and each as often before it is timed:
what is compared are programs at work (opening is a piece of its own). Medians count. Several sizes
give a list.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import peer_ours, peer_vectra
from benchmarks.scan import generated

LIMIT = 10
INSERTS = 25
THEIR_INSERTS = 5
QUERIES = 25
ROUNDS = 3
COLD_OPENS = 3
PAUSE_SECONDS = 2.0
"""Between them, so that what one still cleans up does not weigh on the other."""

WARM = 25
"""So many inserts, and queries in each round, come before those that are timed."""

SPARE = WARM + INSERTS + ROUNDS * (WARM + QUERIES)
"""Vectors beyond those that are stored at first: the ones that are inserted singly, and queries."""

PIECES = ("query", "insert_one", "insert_all", "cold_open", "memory")
Figures = dict[str, float | None]


def compare(vectors: int, dimension: int) -> dict[str, Any]:
    """Return figures of both, milliseconds and bytes, and the ratios."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = generated(vectors + SPARE, dimension, np.random.default_rng(0))
        rows.tofile(folder / "vectors")
        ours, theirs = _warm(folder, rows, vectors)
        _cold(folder, rows, vectors, ours, theirs)
    ratios = {piece: _ratio(theirs.get(piece), ours.get(piece)) for piece in PIECES}
    return {"vectors": vectors, "dim": dimension, "ours": ours, "vectra": theirs, "ratios": ratios}


def _ratio(theirs: float | None, ours: float | None) -> float | None:
    return theirs / ours if theirs and ours else None


def _warm(folder: Path, rows: NDArray[np.float32], count: int) -> tuple[Figures, Figures]:
    """Build both, then insert and query in turn."""
    ours: Figures = {}
    theirs: Figures = {}
    mine = peer_ours.Ours(folder / "ours", rows)
    with peer_vectra.Vectra(folder / "vectra", folder / "vectors", rows.shape[1]) as other:
        ours["insert_all"] = mine.build(count)
        built = other.do("build", count=count)
        theirs |= {"insert_all": built.get("ms"), "file": built.get("bytes")}
        inserts = _inserted(mine, other, count)
        queries = [
            pair
            for round_ in range(ROUNDS)
            for pair in _queried(
                mine, other, count, count + WARM + INSERTS + round_ * (WARM + QUERIES)
            )
        ]
    mine.close()
    for name, pairs in (("insert_one", inserts), ("query", queries)):
        ours[name], theirs[name] = (
            median(done) if (done := [each for each in times if each is not None]) else None
            for times in zip(*pairs, strict=True)
        )
    ours["file"] = peer_ours.file_size(folder / "ours")
    return ours, theirs


def _inserted(
    mine: peer_ours.Ours, other: peer_vectra.Vectra, first: int
) -> list[tuple[float | None, float | None]]:
    """Write the same notes with both, one after the other as a server does; milliseconds.

    Vectra, which takes seconds for one, is timed for some of them and gets all others at once.
    """
    time.sleep(PAUSE_SECONDS)
    ours = [mine.insert(row) for row in range(first, first + WARM + INSERTS)][WARM:]
    time.sleep(PAUSE_SECONDS)
    timed = first + WARM
    other.do("add", first=first, count=WARM)
    theirs = [other.do("insert", row=row).get("ms") for row in range(timed, timed + THEIR_INSERTS)]
    other.do("add", first=timed + THEIR_INSERTS, count=INSERTS - THEIR_INSERTS)
    return list(zip_longest(ours, theirs))


def _queried(
    mine: peer_ours.Ours, other: peer_vectra.Vectra, count: int, first: int
) -> list[tuple[float, float | None]]:
    """Ask both the same queries, one after the other as a server is asked; milliseconds."""
    rows = range(first, first + WARM + QUERIES)
    time.sleep(PAUSE_SECONDS)
    ours = [mine.query(row, LIMIT) for row in rows]
    time.sleep(PAUSE_SECONDS)
    theirs = [other.do("query", row=row, limit=LIMIT) for row in rows]
    for (_, found), answer in zip(ours, theirs, strict=True):
        _require_same(found, answer, count)
    pairs = list(zip(ours, theirs, strict=True))[WARM:]
    return [(milliseconds, answer.get("ms")) for (milliseconds, _), answer in pairs]


def _require_same(mine: list[int], answer: dict[str, Any], count: int) -> None:
    """Compare the best notes: ours are numbered from 1, vectra's items from 0."""
    if "ids" not in answer:
        return
    theirs = [number + 1 for number in answer["ids"]]
    if set(mine[:3]) - set(theirs):
        raise SystemExit(f"the answers differ: {mine} and {theirs} of {count}")


def _cold(
    folder: Path, rows: NDArray[np.float32], count: int, ours: Figures, theirs: Figures
) -> None:
    """Open each in fresh processes, in turn; starting the runtimes and imports is left out."""
    row = count + WARM + INSERTS
    peer_ours.settle(folder / "ours", rows.shape[1])
    mine: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for _ in range(COLD_OPENS):
        mine.append(_open_ours(folder, row, rows.shape[1]))
        with peer_vectra.Vectra(folder / "vectra", folder / "vectors", rows.shape[1]) as other:
            others.append(other.do("query", row=row, limit=LIMIT))
    for figures, opened in ((ours, mine), (theirs, others)):
        if all("ms" in each for each in opened):
            figures["cold_open"] = median(each["ms"] for each in opened)
            figures["memory"] = median(each["peak"] for each in opened)


def _open_ours(folder: Path, row: int, dimension: int) -> dict[str, Any]:
    given = ["--open", str(folder), "--row", str(row), "--dim", str(dimension)]
    command = [sys.executable, "-m", "benchmarks.peers", *given]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _show(found: dict[str, Any]) -> None:
    print(f"{found['vectors']} x {found['dim']}         ours       vectra   times better")
    units = {"file": ("MB", 2**20), "memory": ("MB", 2**20)}
    for piece in (*PIECES, "file"):
        unit, size = units.get(piece, ("ms", 1))
        mine, other = found["ours"].get(piece), found["vectra"].get(piece)
        texts = ["fails" if value is None else f"{value / size:.2f}" for value in (mine, other)]
        ratio = _ratio(other, mine)
        shown = "" if ratio is None else f"{ratio:.1f}"
        print(f"  {piece:11} {unit} {texts[0]:>12} {texts[1]:>12} {shown:>14}")


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> None:
    """Print a table, or with ``--json`` the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=_numbers, default=[30_000], help="1000,30000,100000")
    parser.add_argument("--dim", type=_numbers, default=[384], help="384,768,1536")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--row", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.open:
        matrix = np.memmap(given.open / "vectors", np.float32, "r").reshape(-1, given.dim[0])
        vector = np.array(matrix[given.row])
        print(json.dumps(peer_ours.cold(given.open / "ours", vector, LIMIT)))
        return
    peer_vectra.install()
    found = []
    for dimension in given.dim:
        for vectors in given.vectors:
            found.append(compare(vectors, dimension))
            if not given.json:
                _show(found[-1])
    if given.json:
        print(json.dumps(found[0]["ratios"] if len(found) == 1 else found))


if __name__ == "__main__":
    main()
