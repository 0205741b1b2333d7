"""What many notes cost, and what a search costs in each form: measured, and drawn alike twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import bulk, charts, tiers


def test_every_note_is_embedded_and_every_vector_counted(tmp_path: Path) -> None:
    figures = bulk.measure(tmp_path, 30)
    # Three chunks, the whole note, its title and its summary.
    assert figures["vectors"] == 30 * 6
    assert figures["vectors_mb"] == pytest.approx(30 * 6 * 384 * 4 / 2**20)
    assert figures["seconds"] == pytest.approx(sum(figures[f"{step}_s"] for step in bulk.STEPS))


def test_growth_is_the_cost_of_a_note_at_the_last_size_over_that_at_the_first() -> None:
    costs = {f"{step}_cpu_s": 1.0 for step in bulk.STEPS}
    assert bulk.growth([{"notes": 10, **costs}, {"notes": 20, **costs}]) == 0.5


def test_every_form_is_measured_at_every_size() -> None:
    found = tiers.run([200, 400], 16, list(tiers.FORMS))
    assert list(found) == ["float32", "float16", "hnsw"]
    assert all([row["vectors"] for row in rows] == [200, 400] for rows in found.values())
    assert {"recall_at_10" in row for row in found["float16"]} == {True}


def test_the_same_figures_give_the_same_picture(tmp_path: Path) -> None:
    panel = charts.Panel("notes", "MB", [1, 2], {"ours": [1.0, 2.0]}, is_logarithmic=True)
    drawn = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for path in drawn:
        charts.draw(path, (panel, panel))
    first, second = (path.read_bytes() for path in drawn)
    assert first == second
    assert b"ours" in first
