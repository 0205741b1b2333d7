"""The promises about distilling, measured on the sessions of the fixtures with the real model."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import distill


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    """Everything that the benchmark measures."""
    return distill.measure(distill.FACTS, None, weighs_two=False)[0]


@pytest.mark.parametrize(
    ("figure", "least"),
    [("facts", 0.8), ("gate_precision", 0.9), ("gate_recall", 0.9), ("top3", 0.85)],
)
def test_the_promises_are_kept(figures: dict[str, Any], figure: str, least: float) -> None:
    assert figures[figure] >= least, figures


def test_every_session_was_distilled(figures: dict[str, Any]) -> None:
    assert figures["pace"]["conversations"] == 60
    assert set(figures["by_kind"]) == {"fix", "language", "errors", "files", "tags"}
