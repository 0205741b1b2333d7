"""Figures for Prometheus, read back by its own parser."""

from __future__ import annotations

from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

SECRET = "zebra-密语"


def figures(client: FlaskClient) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """All samples by name, then by labels."""
    answer = client.get("/api/metrics")
    assert answer.mimetype == "text/plain"
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(answer.get_data(as_text=True)):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_requests_are_counted_by_route_and_status(editor: FlaskClient) -> None:
    editor.get("/api/notes/5")
    editor.get("/api/notes/6")
    editor.get("/api/notes/404")
    editor.get("/no/such/address")
    counted = figures(editor)["crystal_requests_total"]
    route = ("route", "/api/notes/<id:note_id>")
    assert counted[("method", "GET"), route, ("status", "200")] == 2
    assert counted[("method", "GET"), route, ("status", "404")] == 1
    assert counted[("method", "GET"), ("route", "none"), ("status", "404")] == 1


def test_stages_of_searches_are_timed(editor: FlaskClient) -> None:
    editor.get(f"/api/search?q={SECRET}&ranker=vector")
    counted = figures(editor)["crystal_search_stage_seconds_count"]
    assert counted[("ranker", "vector"), ("stage", "embed")] == 1
    assert counted[("ranker", "vector"), ("stage", "candidates")] == 1


def test_the_state_is_told(editor: FlaskClient) -> None:
    found = figures(editor)
    assert found["crystal_notes"][(("status", "done"),)] == 12
    assert found["crystal_index_vectors"][(("kind", "chunk"),)] >= 12
    assert found["crystal_index_sequence"][()] > 0
    assert found["crystal_database_up"][()] == 1
    assert found["crystal_provider_up"][()] == 1
    assert found["crystal_provider_failures"][()] == 0
    assert found["crystal_queue_tasks"][(("status", "queued"),)] == 0


def test_nothing_of_a_query_is_in_the_figures(editor: FlaskClient) -> None:
    editor.get(f"/api/search?q={SECRET}&ranker=vector")
    editor.get(f"/{SECRET}")
    text = editor.get("/api/metrics").get_data(as_text=True)
    assert SECRET not in text
    assert "Redis" not in text
