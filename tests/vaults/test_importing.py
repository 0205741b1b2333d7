"""Folders as notes: what is new, changed, moved, gone or kept, over real files and rows."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.db import links, notes
from app.domain.notes import Note, NoteDraft, NotePatch
from app.domain.vaults import LeftOut, Moved, VaultReport, VaultRequest
from app.errors import ImportFailed
from app.factory import Application
from app.importers.markdown.reading import LARGEST_FILE
from app.importers.markdown.walking import LINK
from app.sync.vaults import importing
from tests.maintenance.export.library import lines_of, records_of
from tests.support.application import ask, found_ids, opened, stub_values
from tests.support.provider import StubProvider
from tests.sync.conftest import dump, rows

FIXTURE = Path(__file__).parents[2] / "fixtures" / "vault"
LONG_AGO = 1_700_000_000
NOTHING = VaultReport("", False, False, (), (), (), 0, (), (), (), (), (), (), 0, 0)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A folder with three notes that were written long ago."""
    folder = tmp_path / "vault"
    write(folder / "a.md", "---\ntags: [x]\n---\nTo [[b]] and [[later]].")
    write(folder / "b.md", "# Bee\n\nBack to [[a]].")
    write(folder / "sub" / "c.md", "[up](../a.md) #deep/tag")
    return folder


def write(path: Path, text: str | bytes, age: int = 0) -> None:
    """Write a file; one that is not of this moment needs no second look."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(path, (LONG_AGO + age, LONG_AGO + age))


def take_in(application: Application, folder: Path, **more: Any) -> VaultReport:
    return application.vaults.import_folder(VaultRequest(folder, **more))


def by_path(application: Application) -> dict[str, Note]:
    with application.database.read() as connection:
        found = notes.get_many(connection, notes.all_ids(connection))
    return {note.path or note.title: note for note in found}


def targets(application: Application, note_id: int) -> list[tuple[str, int | None]]:
    with application.database.read() as connection:
        return [
            (each.link.target, each.target_note_id) for each in links.of_note(connection, note_id)
        ]


def counts(report: VaultReport) -> dict[str, Any]:
    """What of a report is not as in one of nothing."""
    names = ("new", "changed", "moved", "unchanged", "deleted", "kept", "refused", "left_out")
    found = {name: getattr(report, name) for name in names}
    return {name: value for name, value in found.items() if value != getattr(NOTHING, name)}


def test_a_folder_becomes_notes(application: Application, vault: Path) -> None:
    report = take_in(application, vault)
    assert counts(report) == {"new": ("a.md", "b.md", "sub/c.md")}
    assert (report.folder, report.links, report.unresolved) == (str(vault), 4, 1)
    found = by_path(application)
    assert {path: (note.title, note.tags) for path, note in found.items()} == {
        "a.md": ("a", ("x",)),
        "b.md": ("Bee", ()),
        "sub/c.md": ("c", ("deep/tag",)),
    }
    note = found["b.md"]
    assert (note.body, note.slug, note.project_name) == ("# Bee\n\nBack to [[a]].", "b", "vault")
    assert (note.source_type, note.embedding_status) == ("markdown", "pending")
    assert note.created_at == note.updated_at == "2023-11-14 22:13:20"
    a, b, c = (found[path].id for path in ("a.md", "b.md", "sub/c.md"))
    assert targets(application, a) == [("b", b), ("later", None)]
    assert targets(application, b) == [("a", a)]
    assert targets(application, c) == [("../a.md", a)]
    listed = application.flask().test_client().get("/api/conversations").get_json()
    assert listed["data"]["total"] == 0
    assert note.conversation_id.startswith("note:")


def swap(path: Path) -> None:
    """Put other bytes in the place of a file's, which nobody notices who does not read them."""
    status = path.stat()
    path.write_bytes(bytes(reversed(path.read_bytes())))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_second_run_reads_and_changes_nothing(application: Application, vault: Path) -> None:
    take_in(application, vault)
    before = dump(application)
    swap(vault / "a.md")
    assert counts(take_in(application, vault)) == {"unchanged": 3}
    assert dump(application) == before


def test_a_file_of_this_moment_is_read_again(application: Application, vault: Path) -> None:
    (vault / "a.md").write_text("one")
    take_in(application, vault)
    status = (vault / "a.md").stat()
    (vault / "a.md").write_text("two")
    os.utime(vault / "a.md", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert take_in(application, vault).changed == ("a.md",)


def test_a_touched_file_is_read_once_more_and_then_no_more(
    application: Application, vault: Path
) -> None:
    take_in(application, vault)
    os.utime(vault / "a.md", (LONG_AGO + 9, LONG_AGO + 9))
    assert counts(take_in(application, vault)) == {"unchanged": 3}
    swap(vault / "a.md")
    assert counts(take_in(application, vault)) == {"unchanged": 3}


def test_a_changed_file_changes_its_note(application: Application, vault: Path) -> None:
    take_in(application, vault)
    before = by_path(application)["a.md"]
    write(vault / "a.md", "---\ntitle: New\ntags: [y]\nproject: p\n---\n[[c]]", age=60)
    assert counts(take_in(application, vault)) == {"changed": ("a.md",), "unchanged": 2}
    after = by_path(application)["a.md"]
    assert (after.id, after.title, after.tags, after.project_name) == (
        before.id,
        "New",
        ("y",),
        "p",
    )
    assert (after.created_at, after.updated_at) == (before.created_at, "2023-11-14 22:14:20")
    assert targets(application, after.id) == [("c", by_path(application)["sub/c.md"].id)]


def test_a_changed_note_is_embedded_anew_and_an_unchanged_one_is_not(
    application: Application, provider: StubProvider, vault: Path
) -> None:
    take_in(application, vault)
    application.batches.embed_many(application.batches.unembedded())
    write(vault / "a.md", "wholly other words", age=60)
    write(vault / "b.md", "---\nauthor: someone\n---\n# Bee\n\nBack to [[a]].", age=60)
    assert take_in(application, vault).changed == ("a.md", "b.md")
    assert application.batches.unembedded() == (by_path(application)["a.md"].id,)
    kept = "SELECT count(*) FROM embeddings JOIN notes ON notes.id = note_id WHERE path = "
    assert rows(application, f"{kept}'a.md'") == [(0,)]
    assert rows(application, f"{kept}'b.md'") != [(0,)]
    application.batches.embed_many(application.batches.unembedded())
    assert by_path(application)["a.md"].id in found_ids(ask(application, "wholly other words"))


def test_a_moved_file_keeps_its_note_and_the_links_to_it(
    application: Application, vault: Path
) -> None:
    take_in(application, vault)
    before = by_path(application)
    (vault / "deep").mkdir()
    shutil.move(vault / "b.md", vault / "deep" / "renamed.md")
    report = take_in(application, vault)
    assert counts(report) == {"moved": (Moved("b.md", "deep/renamed.md"),), "unchanged": 2}
    after = by_path(application)
    assert after["deep/renamed.md"].id == before["b.md"].id
    assert after["deep/renamed.md"].slug == "deeprenamed"
    assert targets(application, before["a.md"].id)[0] == ("b", before["b.md"].id)
    assert counts(take_in(application, vault)) == {"unchanged": 3}


def test_a_note_called_by_its_file_is_renamed_with_it(
    application: Application, vault: Path
) -> None:
    take_in(application, vault)
    shutil.move(vault / "a.md", vault / "z.md")
    take_in(application, vault)
    assert by_path(application)["z.md"].title == "z"


def test_of_two_equal_files_each_keeps_its_note_by_its_name(
    application: Application, vault: Path
) -> None:
    for name in ("one.md", "two.md"):
        write(vault / "old" / name, "the same")
    take_in(application, vault)
    before = by_path(application)
    shutil.move(vault / "old", vault / "new")
    report = take_in(application, vault)
    assert report.moved == (
        Moved("old/one.md", "new/one.md"), Moved("old/two.md", "new/two.md"),
    )  # fmt: skip
    after = by_path(application)
    assert after["new/one.md"].id == before["old/one.md"].id


def test_a_copy_is_a_note_of_its_own(application: Application, vault: Path) -> None:
    take_in(application, vault)
    shutil.copy2(vault / "a.md", vault / "copy.md")
    assert counts(take_in(application, vault)) == {"new": ("copy.md",), "unchanged": 3}


def test_files_that_are_gone_are_told_of_and_removed_only_when_asked(
    application: Application, vault: Path
) -> None:
    take_in(application, vault)
    before = by_path(application)
    (vault / "b.md").unlink()
    for _ in range(2):
        assert counts(take_in(application, vault)) == {"deleted": ("b.md",), "unchanged": 2}
    assert by_path(application) == before
    report = take_in(application, vault, prune=True)
    assert (report.deleted, report.is_pruned, report.unresolved) == (("b.md",), True, 2)
    assert set(by_path(application)) == {"a.md", "sub/c.md"}
    assert targets(application, before["a.md"].id)[0] == ("b", None)
    assert rows(application, "SELECT count(*) FROM conversations") == [(2,)]
    assert counts(take_in(application, vault, prune=True)) == {"unchanged": 2}


def test_a_file_that_comes_back_after_it_was_removed_answers_to_its_links(
    application: Application, vault: Path
) -> None:
    take_in(application, vault)
    (vault / "b.md").unlink()
    take_in(application, vault, prune=True)
    write(vault / "b.md", "again")
    take_in(application, vault)
    found = by_path(application)
    assert targets(application, found["a.md"].id)[0] == ("b", found["b.md"].id)


def test_what_was_edited_here_is_not_overwritten_unless_asked(
    application: Application, vault: Path
) -> None:
    take_in(application, vault)
    note = by_path(application)["a.md"]
    application.writer.edit_note(note.id, NotePatch({"summary": "Mine."}))
    assert counts(take_in(application, vault)) == {"unchanged": 3}
    write(vault / "a.md", "Theirs.", age=60)
    for _ in range(2):
        assert counts(take_in(application, vault)) == {"kept": ("a.md",), "unchanged": 2}
    assert by_path(application)["a.md"].summary == "Mine."
    assert take_in(application, vault, overwrites=True).changed == ("a.md",)
    after = by_path(application)["a.md"]
    assert (after.summary, after.is_edited) == ("Theirs.", False)
    assert counts(take_in(application, vault)) == {"unchanged": 3}


def test_an_edited_note_moves_with_its_file_and_is_not_pruned(
    application: Application, vault: Path
) -> None:
    take_in(application, vault)
    note = by_path(application)["a.md"]
    application.writer.edit_note(note.id, NotePatch({"title": "Mine"}))
    shutil.move(vault / "a.md", vault / "z.md")
    assert take_in(application, vault).moved == (Moved("a.md", "z.md"),)
    assert by_path(application)["z.md"].title == "Mine"
    (vault / "z.md").unlink()
    report = take_in(application, vault, prune=True)
    assert (report.deleted, report.kept) == ((), ("z.md",))
    assert "z.md" in by_path(application)
    assert take_in(application, vault, prune=True, overwrites=True).deleted == ("z.md",)
    assert "z.md" not in by_path(application)


def test_a_path_that_was_edited_here_leaves_the_file_known(
    application: Application, vault: Path
) -> None:
    take_in(application, vault)
    note = by_path(application)["a.md"]
    application.writer.edit_note(note.id, NotePatch({"path": "elsewhere/x.md"}))
    assert counts(take_in(application, vault)) == {"unchanged": 3}


def test_two_vaults_lie_side_by_side(application: Application, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write(tmp_path / name / "Home.md", "[[Topic]] [[Only two]]")
        write(tmp_path / name / "Topic.md", f"of {name}")
    write(tmp_path / "two" / "Only two.md", "x")
    take_in(application, tmp_path / "one")
    take_in(application, tmp_path / "two")
    assert counts(take_in(application, tmp_path / "one", prune=True)) == {"unchanged": 2}
    found = rows(
        application,
        "SELECT c.project_name, link.target, t.project_name FROM note_links AS link"
        " JOIN notes AS n ON n.id = link.source_note_id"
        " JOIN conversations AS c ON c.id = n.conversation_id"
        " JOIN notes AS m ON m.id = link.target_note_id"
        " JOIN conversations AS t ON t.id = m.conversation_id ORDER BY 1, 2",
    )
    assert found == [
        ("one", "Only two", "two"), ("one", "Topic", "one"),
        ("two", "Only two", "two"), ("two", "Topic", "two"),
    ]  # fmt: skip


def test_a_note_made_here_and_a_file_find_each_other(application: Application, vault: Path) -> None:
    mine = application.writer.create_note(NoteDraft("later", "", body="[[Bee]]"))
    take_in(application, vault)
    found = by_path(application)
    assert targets(application, found["a.md"].id)[1] == ("later", mine)
    assert targets(application, mine) == [("Bee", found["b.md"].id)]


BAD = {
    "large.md": (b"x" * (LARGEST_FILE + 1), "it is larger than 10 MB"),
    "noise.md": (b"\x00\x01" * 500, "its encoding is not known, or it is no text"),
    "log.chat": (b"\x1f\x8b\x08broken", "it is damaged and cannot be unpacked"),
}


def test_bad_files_are_refused_by_name_and_the_rest_imported(
    application: Application, vault: Path
) -> None:
    for name, (data, _) in BAD.items():
        write(vault / name, data)
    (vault / "out.md").symlink_to("/etc/hostname")
    report = take_in(application, vault)
    assert report.refused == tuple(LeftOut(name, BAD[name][1]) for name in sorted(BAD))
    assert report.left_out == (LeftOut("out.md", LINK),)
    assert report.new == ("a.md", "b.md", "sub/c.md")


def test_a_note_stays_when_its_file_can_no_longer_be_read(
    application: Application, vault: Path
) -> None:
    take_in(application, vault)
    write(vault / "a.md", b"x" * (LARGEST_FILE + 1), age=60)
    write(vault / "b.md", b"\x00\x01" * 500, age=60)
    report = take_in(application, vault, prune=True)
    assert [each.path for each in report.refused] == ["a.md", "b.md"]
    assert report.deleted == ()
    assert set(by_path(application)) == {"a.md", "b.md", "sub/c.md"}


def test_files_that_are_ignored_by_now_count_as_gone(application: Application, vault: Path) -> None:
    take_in(application, vault)
    write(vault / ".crystalignore", "sub/\n")
    assert take_in(application, vault).deleted == ("sub/c.md",)


def test_folders_of_the_settings_are_left_out(provider: StubProvider, tmp_path: Path) -> None:
    write(tmp_path / "vault" / "agent" / "x.md", "x")
    write(tmp_path / "vault" / "y.md", "y")
    values = stub_values(provider) | {"vault.left_out": "agent, other"}
    with opened(tmp_path / "data", values) as application:
        assert take_in(application, tmp_path / "vault").new == ("y.md",)


def test_a_dry_run_counts_and_changes_nothing(application: Application, vault: Path) -> None:
    take_in(application, vault)
    note = by_path(application)["b.md"]
    application.writer.edit_note(note.id, NotePatch({"summary": "Mine."}))
    write(vault / "a.md", "changed", age=60)
    write(vault / "b.md", "changed too", age=60)
    write(vault / "new.md", "new")
    shutil.move(vault / "sub" / "c.md", vault / "c.md")
    before = dump(application)
    rehearsed = take_in(application, vault, is_dry_run=True, prune=True)
    assert dump(application) == before
    assert rehearsed.is_dry_run
    done = take_in(application, vault, prune=True)
    assert counts(rehearsed) == counts(done)
    assert done.kept == ("b.md",)


def test_two_imports_at_once_make_no_note_twice(application: Application, tmp_path: Path) -> None:
    vault, count = tmp_path / "vault", importing.BATCH + 1
    for number in range(count):
        write(vault / f"{number}.md", str(number))
    others: list[VaultReport] = []

    def meanwhile(done: int, total: int) -> None:
        if not others:
            others.append(take_in(application, vault))

    mine = application.vaults.import_folder(VaultRequest(vault), meanwhile)
    assert (len(mine.new), len(others[0].new)) == (importing.BATCH, 1)
    assert len(by_path(application)) == count


def test_progress_is_told_of_files_that_must_be_read(
    application: Application, tmp_path: Path
) -> None:
    for number in range(importing.BATCH + 1):
        write(tmp_path / "vault" / f"{number}.md", str(number))
    told: list[tuple[int, int]] = []
    request = VaultRequest(tmp_path / "vault")
    application.vaults.import_folder(request, lambda done, total: told.append((done, total)))
    assert told == [(importing.BATCH, importing.BATCH + 1), (importing.BATCH + 1,) * 2]


def test_a_missing_folder_removes_nothing(application: Application, vault: Path) -> None:
    take_in(application, vault)
    shutil.rmtree(vault)
    with pytest.raises(ImportFailed):
        take_in(application, vault, prune=True)
    assert len(by_path(application)) == 3


def test_an_export_recognises_its_files_where_it_is_taken_in(
    application: Application, provider: StubProvider, vault: Path, tmp_path: Path
) -> None:
    take_in(application, vault)
    with opened(tmp_path / "other", stub_values(provider)) as other:
        assert not other.importer.import_records(records_of(lines_of(application))).refused
        assert counts(take_in(other, vault)) == {"unchanged": 3}


def test_the_fixture_vault(application: Application, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    shutil.copytree(FIXTURE, vault)
    report = take_in(application, vault)
    assert len(report.new) == 73
    assert (report.refused, report.warnings, report.without_text) == (
        (), (), ("diagrams/systems.png",),
    )  # fmt: skip
    found = by_path(application)
    assert not {path for path in found if path.startswith(("drafts/", "."))}
    with application.database.read() as connection:
        names = links.unresolved(connection, [note.id for note in found.values()])
    assert sorted(name for each in names.values() for name in each) == [
        "ADR 0012 Monorepo.md", "Catastrophic backtracking", "First week checklist",
        "Read replicas", "VAT", "布隆过滤器",
    ]  # fmt: skip
    home = targets(application, found["Home.md"].id)
    assert [number for _, number in home] == [
        found[path].id
        for path in (
            "Systems.md", "Onboarding.md", "Incidents.md", "db/Postgres.md", "db/SQLite.md",
            "db/Redis.md", "dev/CI pipeline.md", "ops/Deployments.md", "dev/Feature flags.md",
            "中文/索引.md",
        )
    ]  # fmt: skip
    assert found["中文/旧系统迁移.md"].title == "旧系统迁移"
    assert "\r" not in (found["dev/Windows line ends.md"].body or "")
    assert found["logs/gateway-503.chat"].title == "Gateway answers 503 during deploys"
    assert counts(replace(take_in(application, vault), unchanged=0)) == {}


def test_without_the_extra_it_is_said_once_how_pdf_files_are_read(
    application: Application, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    write(vault / "one.pdf", b"%PDF-1.4")
    write(vault / "two.pdf", b"%PDF-1.5")
    report = take_in(application, vault)
    assert report.warnings == (
        LeftOut(
            "2 PDF files",
            "they are found by their names alone; to read them: "
            "pip install 'chatcrystal-search[pdf]'",
        ),
    )
    assert report.without_text == ("one.pdf", "two.pdf")
    assert by_path(application)["one.pdf"].title == "one.pdf"
