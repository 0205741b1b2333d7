"""Figures of benchmarks as charts for the documentation; needs the extra ``plot``.

Owns their look. The same figures give the same file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cli.evaluation.chart import load

PANEL_WIDTH, HEIGHT = 5.0, 3.6


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines over one axis: each has a name and as many values as there are places."""

    across: str
    up: str
    places: Sequence[float]
    lines: Mapping[str, Sequence[float]]
    is_logarithmic: bool = False


def draw(path: Path, panels: Sequence[Panel]) -> None:
    """Write the panels side by side; the suffix of the path says in which form."""
    matplotlib = load()
    size = (PANEL_WIDTH * len(panels), HEIGHT)
    figure = matplotlib.figure.Figure(figsize=size, layout="constrained")
    for place, panel in enumerate(panels, start=1):
        axes = figure.add_subplot(1, len(panels), place)
        for name, values in panel.lines.items():
            axes.plot(panel.places, values, marker="o", label=name)
        axes.set_xlabel(panel.across)
        axes.set_ylabel(panel.up)
        if panel.is_logarithmic:
            axes.set_xscale("log")
            axes.set_yscale("log")
        else:
            axes.set_xlim(left=0)
            axes.set_ylim(bottom=0)
        axes.grid(visible=True, linewidth=0.3)
        axes.legend()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else {"Software": None})
