"""The ranker `finder` over stored notes: seeds, relations, hints, replicas, and its account."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from app.db import graph, notes
from app.domain.fragments import CONTAINS, LINKS_TO, MENTIONS, chunk, entity, root
from app.domain.notes import NoteDraft, NoteFilters
from app.domain.relations import RelationDraft
from app.domain.search import SearchAnswer
from app.errors import NoteNotFound, ProviderRejected
from app.factory import Application
from app.ranking.finder.options import FinderOptions
from app.search.surroundings import surroundings
from benchmarks import graph_corpus
from benchmarks.finder import graph_stage
from benchmarks.related import CASES, NOTES, answer_of, related_records
from tests.support.application import (
    ask,
    found_ids,
    opened,
    planted_vector,
    recorded_statements,
    request,
    stub_values,
)
from tests.support.provider import StubProvider, status

QUERY = "walrus"


def find(application: Application, query: str = QUERY, **more: Any) -> SearchAnswer:
    return ask(application, query, ranker="finder", **more)


def write(application: Application, title: str, summary: str = "cos=0.1", **more: Any) -> int:
    return application.writer.create_note(NoteDraft(title, summary, **more))


def relate(application: Application, source: int, target: int, confidence: float = 1.0) -> None:
    application.writer.create_relation(RelationDraft(source, target, "CAUSED_BY", confidence))


def link(application: Application, source: int, target: int) -> None:
    with application.database.write() as connection:
        connection.execute(
            text(
                "INSERT INTO note_links (source_note_id, target_note_id, target, kind, position,"
                f" name_key) VALUES ({source}, {target}, 'x', 'wiki', 0, 'x')"
            )
        )


@pytest.fixture(scope="module")
def related(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """The notes whose answers are found by relations alone, with the built-in model."""
    folder = tmp_path_factory.mktemp("related")
    with opened(folder, {"search.second_space": "false"}) as application:
        assert not application.importer.import_records(related_records()).refused
        assert not application.batches.embed_many(application.batches.everything()).reasons
        application.entities.fill()
        yield application


def test_an_answer_that_never_names_the_topic_is_found_by_its_relations(
    related: Application,
) -> None:
    with related.database.read() as connection:
        ids = notes.ids_of_external(connection, [answer_of(each) for each in range(len(CASES))])
        assert len(notes.all_ids(connection)) == NOTES
    found: dict[str, list[bool]] = {}
    for ranker in ("vector", "finder"):
        found[ranker] = [
            ids[answer_of(number)] in found_ids(ask(related, case.query, ranker=ranker, limit=3))
            for number, case in enumerate(CASES)
        ]
    assert sum(found["finder"]) >= 9
    assert not any(found["vector"])


LEDGER_QUERIES = [CASES[0].query, CASES[9].query, "linter configured per environment"]


@pytest.mark.parametrize("query", LEDGER_QUERIES)
def test_the_ledger_accounts_for_all_relevance(related: Application, query: str) -> None:
    answer = find(related, query, explain=True)
    assert answer.explanation is not None
    rows = answer.explanation["rows"]
    assert [row["note_id"] for row in rows] == found_ids(answer)
    for row in rows:
        ledger = row["ledger"]
        carried = sum(each["mass"] for each in ledger["carried"])
        assert ledger["restart"] + ledger["dangling"] + carried == pytest.approx(
            row["mass"], abs=1e-12
        )
        assert sum(ledger["by_relation"].values()) == pytest.approx(carried, abs=1e-12)
        fragments = row["fragments"]
        assert row["mass"] == pytest.approx(sum(each["mass"] for each in fragments), abs=1e-12)
        assert row["seed"] == pytest.approx(sum(each["seed"] for each in fragments), abs=1e-12)
        for name in ("full_text_rank", "vector_rank"):
            ranks = [each[name] for each in fragments if each[name]]
            assert row[name] == (min(ranks) if ranks else None)
    assert rows[0]["full_text_rank"] == 1


def test_a_ledger_names_what_carried_the_relevance(application: Application) -> None:
    seed = write(application, QUERY, tags=("shared",))
    write(application, "other", tags=("shared",))
    answer = find(application, explain=True)
    assert answer.explanation is not None
    [_, row] = answer.explanation["rows"]
    by_tag = [each for each in row["ledger"]["carried"] if each["relation"] == MENTIONS]
    tag = {"fragment": "entity", "entity_id": 1, "kind": "tag", "name": "shared"}
    assert by_tag[0]["from"] == tag
    assert row["seed"] == 0
    assert found_ids(answer)[0] == seed


def test_relevance_flows_along_every_kind_of_relation(application: Application) -> None:
    seed = write(application, QUERY, tags=("a",), files_touched=("b.py",), error_signatures=("C",))
    reached = [
        write(application, "by tag", tags=("a",)),
        write(application, "by file", files_touched=("b.py",)),
        write(application, "by error", error_signatures=("C",)),
        write(application, "by relation"),
        write(application, "by link"),
    ]
    doubtful = write(application, "by a doubtful relation")
    relate(application, seed, reached[3], 0.5)
    relate(application, seed, doubtful, 0.49)
    link(application, reached[4], seed)
    found = find(application, limit=50)
    assert found_ids(found)[0] == seed
    assert set(found_ids(found)) == {seed, *reached}
    assert found.found[0].score == 1.0


def test_the_slice_from_the_database_is_the_graph(application: Application) -> None:
    first = write(application, "one", "of tag\n\n" + "x" * 490, tags=("tag",))
    second = write(application, "two", tags=("tag",))
    relate(application, first, second, 0.8)
    link(application, second, first)
    with application.database.read() as connection:
        found = graph.relations_of(connection, 1, [root(first)], limit=99, entity_degree=99)
        around, inner = (
            graph.relations_of(
                connection, 1, fragments, limit=99, entity_degree=99, is_inner=is_inner
            )
            for fragments, is_inner in (
                ([entity(1)], False), ([root(first), root(second), entity(1), chunk(1)], True),
            )
        )  # fmt: skip
    assert {each[:3] for each in found.relations} == {
        (root(first), CONTAINS, chunk(1)),
        (root(first), CONTAINS, chunk(2)),
        (root(first), MENTIONS, entity(1)),
        (root(second), LINKS_TO, root(first)),
        (root(first), "CAUSED_BY", root(second)),
    }
    assert [each.share for each in found.relations if each.kind == "CAUSED_BY"] == [0.8]
    assert {each.source for each in around.relations} == {
        root(first), root(second), chunk(1), chunk(2), chunk(3),
    }  # fmt: skip
    assert around.note_of[chunk(3)] == second
    assert {(each.source, each.kind) for each in inner.relations} == {
        (root(first), CONTAINS),
        (chunk(1), MENTIONS),
        (root(first), MENTIONS),
        (root(second), MENTIONS),
        (root(second), LINKS_TO),
        (root(first), "CAUSED_BY"),
    }


def test_the_slice_takes_the_same_statements_whatever_the_size(tmp_path: Path) -> None:
    counts = {}
    for size in (10, 10_000):
        database = graph_corpus.make(tmp_path / f"{size}.db", size)
        with recorded_statements(database) as statements:
            around, mass = graph_stage(database, graph_corpus.seeds(size))
        assert len(around.relations) <= FinderOptions().graph_relation_limit
        assert sum(mass.values()) == pytest.approx(1.0)
        counts[size] = len(statements)
        database.close()
    assert set(counts.values()) == {graph.STATEMENTS * (FinderOptions().graph_hops + 1)}


def test_a_hub_does_not_fill_the_slice(tmp_path: Path) -> None:
    size = 2_000
    graph_corpus.make(tmp_path / "plain.db", size).close()
    database = graph_corpus.with_hub(tmp_path / "plain.db", tmp_path / "hub.db", size)
    options = FinderOptions(max_entity_degree=50, graph_hops=1)
    seeds = graph_corpus.seeds(size)
    around, _ = graph_stage(database, seeds, options)
    with database.read() as connection:
        hub = entity(
            connection.execute(text("SELECT id FROM entities WHERE name = 'hub'")).scalar_one()
        )
    database.close()
    taken = [each.source for each in around.relations if each.target == hub]
    assert len(taken) == 50
    having = [each for each in seeds if each.id % 2 == 0]
    assert set(having) <= set(taken)


def test_seeds_can_come_from_one_list(application: Application) -> None:
    by_words = write(application, "walrus")
    by_meaning = write(application, "other", "cos=0.9")
    assert set(found_ids(find(application))) == {by_words, by_meaning}
    assert found_ids(find(application, seeds="full-text")) == [by_words]
    assert found_ids(find(application, seeds="vector")) == [by_meaning]


def test_what_is_too_far_is_no_seed(application: Application) -> None:
    near = write(application, "near", "cos=0.3")
    far = write(application, "far", "cos=0.2")
    assert found_ids(find(application, "nothing")) == [near]
    options = {"max_vector_distance": 0.85}
    assert found_ids(find(application, "nothing", options=options)) == [near, far]


def test_options_come_from_the_settings_and_requests_override_them(
    provider: StubProvider, tmp_path: Path
) -> None:
    with opened(tmp_path, stub_values(provider) | {"finder.max_hints": "1"}) as application:
        write(application, QUERY, "cos=0.9")
        application.companions.fill()
        assert len(find(application).found[0].extra["hints"]) == 1
        more = find(application, options={"max_hints": 2}).found[0].extra["hints"]
        assert len(more) == 2


def test_filters_hold_for_what_is_found_and_not_for_what_carries(
    application: Application,
) -> None:
    outside = write(application, QUERY, "cos=0.9", project="theirs")
    between = write(application, "between", project="theirs")
    inside = write(application, "walrus too", "cos=0.3", project="mine")
    reached = write(application, "reached", project="mine")
    relate(application, outside, reached)
    relate(application, inside, between)
    relate(application, between, reached)
    filters = NoteFilters(projects=("mine",))
    assert found_ids(find(application, filters=filters)) == [inside, reached]
    assert found_ids(find(application, filters=filters, limit=1)) == [inside]
    why = application.searcher.why(request(QUERY, filters, ranker="finder"), between)
    assert (why.returned, why.rule) == (False, "filtered_out")


def test_a_note_that_waits_is_found_by_words_and_not_by_old_vectors(
    application: Application,
) -> None:
    note_id = write(application, QUERY, "cos=0.9")
    with application.database.write() as connection:
        connection.execute(text("UPDATE notes SET embedding_status = 'pending'"))
    answer = find(application, explain=True)
    assert found_ids(answer) == [note_id]
    assert answer.explanation is not None
    assert answer.explanation["seeds"]["vector"] == 0
    assert find(application, seeds="vector").found == ()


def test_without_a_provider_words_alone_are_searched(
    application: Application, provider: StubProvider
) -> None:
    seed, reached = write(application, QUERY), write(application, "other")
    relate(application, seed, reached)
    provider.behave(status(500))
    answer = find(application)
    assert found_ids(answer) == [seed, reached]
    assert "Found by words alone" in answer.warnings[0]
    with pytest.raises(ProviderRejected):
        find(application, "ocelot")


BODY = "Before it all.\n\n# Pool\n\nOf the walrus.\n\n## Size\n\nIt was set to five."


def test_hints_say_where_they_stand(application: Application) -> None:
    note_id = write(application, "pool", "cos=0.9 of water", body=BODY, tags=("tag",))
    application.companions.fill()
    hints = find(application, options={"max_hints": 20}).found[0].extra["hints"]
    around = expanded(application, note_id)
    in_body = [hint for hint in hints if hint["extent_of"] == "body"]
    assert {hint["heading_path"] for hint in in_body} == {None, "Pool", "Pool > Size"}
    for hint in in_body:
        start, end = hint["extent"]
        assert hint["preview"] == " ".join(BODY[start:end].split())
        assert isinstance(hint["chunk_id"], int)
    roots = [hint for hint in hints if hint["chunk_id"] is None]
    assert [hint["extent"] for hint in roots] == [[0, len("pool\n\ncos=0.9 of water")]]
    assert roots[0]["preview"] == "cos=0.9 of water"
    [whole] = [hint for hint in hints if hint["extent_of"] == "text" and hint["chunk_id"]]
    start, end = whole["extent"]
    assert around.text[start:end] == "pool\n\ncos=0.9 of water\n\ntag"
    scores = [hint["score"] for hint in hints]
    assert scores == sorted(scores, reverse=True)


def test_notes_of_the_same_content_collapse(application: Application) -> None:
    ids = [write(application, QUERY, "cos=0.5") for _ in range(3)]
    other = write(application, QUERY, "cos=0.4")
    found = find(application).found
    assert [each.note_id for each in found] == [ids[0], other]
    assert [each["note_id"] for each in found[0].extra["replicas"]] == ids[1:]
    assert found[1].extra["replicas"] == []
    assert found[0].extra["summary"] == "cos=0.5"
    why = application.searcher.why(request(QUERY, ranker="finder"), ids[2])
    assert (why.stage, why.rule, why.returned) == ("replicas", "replica", False)


def test_why_tells_of_notes_found_reached_and_missed(application: Application) -> None:
    seed, reached, missed = (write(application, title) for title in (QUERY, "other", "apart"))
    relate(application, seed, reached)
    told = {
        note_id: application.searcher.why(request(QUERY, ranker="finder", limit=1), note_id)
        for note_id in (seed, reached, missed)
    }
    assert [each.rule for each in told.values()] == ["returned", "beyond_limit", "not_reached"]
    assert told[seed].place == 1
    assert "PageRank mass" in told[reached].message
    assert "within 2 relations of one of the" in told[missed].message


def expanded(application: Application, note_id: int, limit: int = 10) -> Any:
    with application.database.read() as connection:
        return surroundings(connection, note_id, FinderOptions(), limit)


def test_the_surroundings_of_a_note(application: Application) -> None:
    note_id = write(application, "one", body=BODY, tags=("tag",))
    near, tagged, apart = (
        write(application, title, tags=tags)
        for title, tags in (("near", ()), ("tagged", ("tag",)), ("apart", ()))
    )
    relate(application, note_id, near)
    found = expanded(application, note_id)
    assert [each.fragment for each in found.fragments] == ["root", *["chunk"] * 4]
    assert [each.heading_path for each in found.fragments] == [
        None, None, None, "Pool", "Pool > Size",
    ]  # fmt: skip
    kinds = [each.type for each in found.relations]
    assert kinds.count(CONTAINS) == 4
    assert {CONTAINS, MENTIONS, "CAUSED_BY"} == set(kinds)
    neighbours = {each.note_id: each for each in found.neighbours}
    assert set(neighbours) == {near, tagged}
    assert neighbours[near].relations == ("CAUSED_BY",)
    assert [each.name for each in neighbours[tagged].entities] == ["tag"]
    assert found.neighbours[0].score == 1.0
    assert len(expanded(application, note_id, 1).neighbours) == 1
    with pytest.raises(NoteNotFound):
        expanded(application, apart + 1)


def test_planted_vectors_are_what_tests_say() -> None:
    """The cosines that the tests above count on."""
    assert planted_vector("cos=0.3")[0] == 0.3
