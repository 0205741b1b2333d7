"""The ranker `finder` over HTTP: its parameters, what it adds to a row, and the way on."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from app.settings.finder import FINDER_OPTIONS
from tests.api.answers import data_of, envelope_of, error_of

SEARCH = "/api/search?q=redis+pool&ranker=finder"


def test_a_row_has_summary_hints_and_replicas(reader: FlaskClient) -> None:
    rows = data_of(reader.get(SEARCH))
    assert rows[0]["title"] == "Redis pool exhausted"
    assert rows[0]["score"] == 1.0
    assert rows[0]["summary"] == "Every worker held a connection."
    assert rows[0]["replicas"] == []
    assert 1 <= len(rows[0]["hints"]) <= 3
    assert list(rows[0]["hints"][0]) == [
        "preview", "chunk_id", "heading_path", "extent", "extent_of", "score",
    ]  # fmt: skip
    assert any(row["title"] == "Postgres vacuum tuning" for row in rows)


def test_other_rankers_add_nothing(reader: FlaskClient) -> None:
    [row, *_] = data_of(reader.get("/api/search?q=redis+pool&finder.damping=0.3"))
    assert not {"hints", "replicas", "summary"} & set(row)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("damping", "0.3"),
        ("damping", "+0"),
        ("epsilon", "1e-9"),
        ("seed_k", "5"),
        ("seed_k", "5.0"),
        ("weights.mentions", "0.5"),
        ("weights.links-to", "0"),
        ("weights.other", " 2 "),
        ("damping", ""),
    ],
)
def test_an_option_can_be_overridden(reader: FlaskClient, name: str, value: str) -> None:
    query = {"q": "redis pool", "ranker": "finder", "explain": "true", f"finder.{name}": value}
    options = envelope_of(reader.get("/api/search", query_string=query))["explain"]["options"]
    group, _, kind = name.rpartition(".")
    found = options[group][kind] if group else options[name]
    assert found == (float(value) if value else 0.5)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("damping", "1"),
        ("damping", "-0.1"),
        ("damping", "nan"),
        ("damping", "inf"),
        ("damping", "half"),
        ("damping", "1e999"),
        ("seed_k", "0"),
        ("seed_k", "5.5"),
        ("weights.mentions", "-1"),
        ("weights.nothing", "0.5"),
        ("nothing", "1"),
        ("weights", "1"),
        ("", "1"),
    ],
)
@pytest.mark.parametrize("path", ["/api/search", "/api/search/why"])
def test_unknown_options_and_values_out_of_range_are_named(
    reader: FlaskClient, path: str, name: str, value: str
) -> None:
    query = {"q": "redis", "note_id": "1", "ranker": "finder", f"finder.{name}": value}
    message = error_of(reader.get(path, query_string=query), 400, "invalid_parameter")
    assert f'"finder.{name}"' in message


def test_an_option_must_be_given_once(reader: FlaskClient) -> None:
    answer = reader.get(f"{SEARCH}&finder.damping=0.1&finder.damping=0.2")
    assert "must be given once" in error_of(answer, 400)


def test_every_option_is_a_parameter_and_takes_its_default(reader: FlaskClient) -> None:
    options = {f"finder.{option.name}": option.default for option in FINDER_OPTIONS}
    query = {"q": "redis pool", "ranker": "finder", **options}
    answer = reader.get("/api/search", query_string=query)
    assert data_of(answer) == data_of(reader.get(SEARCH))


def test_seeds_are_of_one_list_or_of_both(reader: FlaskClient) -> None:
    ranks = {}
    for seeds in ("full-text", "vector", ""):
        explained = envelope_of(reader.get(f"{SEARCH}&explain=true&seeds={seeds}"))["explain"]
        ranks[seeds] = explained["seeds"]
    assert ranks["full-text"]["vector"] == ranks["vector"]["full_text"] == 0
    assert ranks[""]["full_text"] == ranks["full-text"]["full_text"] > 0
    assert "seeds" in error_of(reader.get(f"{SEARCH}&seeds=neither"), 400)


def test_the_next_step_after_a_search(reader: FlaskClient) -> None:
    data = data_of(reader.get("/api/notes/2/expand?limit=2"))
    assert data["title"] == "Postgres vacuum tuning"
    assert [each["fragment"] for each in data["fragments"]] == ["root", "chunk"]
    start, end = data["fragments"][0]["extent"]
    assert data["text"][start:end] == data["fragments"][0]["text"]
    assert len(data["neighbours"]) == 2
    [top, *_] = data["neighbours"]
    assert top["note_id"] == 3
    assert top["relations"] == ["EXTENDS", "REFERENCES"]
    assert [(each["kind"], each["name"]) for each in top["entities"]] == [("tag", "postgres")]
    tags = [each for each in data["relations"] if each["target"]["entity"]]
    assert {each["type"] for each in tags} == {"mentions"}


def test_there_must_be_a_note_to_expand(reader: FlaskClient) -> None:
    error_of(reader.get("/api/notes/999/expand"), 404, "note_not_found")
