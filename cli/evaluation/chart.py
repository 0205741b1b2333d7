"""An evaluation as a chart: nDCG@10 by class, and what is found against what is rejected.

Owns the drawing, and is the one place that loads matplotlib (extra ``plot``).
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cli.evaluation.figures import NDCG, REJECTION, RELEVANT_RECALL
from cli.evaluation.queries import OVERALL
from cli.evaluation.report import way
from cli.failures import FAILED, Failure

WIDTH, HEIGHT, DOTS_PER_INCH = 12.0, 9.0, 150
BARS_WIDTH = 0.8
CHINESE_FONTS = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "PingFang SC", "Microsoft YaHei",
    "WenQuanYi Micro Hei", "SimHei",
)  # fmt: skip

Row = Mapping[str, Any]


def load() -> Any:
    """Load matplotlib, so that its absence is told before an evaluation runs.

    Raises:
        Failure: the extra is not installed.
    """
    try:
        matplotlib = importlib.import_module("matplotlib")
        manager = importlib.import_module("matplotlib.font_manager")
        importlib.import_module("matplotlib.figure")
    except ImportError as error:
        raise Failure(
            "A chart needs matplotlib: pip install 'chatcrystal-search[plot]'", FAILED
        ) from error
    known = set(manager.get_font_names())
    matplotlib.rcParams.update(
        {
            "font.sans-serif": [*(n for n in CHINESE_FONTS if n in known), "DejaVu Sans"],
            # The same evaluation gives the same file.
            "svg.hashsalt": "crystal",
            # Text stays text, in whatever font the reader has.
            "svg.fonttype": "none",
        }
    )
    return matplotlib


def draw(data: Mapping[str, Any], path: Path) -> None:
    """Write the chart of an evaluation; the suffix of the path says in which form.

    Raises:
        Failure: the extra is not installed, or the file cannot be written.
    """
    matplotlib = load()
    figure = matplotlib.figure.Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    upper, lower = figure.subplots(2, 1)
    _bars(upper, data["rows"], data["intervals"])
    _found_and_rejected(lower, [row for row in data["rows"] if row["class"] == OVERALL])
    metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    try:
        with warnings.catch_warnings():
            # A class in a script that no installed font has is shown as boxes.
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            figure.savefig(path, metadata=metadata, dpi=DOTS_PER_INCH)
    except OSError as error:
        raise Failure(f"{path} cannot be written: {error.strerror}", FAILED) from error


def _bars(axes: Any, rows: Sequence[Row], intervals: Sequence[Row]) -> None:
    ways = list(dict.fromkeys(map(way, rows)))
    measured = [row for row in rows if row[NDCG] is not None]
    classes = list(dict.fromkeys(row["class"] for row in measured))
    bounds = {(way(row), row["class"]): row[NDCG] for row in intervals}
    width = BARS_WIDTH / len(ways)
    for place, name in enumerate(ways):
        mine = [row for row in measured if way(row) == name]
        centres = [
            classes.index(row["class"]) + (place - (len(ways) - 1) / 2) * width for row in mine
        ]
        axes.bar(centres, [row[NDCG] for row in mine], width, label=name)
        for centre, row in zip(centres, mine, strict=True):
            if (bound := bounds[name, row["class"]]) is not None:
                axes.plot([centre, centre], bound, color="black", linewidth=0.8)
    axes.set_xticks(range(len(classes)), classes)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("nDCG@10, 95 % of bootstrapped means")
    axes.legend(ncols=min(len(ways), 8), loc="lower center", bbox_to_anchor=(0.5, 1.0))


def _found_and_rejected(axes: Any, rows: Sequence[Row]) -> None:
    for row in rows:
        recall, rejection = row[RELEVANT_RECALL], row[REJECTION]
        if recall is None or rejection is None:
            continue
        axes.plot([rejection], [recall], "o")
        axes.annotate(way(row), (rejection, recall), textcoords="offset points", xytext=(6, 4))
    axes.set_xlim(-0.02, 1.12)
    axes.set_ylim(-0.02, 1.08)
    axes.set_xlabel("rejection: queries without an answer that get none")
    axes.set_ylabel("relevant recall at the cut")
    axes.grid(visible=True, linewidth=0.3)
