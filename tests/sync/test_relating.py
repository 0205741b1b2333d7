"""Relations that are found by themselves: which, how sure, and that nothing else is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.db import notes, relations
from app.distill.judging import judged
from app.distill.relating import SIMILAR_SCORE, Card, Pair, is_identifier, related
from app.domain.relations import Relation, RelationDraft
from app.errors import NoteNotFound
from app.factory import Application
from tests.support.application import opened, planted_vector, recorded_statements, stub_values
from tests.support.chat import answering
from tests.support.provider import StubProvider
from tests.sync.conftest import dump

NONE: frozenset[str] = frozenset()


def card(id_: int, **more: Any) -> Card:
    given = {"project": "shop", "created_at": f"2026-01-0{id_}", "outcome_type": None} | more
    for name in ("tags", "files", "errors"):
        given[name] = frozenset(given.get(name, ()))
    return Card(id_, **given)


def kinds(first: Card, second: Card, **more: Any) -> list[tuple[int, int, str]]:
    counts = dict.fromkeys(first.files | first.errors | first.tags, 2)
    found = related(Pair(first, second, **more), counts)
    assert all(0.5 <= (each.confidence or 0) <= 1 and each.created_by == "auto" for each in found)
    assert all(each.description for each in found)
    swapped = related(Pair(second, first, **more), counts)
    assert swapped == found, "who is looked at first must not matter"
    return [(each.source_note_id, each.target_note_id, each.relation_type) for each in found]


@pytest.mark.parametrize(
    ("score", "is_mutual", "expected"),
    [
        (SIMILAR_SCORE, True, [(2, 1, "SIMILAR_TO")]),
        (SIMILAR_SCORE - 0.01, True, []),
        (0.9, False, []),
        (None, True, []),
    ],
)
def test_nearest_notes_are_similar(score: float | None, is_mutual: bool, expected: Any) -> None:
    assert kinds(card(1), card(2), score=score, is_mutual=is_mutual) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"files": ["app/pool.py"]}, {"files": ["app/pool.py"]}, [(2, 1, "REFERENCES")]),
        ({"files": ["pool.py"]}, {"files": ["pool.py"]}, []),
        ({"files": ["a/b.py"]}, {"files": ["a/b.py"], "project": "other"}, []),
        ({"tags": ["get_session"]}, {"tags": ["get_session"], "project": "other"},
         [(2, 1, "REFERENCES")]),
        ({"tags": ["python"]}, {"tags": ["python"]}, []),
    ],
    ids=["file", "bare name", "other project", "identifier", "topic"],
)  # fmt: skip
def test_rare_names_join_notes(first: Any, second: Any, expected: Any) -> None:
    assert kinds(card(1, **first), card(2, **second)) == expected


def test_common_names_join_nothing() -> None:
    both = card(1, files=["app/pool.py"]), card(2, files=["app/pool.py"])
    assert related(Pair(*both), {"app/pool.py": 5}) == []
    assert related(Pair(*both), {}) == []


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (None, "fix", [(1, 2, "RESOLVED_BY")]),
        ("fix", None, [(2, 1, "RESOLVED_BY")]),
        (None, "pitfall", [(1, 2, "CAUSED_BY")]),
        ("fix", "fix", []),
        (None, None, []),
    ],
)
def test_one_of_two_with_the_same_error_has_the_way_out(
    first: str | None, second: str | None, expected: Any
) -> None:
    error = {"errors": ["OSError: too many open files"]}
    one = card(1, outcome_type=first, **error)
    assert kinds(one, card(2, outcome_type=second, **error)) == expected


def test_a_later_note_goes_on_with_a_topic() -> None:
    first, second = card(1, tags=["redis"]), card(2, tags=["redis"])
    assert kinds(first, second, score=0.65) == [(2, 1, "EXTENDS")]
    assert kinds(first, second, score=0.5) == []
    assert kinds(first, card(2, tags=["kafka"]), score=0.65) == []
    assert kinds(first, card(2, tags=["redis"], project="other"), score=0.65) == []


@pytest.mark.parametrize(
    ("tag", "expected"),
    [("useEffect", True), ("get_session", True), ("python", False), ("docker-compose", False)],
)
def test_identifiers_are_told_from_topics(tag: str, expected: bool) -> None:
    assert is_identifier(tag) is expected


def store(application: Application, *entries: dict[str, Any]) -> list[int]:
    """Store notes with a cosine, and whatever columns they name."""
    records: list[dict[str, Any]] = []
    for number, entry in enumerate(entries):
        given = {"title": f"note {number}", "summary": "cos=0.5", "project": "shop"} | entry
        records += [
            {"type": "conversation", "external_id": f"c{number}", "project_name": given["project"]},
            {"type": "note", "external_id": f"n{number}", "conversation": f"c{number}",
             "created_at": f"2026-01-01 00:00:0{number}",
             **{name: value for name, value in given.items() if name != "project"}},
        ]  # fmt: skip
    assert not application.importer.import_records(records).refused
    ids = list(application.batches.everything())
    assert not application.batches.embed_many(ids).reasons
    return ids


def all_of(application: Application, note_id: int) -> tuple[Relation, ...]:
    with application.database.read() as connection:
        return relations.of_note(connection, note_id)


def told(found: tuple[Relation, ...]) -> set[tuple[int, int, str]]:
    return {(each.source_note_id, each.target_note_id, each.relation_type) for each in found}


TWINS = (
    {"title": "cos=0.99 pool", "files_touched": ["app/pool.py"]},
    {"title": "cos=0.99 pool again", "files_touched": ["app/pool.py"]},
    {"title": "cos=-0.9 else"},
)


def test_a_note_is_related_to_its_neighbours(application: Application) -> None:
    first, second, other = store(application, *TWINS)
    found = application.knowledge.relater.relate_one(second)
    kinds_of = ("SIMILAR_TO", "REFERENCES", "EXTENDS")
    assert told(found) == {(second, first, kind) for kind in kinds_of}
    assert {each.created_by for each in found} == {"auto"}
    assert all_of(application, other) == ()


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1,), (0,)])
def test_the_order_does_not_matter_and_again_changes_nothing(
    application: Application, order: tuple[int, ...]
) -> None:
    ids = store(application, *TWINS)
    for place in order:
        application.knowledge.relater.relate([ids[place]])
    assert len(all_of(application, ids[0])) == 3
    before = dump(application)
    assert application.knowledge.relater.relate(ids) == 0
    assert dump(application) == before


def test_what_a_person_made_is_never_touched(application: Application) -> None:
    first, second, _ = store(application, *TWINS)
    mine = RelationDraft(first, second, "SIMILAR_TO", 0.3, "mine")
    application.writer.create_relation(mine)
    also = RelationDraft(second, first, "REFERENCES", 0.2, None)
    application.writer.create_relation(also)
    application.knowledge.relater.relate([first, second])
    found = all_of(application, first)
    by_whom = {each.relation_type: (each.confidence, each.created_by) for each in found}
    assert by_whom["SIMILAR_TO"] == (0.3, "manual")
    assert by_whom["REFERENCES"] == (0.2, "manual")
    assert by_whom["EXTENDS"][1] == "auto"
    assert len(found) == 3


def test_relations_that_no_longer_hold_go(application: Application) -> None:
    first, second, _ = store(application, *TWINS)
    application.knowledge.relater.relate([second])
    with application.database.write() as connection:
        connection.exec_driver_sql("DELETE FROM note_entities")
    application.knowledge.relater.relate([second])
    assert told(all_of(application, first)) == {(second, first, "SIMILAR_TO")}


def test_many_notes_take_no_more_statements_than_few(application: Application) -> None:
    ids = store(application, *({"title": f"cos=0.{n} n"} for n in range(1, 10)))
    application.companions.fill()
    with recorded_statements(application.database) as few:
        application.knowledge.relater.relate(ids[:2])
    with recorded_statements(application.database) as many:
        application.knowledge.relater.relate(ids)
    assert len(many) <= len(few) + 2


def test_an_unknown_note_has_no_relations(application: Application) -> None:
    with pytest.raises(NoteNotFound):
        application.knowledge.relater.relate_one(7)


JUDGED = {
    "relations": [
        {"target_note_id": 1, "relation_type": "DEPENDS_ON", "confidence": 0.8, "description": "a"},
        {"target_note_id": 1, "relation_type": "LEADS_TO", "confidence": 0.4, "description": "b"},
        {"target_note_id": 77, "relation_type": "EXTENDS", "confidence": 0.9, "description": "c"},
    ]
}


def test_a_model_judges_over_the_same_candidates_when_asked(tmp_path: Path) -> None:
    with StubProvider(usual=answering(JUDGED), vector=planted_vector) as stub:
        values = stub_values(stub) | {"llm.provider": "openai", "llm.base_url": stub.base_url}
        with opened(tmp_path, values) as application:
            first, second, _ = store(application, *TWINS)
            application.companions.fill()
            assert not [each for each in stub.requests if "messages" in each.body]
            assert application.knowledge.judge.judge(second) == 1
            assert application.knowledge.judge.judge(second) == 0
            (found,) = all_of(application, first)
            assert (found.relation_type, found.created_by) == ("DEPENDS_ON", "llm")
            (asked, _) = [each for each in stub.requests if "messages" in each.body]
            assert f"[{first}] cos=0.99 pool" in asked.body["messages"][1]["content"]


def test_at_most_five_of_a_models_relations_count(application: Application) -> None:
    store(application, *({"title": f"n{n}"} for n in range(8)))
    with application.database.read() as connection:
        note, *others = notes.get_many(connection, range(1, 9))
    answer = {
        "relations": [
            {"target_note_id": each.id, "relation_type": "EXTENDS", "confidence": each.id / 10,
             "description": ""}
            for each in others
        ]
    }  # fmt: skip
    found = judged(answer, note, others)
    assert [each.target_note_id for each in found] == [8, 7, 6, 5]
    certain = {"relations": [{**each, "confidence": 1} for each in answer["relations"]]}
    assert len(judged(certain, note, others)) == 5
