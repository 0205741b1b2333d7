"""Links follow their notes, whatever door a note comes through."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from app.db import links
from app.domain.notes import NoteDraft, NotePatch
from app.factory import Application
from tests.maintenance.export.library import lines_of, records_of
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider
from tests.sync.conftest import rows

Record = dict[str, Any]


def create(application: Application, title: str, body: str = "", **more: Any) -> int:
    return application.writer.create_note(NoteDraft(title, "", body=body, **more))


def edit(application: Application, note_id: int, **changes: Any) -> None:
    application.writer.edit_note(note_id, NotePatch(changes))


def targets(application: Application, note_id: int) -> list[tuple[str, int | None]]:
    """The names and notes of a note's links, in the order of its text."""
    with application.database.read() as connection:
        found = links.of_note(connection, note_id)
    return [(each.link.target, each.target_note_id) for each in found]


def record(number: int, title: str, body: str = "", **more: Any) -> list[Record]:
    own = {"external_id": f"n{number}", "conversation": f"c{number}", "title": title, "body": body}
    created = {"created_at": "2026-01-01 00:00:00"}
    return [
        {"type": "conversation", "external_id": f"c{number}"},
        {"type": "note", **own, **created, **more},
    ]


def take_in(application: Application, records: list[Record]) -> None:
    assert not application.importer.import_records(records).refused


def test_a_link_leads_to_a_note_that_is_there(application: Application) -> None:
    target = create(application, "Target", aliases=("Other",), path="a/file.md")
    source = create(application, "Source", "[[target]] [[OTHER]] [[a/file]] [x](a/file.md)")
    assert [found for _, found in targets(application, source)] == [target] * 4


def test_a_link_waits_by_its_name_until_its_note_arrives(application: Application) -> None:
    source = create(application, "Source", "[[Later]] and [[Never]]")
    assert targets(application, source) == [("Later", None), ("Never", None)]
    with application.database.read() as connection:
        assert links.unresolved(connection, [source]) == {source: ("Later", "Never")}
        assert links.edges(connection) == ()
    later = create(application, "later")
    assert targets(application, source) == [("Later", later), ("Never", None)]


ARRIVALS = {
    "title": {"title": "Wanted"},
    "alias": {"aliases": ("Wanted",)},
    "path": {"path": "some/wanted.md"},
}


@pytest.mark.parametrize("changes", ARRIVALS.values(), ids=ARRIVALS)
def test_a_note_that_takes_on_the_name_answers_to_it(
    application: Application, changes: dict[str, Any]
) -> None:
    source = create(application, "Source", "[[Wanted]]")
    other = create(application, "Other")
    edit(application, other, **changes)
    assert targets(application, source) == [("Wanted", other)]


def test_a_note_of_an_import_answers_too(application: Application) -> None:
    source = create(application, "Source", "[[Wanted]]")
    take_in(application, record(1, "Wanted"))
    assert targets(application, source) == [("Wanted", source + 1)]


def test_links_stay_with_a_note_that_is_renamed(application: Application) -> None:
    target = create(application, "Old", path="old.md")
    source = create(application, "Source", "[[Old]] [x](old.md)")
    edit(application, target, title="New", path="elsewhere/new.md")
    assert targets(application, source) == [("Old", target), ("old.md", target)]
    edit(application, source, body="changed: [[Old]] [[New]]")
    assert targets(application, source) == [("Old", target), ("New", target)]


def test_a_note_that_bears_the_old_name_takes_the_links_over(application: Application) -> None:
    target = create(application, "Old")
    source = create(application, "Source", "[[Old]]")
    edit(application, target, title="New")
    heir = create(application, "Old")
    assert targets(application, source) == [("Old", heir)]


def test_links_to_a_deleted_note_wait_or_go_to_the_next(application: Application) -> None:
    first = create(application, "Note", path="a.md")
    second = create(application, "x", aliases=("Note",))
    source = create(application, "Source", "[[Note]]")
    assert targets(application, source) == [("Note", first)]
    application.writer.delete_note(first)
    assert targets(application, source) == [("Note", second)]
    application.writer.delete_note(second)
    assert targets(application, source) == [("Note", None)]
    third = create(application, "note")
    assert targets(application, source) == [("Note", third)]


def test_deleting_a_conversation_lets_go_of_links_to_its_note(application: Application) -> None:
    take_in(application, record(1, "Note"))
    source = create(application, "Source", "[[Note]]")
    application.writer.delete_conversation("c1")
    assert targets(application, source) == [("Note", None)]


def test_links_of_a_deleted_note_go_with_it(application: Application) -> None:
    source = create(application, "Source", "[[Source]] [[x]]")
    application.writer.delete_note(source)
    assert rows(application, "SELECT * FROM note_links") == []
    assert rows(application, "SELECT * FROM note_names") == []


def test_an_edit_replaces_the_links_of_the_body_only(application: Application) -> None:
    source = create(application, "Source", "[[a]] [[b]]")
    edit(application, source, body="[[b]] `[[c]]` [[d]]")
    assert [name for name, _ in targets(application, source)] == ["b", "d"]


def test_an_edit_of_anything_else_leaves_the_rows_alone(application: Application) -> None:
    source = create(application, "Source", "[[a]] [[Source]]")
    before = rows(application, "SELECT * FROM note_links ORDER BY id")
    edit(application, source, summary="other", tags=("x",))
    assert rows(application, "SELECT * FROM note_links ORDER BY id") == before


def test_a_self_link_is_an_edge(application: Application) -> None:
    source = create(application, "Source", "[[Source]]")
    with application.database.read() as connection:
        assert links.sources_of(connection, source) == (source,)
        assert [each.target_note_id for each in links.edges(connection, [source])] == [source]


def test_edges_can_be_asked_for_by_either_end(application: Application) -> None:
    first = create(application, "One", "[[Two]] [[Two#Part|shown]]")
    second = create(application, "Two", "[[Three]]")
    third = create(application, "Three")
    with application.database.read() as connection:
        every = links.edges(connection)
        assert links.edges(connection, [third]) == every[2:]
        assert links.edges(connection, [first]) == every[:2]
    assert [(edge.source_note_id, edge.target_note_id) for edge in every] == [
        (first, second), (first, second), (second, third),
    ]  # fmt: skip
    assert (every[1].heading, every[1].label) == ("Part", "shown")


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_arrival_does_not_matter(application: Application, seed: int) -> None:
    notes = [
        record(1, "Hub", "[[Note]] [[Alias]] [x](sub/b.md) [[b]]", path="hub.md"),
        record(2, "Note", "[[Hub]]", path="z/a.md"),
        record(3, "Note", "[[hub]]", path="a/a.md"),
        record(4, "x", "[[Note]]", path="sub/b.md", aliases=["Alias"]),
        record(5, "Alias", "", path="b.md"),
    ]
    random.Random(seed).shuffle(notes)
    for each in notes:
        take_in(application, each)
    found = rows(
        application,
        "SELECT source.path, link.target, target.path FROM note_links AS link"
        " JOIN notes AS source ON source.id = link.source_note_id"
        " JOIN notes AS target ON target.id = link.target_note_id"
        " ORDER BY source.path, link.position",
    )
    assert found == [
        ("a/a.md", "hub", "hub.md"),
        ("hub.md", "Note", "a/a.md"),
        ("hub.md", "Alias", "b.md"),
        ("hub.md", "sub/b.md", "sub/b.md"),
        ("hub.md", "b", "b.md"),
        ("sub/b.md", "Note", "a/a.md"),
        ("z/a.md", "Hub", "hub.md"),
    ]


def link(source: int, target: str, **more: Any) -> Record:
    return {"type": "link", "source": f"n{source}", "target": target, **more}


def test_an_import_can_tell_of_links(application: Application) -> None:
    told = [link(1, "Two", label="shown"), link(1, "n2", kind="markdown"), link(1, "Nobody")]
    report = application.importer.import_records([*record(1, "One"), *record(2, "Two"), *told])
    assert (report.refused, report.added["link"]) == ([], 3)
    assert targets(application, 1) == [("Two", 2), ("n2", 2), ("Nobody", None)]
    again = application.importer.import_records(told)
    assert (again.added["link"], again.unchanged["link"]) == (0, 3)
    edit(application, 1, title="Renamed", body="[[Two]]")
    assert sorted(name for name, _ in targets(application, 1)) == ["Nobody", "Two", "Two", "n2"]


def test_a_link_that_the_body_holds_is_told_of_in_vain(application: Application) -> None:
    take_in(application, [*record(1, "One", "[[Two]]"), *record(2, "Two"), link(1, "Two")])
    assert targets(application, 1) == [("Two", 2)]


BAD_LINKS = {
    "source": ({"source": "missing"}, "'missing' is no known note"),
    "target": ({"target": "  "}, 'Parameter "target" must not be blank'),
    "no target": ({"target": None}, 'Parameter "target" is missing'),
    "kind": ({"kind": "odd"}, 'Parameter "kind" must be one of wiki, markdown, embed'),
    "position": ({"position": -1}, 'Parameter "position" must be a place'),
    "large position": ({"position": 2**40}, 'Parameter "position" must be a place'),
    "label": ({"label": 3}, 'Parameter "label" must be a text'),
}


@pytest.mark.parametrize(("changed", "reason"), BAD_LINKS.values(), ids=BAD_LINKS)
def test_a_link_that_is_none_is_refused(
    application: Application, changed: Record, reason: str
) -> None:
    take_in(application, record(1, "One"))
    report = application.importer.import_records([link(1, "x") | changed])
    assert reason in report.refused[0][1]
    assert rows(application, "SELECT * FROM note_links") == []


def test_links_go_out_and_come_back(application: Application, tmp_path: Path) -> None:
    target = create(application, "Old")
    create(application, "Source", "[[Old]] [[Nobody#Part|shown]] ![[x.png]]")
    edit(application, target, title="New")
    take_in(application, [*record(9, "Nine"), link(9, "New"), link(9, "Ghost", position=7)])
    content = lines_of(application)
    with StubProvider() as provider, opened(tmp_path / "other", stub_values(provider)) as other:
        report = other.importer.import_records(records_of(content))
        assert (report.refused, report.added["link"]) == ([], 5)
        assert lines_of(other) == content
        assert targets(other, 2) == [("Old", 1), ("Nobody", None), ("x.png", None)]
        assert other.importer.import_records(records_of(content)).added["link"] == 0
        assert lines_of(other) == content


def test_a_database_of_an_older_revision_gets_names_and_links_at_start(tmp_path: Path) -> None:
    with StubProvider() as provider:
        with opened(tmp_path, stub_values(provider)) as application:
            create(application, "Target")
            source = create(application, "Source", "[[Target]] [[Nobody]]")
            with application.database.write() as connection:
                connection.execute(text("DELETE FROM note_links"))
                connection.execute(text("DELETE FROM note_names"))
        with opened(tmp_path, stub_values(provider)) as application:
            assert targets(application, source) == [("Target", source - 1), ("Nobody", None)]
