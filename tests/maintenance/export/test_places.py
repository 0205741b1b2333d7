"""Targets appear whole or not at all, and nothing that others wrote is lost."""

import json
from pathlib import Path

import pytest

from app.domain.notes import NoteDraft, NotePatch
from app.errors import ExportFailed
from app.factory import Application
from app.maintenance.export.formats import FORMATS, FileFormat, export_to_stream
from app.maintenance.export.places import MANIFEST, STAGING, new_file, new_folder
from app.maintenance.export.source import opened, reading
from tests.maintenance.export.library import export, lines_of
from tests.support.databases import DATABASES

Files = dict[str, bytes]


def files_of(folder: Path) -> Files:
    """The content of every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def refused(application: Application, name: str, path: Path) -> str:
    """The message by which an export is refused, which has changed nothing beside the path."""
    before = files_of(path.parent)
    with pytest.raises(ExportFailed) as caught:
        export(application, name, path)
    assert files_of(path.parent) == before
    return caught.value.message


@pytest.fixture
def vault(application: Application, tmp_path: Path) -> Path:
    """An exported folder of two notes."""
    for title in ("One", "Two"):
        application.writer.create_note(NoteDraft(title, "cos=0.5", project="atlas"))
    folder = tmp_path / "out" / "vault"
    folder.parent.mkdir()
    export(application, "markdown", folder)
    return folder


def test_a_file_is_replaced_only_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "export.jsonl"
    target.write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), new_file(target) as stream:
        stream.write(b"half")
        raise ZeroDivisionError
    assert files_of(tmp_path) == {"export.jsonl": b"before"}
    with new_file(target) as stream:
        stream.write(b"whole")
    assert files_of(tmp_path) == {"export.jsonl": b"whole"}


def test_a_link_keeps_leading_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "real" / "file.jsonl")
    with new_file(link) as stream:
        stream.write(b"whole")
    assert link.is_symlink()
    assert files_of(tmp_path / "real") == {"file.jsonl": b"whole"}


@pytest.mark.parametrize("exists", [False, True], ids=["missing", "empty"])
def test_a_folder_that_fails_stays_as_it_was(tmp_path: Path, exists: bool) -> None:
    target = tmp_path / "vault"
    if exists:
        target.mkdir()
    with pytest.raises(ZeroDivisionError), new_folder(target, "markdown") as folder:
        (folder / "a.md").write_bytes(b"half")
        raise ZeroDivisionError
    assert target.exists() == exists
    assert files_of(tmp_path) == {}


def test_what_an_export_left_when_it_was_killed_is_swept_up(tmp_path: Path) -> None:
    (tmp_path / STAGING).mkdir()
    (tmp_path / STAGING / "half.md").write_bytes(b"half")
    with new_folder(tmp_path, "markdown") as folder:
        (folder / "a.md").write_bytes(b"whole")
    assert set(files_of(tmp_path)) == {"a.md", MANIFEST}
    assert not (tmp_path / STAGING).exists()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("place", ["missing/x", "file/x"])
def test_a_target_that_cannot_be_written_is_refused_in_one_line(
    golden: Application, tmp_path: Path, name: str, place: str
) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(ExportFailed) as caught:
        export(golden, name, tmp_path / place)
    assert caught.value.message.startswith(f"{tmp_path / place} cannot be written: ")
    assert "\n" not in caught.value.message
    assert files_of(tmp_path) == {"file": b"mine"}


def test_a_folder_is_no_file_and_a_file_no_folder(golden: Application, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"mine")
    assert "cannot be written" in refused(golden, "jsonl", tmp_path / "folder")
    assert "cannot be written" in refused(golden, "markdown", tmp_path / "file")


def test_a_stream_that_cannot_be_written_is_refused(golden: Application, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    chosen = FORMATS["jsonl"]
    assert isinstance(chosen, FileFormat)
    with (
        (tmp_path / "file").open("rb") as stream,
        reading(golden.database) as source,
        pytest.raises(ExportFailed, match="The output cannot be written"),
    ):
        export_to_stream(source, chosen, stream, lambda _: None)


def test_a_missing_database_is_not_made(tmp_path: Path) -> None:
    with (
        pytest.raises(ExportFailed, match="There is nothing to export"),
        opened(f"sqlite:///{tmp_path / 'crystal.db'}"),
    ):
        pass
    assert files_of(tmp_path) == {}


def test_an_opened_database_is_what_is_there(golden: Application) -> None:
    with (
        opened(DATABASES.url_of(golden.settings.data_dir)) as database,
        reading(database) as source,
    ):
        assert source.sizes["notes"] == 44


@pytest.mark.parametrize("name", ["markdown", "chatcrystal"])
def test_a_folder_with_files_of_others_is_refused(
    golden: Application, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "notes.txt").write_bytes(b"mine")
    assert "is not empty and was not made by an export" in refused(golden, name, folder)


def test_a_folder_of_another_form_is_refused(application: Application, vault: Path) -> None:
    assert "was not made by an export of this form" in refused(application, "chatcrystal", vault)


def test_the_same_data_give_the_same_bytes(application: Application, vault: Path) -> None:
    before = files_of(vault)
    export(application, "markdown", vault)
    export(application, "markdown", vault.parent / "other")
    assert files_of(vault) == files_of(vault.parent / "other") == before


def test_an_earlier_export_is_brought_up_to_date(application: Application, vault: Path) -> None:
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian" / "app.json").write_bytes(b"{}")
    (vault / "atlas" / "mine.md").write_bytes(b"mine")
    (vault / "atlas" / "two-2.md").unlink()
    application.writer.edit_note(1, NotePatch({"title": "Other", "project": "new"}))
    application.writer.delete_note(2)
    export(application, "markdown", vault)
    found = files_of(vault)
    assert set(found) == {".obsidian/app.json", "atlas/mine.md", "new/other-1.md", MANIFEST}
    assert b"# Other" in found["new/other-1.md"]
    (vault / "atlas" / "mine.md").unlink()
    (vault / "atlas").rmdir()
    application.writer.delete_note(1)
    export(application, "markdown", vault)
    assert set(files_of(vault)) == {".obsidian/app.json", MANIFEST}
    assert not (vault / "new").exists()


def test_a_changed_page_is_not_overwritten(application: Application, vault: Path) -> None:
    (vault / "atlas" / "one-1.md").write_bytes(b"my own words")
    message = refused(application, "markdown", vault)
    assert "one-1.md has been changed since it was exported: move it away" in message
    (vault / "atlas" / "two-2.md").write_bytes(b"my own words")
    assert "and so are 1 more" in refused(application, "markdown", vault)


def test_a_page_of_others_is_not_overwritten(application: Application, vault: Path) -> None:
    application.writer.create_note(NoteDraft("Three", "cos=0.5", project="atlas"))
    (vault / "atlas" / "three-3.md").write_bytes(b"mine")
    assert "three-3.md is in the way" in refused(application, "markdown", vault)


def test_a_file_in_place_of_a_folder_is_not_overwritten(
    application: Application, vault: Path
) -> None:
    application.writer.create_note(NoteDraft("Three", "cos=0.5", project="other"))
    (vault / "other").write_bytes(b"mine")
    assert "three-3.md is in the way" in refused(application, "markdown", vault)


@pytest.mark.parametrize(
    "manifest",
    [
        b"no JSON",
        b"[]",
        b'{"format": "markdown"}',
        b'{"format": "markdown", "files": {"../../own.txt": "x"}}',
        b'{"format": "markdown", "files": {"/own.txt": "x"}}',
    ],
    ids=["damaged", "list", "no-files", "above", "absolute"],
)
def test_a_list_that_no_export_wrote_is_not_believed(
    application: Application, vault: Path, manifest: bytes
) -> None:
    (vault / MANIFEST).write_bytes(manifest)
    assert "was not made by an export" in refused(application, "markdown", vault)


def test_the_list_names_every_file(vault: Path) -> None:
    content = json.loads((vault / MANIFEST).read_bytes())
    assert content["format"] == "markdown"
    assert list(content["files"]) == ["atlas/one-1.md", "atlas/two-2.md"]


def test_a_file_export_is_what_a_stream_gets(golden: Application, tmp_path: Path) -> None:
    report = export(golden, "jsonl", tmp_path / "export.jsonl")
    assert (tmp_path / "export.jsonl").read_bytes() == lines_of(golden)
    assert report.counts == {
        "tags": 34,
        "conversations": 49,
        "messages": 12,
        "notes": 44,
        "relations": 24,
        "links": 0,
    }
    assert report.warnings == ()
