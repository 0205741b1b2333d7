"""The measurement of the graph stage, on graphs small enough to be made at once."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks import finder, graph_corpus
from benchmarks.related import CASES, NOTES, related_records


def test_it_measures_three_databases_of_the_same_degree(tmp_path: Path) -> None:
    figures = finder.measure(tmp_path, few=40, many=80, runs=1)
    assert figures["few_relations"] == 40 * graph_corpus.RELATIONS_PER_NOTE
    assert figures["many_notes"] == figures["many_with_hub_notes"] == 80
    assert figures["growth"] == figures["many_ms"] / figures["few_ms"]
    assert figures["hub_change"] == figures["many_with_hub_ms"] / figures["many_ms"]
    assert figures["many_with_hub_slice_relations"] >= figures["many_slice_relations"]


@pytest.mark.parametrize("size", [10, 200])
def test_notes_have_as_many_relations_whatever_their_number(tmp_path: Path, size: int) -> None:
    database = graph_corpus.make(tmp_path / "graph.db", size)
    with database.read() as connection:
        counts = {
            table: connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()
            for table in ("note_relations", "note_links", "chunk_entities", "embeddings", "notes")
        }
    database.close()
    assert counts == {
        "note_relations": 3 * size, "note_links": 2 * size, "chunk_entities": size,
        "embeddings": size, "notes": size,
    }  # fmt: skip


def test_figures_can_be_had_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["finder", "--few", "20", "--many", "40", "--runs", "1",
                                      "--json"])  # fmt: skip
    finder.main()
    assert json.loads(capsys.readouterr().out)["few_notes"] == 20


def test_answers_share_no_word_with_their_question() -> None:
    """So that nothing but a relation leads to them."""
    for case in CASES:
        answer = set(" ".join(case.answer).lower().replace(".", " ").split())
        rare = {word for word in case.query.split() if len(word) > 4} - {"after", "every", "their"}
        assert not rare & answer
    records = list(related_records())
    assert sum(record["type"] == "note" for record in records) == NOTES
