"""The graph questions over HTTP, on the imported fixture vault."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from app.domain.vaults import VaultRequest
from tests.api.answers import data_of, envelope_of, error_of
from tests.support.application import opened, recorded_statements, stub_values
from tests.support.provider import StubProvider

VAULT = Path(__file__).parents[2] / "fixtures" / "vault"


@dataclass(frozen=True)
class Shelf:
    """A client of the vault, its notes by path, and what joins them."""

    client: FlaskClient
    ids: dict[str, int]
    titles: dict[int, str]
    edges: tuple[tuple[int, int], ...]

    def get(self, path: str, **query: Any) -> Any:
        return data_of(self.client.get(f"/api/{path}", query_string=query))

    def of(self, name: str, question: str, **query: Any) -> Any:
        """Ask about the note of a file, without its ending."""
        return self.get(f"notes/{self.ids[name]}/{question}", **query)

    def names(self, items: list[dict[str, Any]]) -> list[str]:
        by_id = {note_id: name for name, note_id in self.ids.items()}
        return [by_id[item["note_id"]] for item in items]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    folder = tmp_path_factory.mktemp("vault")
    with StubProvider() as provider, opened(folder, stub_values(provider)) as application:
        assert not application.vaults.import_folder(VaultRequest(VAULT)).refused
        assert not application.batches.embed_many(application.batches.unembedded()).reasons
        application.companions.fill()
        client = application.flask().test_client()
        paths: dict[str, int] = {}
        for offset in (0, 100):
            page = data_of(client.get(f"/api/notes?limit=100&offset={offset}"))
            paths |= {note["path"].removesuffix(".md"): note["id"] for note in page["items"]}
        for source, target in (("db/Redis", "db/Postgres"), ("db/Redis", "arch/Idempotency")):
            data_of(
                client.post(
                    f"/api/notes/{paths[source]}/relations",
                    json={"target_note_id": paths[target], "relation_type": "CONTRADICTS",
                          "confidence": 0.4},
                ),
                201,
            )  # fmt: skip
        graph = data_of(client.get("/api/relations/graph?include=links"))
        titles = {node["id"]: node["title"] for node in graph["nodes"]}
        edges = tuple((edge["source"], edge["target"]) for edge in graph["edges"])
        yield Shelf(client, paths, titles, edges)


def test_the_vault_has_what_the_questions_need(shelf: Shelf) -> None:
    assert len(shelf.ids) >= 60
    titles = list(shelf.titles.values())
    assert len(set(titles)) < len(titles)
    assert {(target, source) for source, target in shelf.edges} & set(shelf.edges)


@pytest.mark.parametrize("direction", ["out", "in", "both"])
@pytest.mark.parametrize("hops", [0, 1, 2, 3, 20])
def test_connections_are_the_shortest_ways(shelf: Shelf, direction: str, hops: int) -> None:
    neighbours: defaultdict[int, set[int]] = defaultdict(set)
    for source, target in shelf.edges:
        if direction != "in":
            neighbours[source].add(target)
        if direction != "out":
            neighbours[target].add(source)
    for seed in sorted(shelf.ids.values())[::4]:
        found = {seed: 0}
        for hop in range(1, hops + 1):
            for near in [each for each, distance in found.items() if distance == hop - 1]:
                for other in neighbours[near]:
                    found.setdefault(other, hop)
        del found[seed]
        wanted = sorted((hop, shelf.titles[each], each) for each, hop in found.items())
        data = shelf.get(f"notes/{seed}/connections", hops=hops, direction=direction)
        rows = [(row["hops"], row["title"], row["note_id"]) for row in data["items"]]
        assert rows == wanted
        assert data["total"] == len(wanted)
        for row in data["items"]:
            assert row["edges"]
            for edge in row["edges"]:
                ends = {edge["source_note_id"], edge["target_note_id"]}
                assert row["note_id"] in ends
                (other,) = ends - {row["note_id"]}
                assert ({seed: 0} | found)[other] == row["hops"] - 1


def test_relations_and_links_are_in_one_view(shelf: Shelf) -> None:
    data = shelf.of("db/Redis", "connections", hops=1)
    edges = {edge["target_note_id"]: edge for row in data["items"] for edge in row["edges"]}
    related, linked = edges[shelf.ids["db/Postgres"]], edges[shelf.ids["arch/Cache invalidation"]]
    assert (related["origin"], related["kind"]) == ("relation", "CONTRADICTS")
    assert related["confidence"] == 0.4
    assert (linked["origin"], linked["kind"], linked["confidence"]) == ("link", "wiki", 1.0)
    picture = shelf.of("Systems", "connections", hops=1)
    embedded = [e for row in picture["items"] for e in row["edges"] if e["kind"] == "embed"]
    assert [edge["target_note_id"] for edge in embedded] == [shelf.ids["diagrams/systems.png"]]


def test_links_without_a_note_are_listed_and_are_no_notes(shelf: Shelf) -> None:
    onboarding = shelf.ids["Onboarding"]
    phantom = {"note_id": onboarding, "name": "First week checklist"}
    assert shelf.of("Onboarding", "connections", hops=1)["unresolved"] == [phantom]
    assert shelf.of("Onboarding", "connections", hops=0)["unresolved"] == []
    assert shelf.of("Onboarding", "connections", direction="in")["unresolved"] == []
    assert phantom in shelf.of("Home", "connections", hops=2)["unresolved"]
    assert phantom not in shelf.of("Home", "connections", hops=1)["unresolved"]
    names = [row["title"] for row in shelf.of("Home", "connections", hops=20)["items"]]
    assert "First week checklist" not in names


def test_backlinks(shelf: Shelf) -> None:
    for note_id in shelf.ids.values():
        data = shelf.get(f"notes/{note_id}/backlinks")
        sources = {source for source, target in shelf.edges if target == note_id}
        wanted = sorted((shelf.titles[source], source) for source in sources)
        assert [(row["title"], row["note_id"]) for row in data["items"]] == wanted
        assert all(row["score"] == 1.0 for row in data["items"])
    redis = shelf.of("db/Redis", "backlinks")
    assert "arch/API gateway" in shelf.names(redis["items"])
    assert len(shelf.of("db/Postgres", "backlinks", limit=2)["items"]) == 2


def test_a_link_to_itself_counts_as_a_backlink_alone(client: FlaskClient) -> None:
    body = {"title": "Loop", "body": "See [[Loop]]."}
    data_of(client.post("/api/notes", json=body), 201)
    backlinks = data_of(client.get("/api/notes/1/backlinks"))
    assert [row["note_id"] for row in backlinks["items"]] == [1]
    assert data_of(client.get("/api/notes/1/connections?hops=3"))["items"] == []


@pytest.mark.parametrize("minimum", [0, 1, 2])
def test_shared_tags(shelf: Shelf, minimum: int) -> None:
    tags = {node["id"]: set(node["tags"]) for node in shelf.get("relations/graph")["nodes"]}
    for note_id, own in tags.items():
        common = {each: own & names for each, names in tags.items() if each != note_id}
        wanted = sorted(
            (-len(names), shelf.titles[each], each, sorted(names))
            for each, names in common.items()
            if len(names) >= max(1, minimum)
        )
        data = shelf.get(f"notes/{note_id}/shared-tags", min_shared=minimum)
        assert [
            (-row["score"], row["title"], row["note_id"], row["tags"]) for row in data["items"]
        ] == wanted


def test_hidden_notes_are_not_linked(shelf: Shelf) -> None:
    linked = {
        shelf.ids["db/Redis"],
        *(end for edge in shelf.edges if shelf.ids["db/Redis"] in edge for end in edge),
    }
    for query in ({}, {"deep": "true"}):
        items = shelf.of("db/Redis", "hidden", limit=100, **query)["items"]
        ids = [row["note_id"] for row in items]
        assert not linked & set(ids)
        kept = shelf.of("db/Redis", "hidden", limit=100, include_linked="true", **query)["items"]
        assert shelf.ids["db/Redis"] not in [row["note_id"] for row in kept]
        assert [row for row in kept if row["note_id"] not in linked] == items or query
        assert len(shelf.of("db/Redis", "hidden", limit=3, **query)["items"]) == 3


def test_hidden_by_section_tells_both_numbers(shelf: Shelf) -> None:
    data = shelf.of("db/Redis", "hidden", deep="true")
    assert data["sections"] >= 2
    for row in data["items"]:
        assert 1 <= row["shown_sections"] == len(row["sections"]) <= row["matched_sections"]
        assert row["score"] == row["sections"][0]["score"]
        scores = [section["score"] for section in row["sections"]]
        assert scores == sorted(scores, reverse=True)
        best = scores[0]
        least = min(0.7, 0.85 * best) if best >= 0.7 else best - 0.05
        assert min(scores) >= least - 0.001
    assert any(section["heading_path"] for row in data["items"] for section in row["sections"])


def test_boosted(shelf: Shelf) -> None:
    def rows(**query: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = shelf.of("db/Redis", "boosted", **query)["items"]
        return found

    plain = rows(q="connection pool", boost="1", limit=100)
    lifted = rows(q="connection pool", boost="10", limit=100)
    assert [row["score"] for row in plain] == [row["cosine"] for row in plain]
    assert any(row["linked"] for row in lifted)
    for row in lifted:
        factor = 10 if row["linked"] else 1
        assert row["score"] == pytest.approx(factor * row["cosine"], abs=0.006)
    several = rows(q=["connection pool", " ", "connection pool", "缓存"], limit=20)
    counts = [row["matched_queries"] for row in several]
    assert counts == sorted(counts, reverse=True)
    assert rows(q=["connection pool", "connection pool"]) == rows(q="connection pool")


REFUSED = [
    ("hops=-1", "hops"), ("hops=1.5", "hops"), ("direction=up", "direction"), ("limit=x", "limit"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "name"), REFUSED)
def test_connections_refuse_what_they_cannot_read(shelf: Shelf, query: str, name: str) -> None:
    response = shelf.client.get(f"/api/notes/1/connections?{query}")
    assert error_of(response, 400, "invalid_parameter").startswith(f'Parameter "{name}" must ')


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("hidden?deep=yes", "deep"),
        ("hidden?include_linked=1", "include_linked"),
        ("hidden?per_note=-1", "per_note"),
        ("shared-tags?min_shared=x", "min_shared"),
        ("backlinks?limit=-3", "limit"),
        ("boosted?q=x&boost=-1", "boost"),
        ("boosted?q=x&boost=nan", "boost"),
        ("boosted?q=x&boost=1e3", "boost"),
        ("boosted?q=x&boost=2&boost=2", "boost"),
    ],
)
def test_the_others_do_too(shelf: Shelf, path: str, name: str) -> None:
    response = shelf.client.get(f"/api/notes/1/{path}")
    assert error_of(response, 400, "invalid_parameter").startswith(f'Parameter "{name}" must ')


@pytest.mark.parametrize("query", ["", "?q=", "?q=%20&q=%EF%BB%BF"])
def test_boosted_needs_a_query(shelf: Shelf, query: str) -> None:
    response = shelf.client.get(f"/api/notes/1/boosted{query}")
    assert error_of(response, 400, "missing_query") == 'Query parameter "q" is required'


@pytest.mark.parametrize(
    "question", ["connections", "backlinks", "shared-tags", "hidden", "hidden?deep=true",
                 "boosted?q=x"]
)  # fmt: skip
@pytest.mark.parametrize("note_id", ["0", "9999", "x"])
def test_a_note_that_does_not_exist(shelf: Shelf, question: str, note_id: str) -> None:
    error_of(shelf.client.get(f"/api/notes/{note_id}/{question}"), 404)


MEANT = {
    "db/Redis": "db/Redis",
    "db/redis.MD": "db/Redis",
    " redis ": "db/Redis",
    "dbredis": "db/Redis",
    "连接池": "中文/连接池",
    "ADR 0007: Redis is a cache": "arch/adr/ADR 0007 Redis is a cache",
    "adr 0007 redis is a cache": "arch/adr/ADR 0007 Redis is a cache",
    "billing/Notes": "billing/Notes",
    "billing/README": "billing/README",
}


@pytest.mark.parametrize(("reference", "name"), MEANT.items(), ids=MEANT)
def test_references(shelf: Shelf, reference: str, name: str) -> None:
    assert shelf.get("notes/resolve", ref=reference) == {"id": shelf.ids[name]}


def test_an_id_is_a_reference_and_digits_may_be_a_title(client: FlaskClient) -> None:
    for title in ("first", "17", "1"):
        data_of(client.post("/api/notes", json={"title": title}), 201)
    assert data_of(client.get("/api/notes/resolve?ref=1")) == {"id": 1}
    assert data_of(client.get("/api/notes/resolve?ref=17")) == {"id": 2}
    assert data_of(client.get("/api/notes/resolve?ref=%202%20")) == {"id": 2}
    error_of(client.get("/api/notes/resolve?ref=" + "9" * 30), 404, "note_not_found")


def test_an_ambiguous_reference_names_its_candidates(shelf: Shelf) -> None:
    response = shelf.client.get("/api/notes/resolve?ref=notes")
    assert response.status_code == 409
    envelope = envelope_of(response)
    assert envelope["code"] == "ambiguous_reference"
    candidates = envelope["data"]["candidates"]
    assert [each["path"] for each in candidates] == ["billing/Notes.md", "search/Notes.md"]
    assert [each["id"] for each in candidates] == [
        shelf.ids["billing/Notes"], shelf.ids["search/Notes"],
    ]  # fmt: skip
    assert "billing/Notes.md" in envelope["error"]


@pytest.mark.parametrize(
    ("reference", "near"),
    [("Reddis", "Redis"), ("postgras", "Postgres"), ("连接迟", "连接池"), ("", None), (" ", None)],
)
def test_a_miss_names_what_is_near(shelf: Shelf, reference: str, near: str | None) -> None:
    response = shelf.client.get(f"/api/notes/resolve?ref={quote(reference)}")
    assert response.status_code == 404
    envelope = envelope_of(response)
    assert envelope["code"] == "note_not_found"
    assert len(envelope["data"]["near"]) == 3
    assert near is None or envelope["data"]["near"][0] == near


def test_questions_take_few_statements(shelf: Shelf) -> None:
    database = shelf.client.application.extensions["chatcrystal-search"].database
    for path, most in (
        ("notes/resolve?ref=redis", 1),
        ("notes/resolve?ref=1", 1),
        ("notes/1/connections?hops=3", 5),
        ("notes/1/backlinks", 2),
        ("notes/1/shared-tags", 2),
        ("tags/notes?tag=cache", 3),
    ):
        with recorded_statements(database) as statements:
            data_of(shelf.client.get(f"/api/{path}"))
        assert len(statements) <= most, path


def test_tags(shelf: Shelf) -> None:
    every = shelf.get("tags")
    assert all(set(row) == {"id", "name", "count"} for row in every)
    counts = {row["name"]: row["count"] for row in every}
    nested = shelf.get("tags", prefix="systems/")
    wanted = sorted((-n, name) for name, n in counts.items() if name.startswith("systems/"))
    assert [(-row["count"], row["name"]) for row in nested] == wanted
    assert len(wanted) >= 2
    (parent,) = [row for row in shelf.get("tags", prefix="systems") if row["name"] == "systems"]
    assert [(-child["count"], child["name"]) for child in parent["children"]] == wanted
    like = [row["name"] for row in shelf.get("tags", like="#Postgre")]
    assert like == ["db/postgres"]
    both = [row["name"] for row in shelf.get("tags", prefix="数据库", like="sqlite")]
    assert both == ["数据库/sqlite"]


@pytest.mark.parametrize("query", ["like=postgrse", "prefix=cachee/", "prefix=%23reliabillity"])
def test_a_tag_that_nothing_matches(shelf: Shelf, query: str) -> None:
    envelope = envelope_of(shelf.client.get(f"/api/tags?{query}"))
    assert envelope["data"] == []
    (warning,) = envelope["warnings"]
    name, _, near = warning.partition("; near: ")
    assert name.startswith('No tag matches "')
    assert len(near.split(", ")) == 3


def test_notes_of_a_tag(shelf: Shelf) -> None:
    data = shelf.get("tags/notes", tag=" #Cache")
    titles = [row["title"] for row in data["items"]]
    assert titles == sorted(titles)
    assert set(shelf.names(data["items"])) == {
        "arch/Cache invalidation", "db/Redis", "arch/adr/ADR 0007 Redis is a cache",
    }  # fmt: skip
    assert all((row["score"], row["tag"]) == (1.0, "cache") for row in data["items"])
    assert shelf.get("tags/notes", tag="systems")["items"] != []
    assert shelf.get("tags/notes", tag="system")["items"] == []
    missed = envelope_of(shelf.client.get("/api/tags/notes?tag=cach"))
    assert missed["warnings"][0].startswith('No tag matches "cach"; near: cache, ')


def test_the_picture_is_as_ever_unless_more_is_asked_for(shelf: Shelf) -> None:
    plain = shelf.get("relations/graph")
    assert all(set(node) == {"id", "title", "project_name", "tags"} for node in plain["nodes"])
    assert {edge["type"] for edge in plain["edges"]} == {"CONTRADICTS"}
    whole = shelf.get("relations/graph", include="links,tags")
    assert whole["nodes"] == plain["nodes"]
    assert whole["edges"][: len(plain["edges"])] == plain["edges"]
    pairs = [(e["source"], e["target"]) for e in whole["edges"] if e["type"] == "LINK"]
    assert pairs == sorted(set(shelf.edges) - {(e["source"], e["target"]) for e in plain["edges"]})
    tags = {node["id"]: set(node["tags"]) for node in plain["nodes"]}
    shared = [edge for edge in whole["edges"] if edge["type"] == "TAG"]
    assert shared
    for edge in shared:
        one, other = tags[edge["source"]], tags[edge["target"]]
        assert edge["confidence"] == pytest.approx(len(one & other) / len(one | other))
    error_of(shelf.client.get("/api/relations/graph?include=people"), 400, "invalid_parameter")


def test_the_layout_is_the_same_every_time(shelf: Shelf) -> None:
    path = "/api/relations/graph?include=links,tags&layout=true"
    first = shelf.client.get(path).get_data()
    assert shelf.client.get(path).get_data() == first
    nodes = shelf.get("relations/graph", include="links,tags", layout="true")["nodes"]
    assert all(-1 <= node["x"] <= 1 and -1 <= node["y"] <= 1 for node in nodes)
    assert len({(node["x"], node["y"]) for node in nodes}) == len(nodes)
    alone = shelf.get("relations/graph", project="nowhere", layout="true")
    assert alone == {"nodes": [], "edges": []}


def test_search_in_the_vault(shelf: Shelf) -> None:
    path = "/api/search?ranker=notebrain&q=redis+cache&q=%E8%BF%9E%E6%8E%A5%E6%B1%A0&per_note=2"
    rows = data_of(shelf.client.get(path))
    assert rows
    for row in rows:
        assert row["lexical"] is False
        assert 1 <= len(row["chunks"]) <= 2
        assert row["matched_queries"] == max(len(chunk["matched"]) for chunk in row["chunks"])
        assert row["score"] == max(chunk["score"] for chunk in row["chunks"])
    inside = data_of(shelf.client.get(f"{path}&path=db/"))
    assert {row["note_id"] for row in inside} <= {
        note_id for name, note_id in shelf.ids.items() if name.startswith("db/")
    }
