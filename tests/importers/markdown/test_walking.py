"""Which files of a folder are found: hidden, ignored and linked ones are not, and none outside."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from app.errors import ImportFailed
from app.importers.markdown.walking import LINK, opened, read_bytes, walk


def make(folder: Path, *paths: str, text: str = "x") -> None:
    for path in paths:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def paths(folder: Path, *left_out: str) -> list[str]:
    return [file.path for file in walk(folder, left_out).files]


def test_every_file_is_found_in_the_order_of_paths(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.md", "a/b/c.pdf", "图/图.png", "no suffix")
    found = walk(tmp_path).files
    assert [file.path for file in found] == [
        "a/b/c.pdf",
        "a/z.md",
        "b.md",
        "no suffix",
        "图/图.png",
    ]
    status = (tmp_path / "b.md").stat()
    assert [(file.size, file.modified) for file in found if file.path == "b.md"] == [
        (status.st_size, status.st_mtime_ns)
    ]


def test_hidden_files_and_folders_are_skipped(tmp_path: Path) -> None:
    make(tmp_path, ".obsidian/app.json", ".hidden.md", "a/.git/config", "a/note.md")
    assert paths(tmp_path) == ["a/note.md"]


def test_folders_of_the_settings_are_left_out_by_name_and_by_path(tmp_path: Path) -> None:
    make(tmp_path, "node_modules/x.md", "a/node_modules/x.md", "copilot/logs/x.md", "b/logs/x.md")
    assert paths(tmp_path, "node_modules", "copilot/logs/") == ["b/logs/x.md"]


def test_rules_of_gitignore_hold_at_every_depth(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "sub/a.log", "sub/keep.log", "sub/deep/t.md", "other/t.md")
    make(tmp_path, "build/x.md", "sub/build/x.md")
    make(tmp_path, ".gitignore", text="# comment\n*.log\n/build/\n[broken\n")
    make(tmp_path, "sub/.gitignore", text="!keep.log\nt.md\n")
    assert paths(tmp_path) == ["other/t.md", "sub/build/x.md", "sub/keep.log"]


def test_crystalignore_goes_before_gitignore(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.md", "c.md")
    make(tmp_path, ".gitignore", text="a.md\nb.md\n")
    make(tmp_path, ".crystalignore", text="!a.md\nc.md\n")
    assert paths(tmp_path) == ["a.md"]


def test_no_link_is_followed_neither_in_circles_nor_out(tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    make(vault, "sub/note.md")
    make(outside, "secret.md")
    (vault / "out").symlink_to(outside)
    (vault / "secret.md").symlink_to(outside / "secret.md")
    (vault / "sub" / "up").symlink_to("..")
    (vault / "self").symlink_to("self")
    (vault / "nowhere.md").symlink_to("missing")
    (vault / ".gitignore").symlink_to(outside / "secret.md")
    found = walk(vault)
    assert [file.path for file in found.files] == ["sub/note.md"]
    assert [each.path for each in found.left_out] == [
        "nowhere.md", "out", "secret.md", "self", "sub/up",
    ]  # fmt: skip
    assert {each.reason for each in found.left_out} == {LINK}


def test_a_link_to_the_folder_itself_is_the_folder(tmp_path: Path) -> None:
    make(tmp_path / "vault", "a.md")
    (tmp_path / "link").symlink_to("vault")
    assert opened(tmp_path / "link") == (tmp_path / "vault").resolve()


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    make(tmp_path, "a.md")
    assert paths(tmp_path) == ["a.md"]
    with pytest.raises(OSError, match="no file"):
        read_bytes(tmp_path / "pipe.md", 10)


def test_a_file_that_became_a_link_is_not_read(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    (tmp_path / "link.md").symlink_to("a.md")
    with pytest.raises(OSError, match="symbolic"):
        read_bytes(tmp_path / "link.md", 10)


def test_a_file_is_read_up_to_a_size(tmp_path: Path) -> None:
    make(tmp_path, "a.md", text="12345")
    assert read_bytes(tmp_path / "a.md", 3) == b"123"


def test_names_are_composed_and_still_lead_to_their_files(tmp_path: Path) -> None:
    apart = unicodedata.normalize("NFD", "café.md")
    make(tmp_path, apart)
    found = walk(tmp_path)
    assert [file.path for file in found.files] == ["café.md"]
    assert found.names == {"café.md": apart}


def test_a_name_that_is_no_text_is_shown_and_still_leads_to_its_file(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/\xff.md"
    Path(os.fsdecode(raw)).write_text("x")
    found = walk(tmp_path)
    assert [file.path for file in found.files] == ["\ufffd.md"]
    assert (tmp_path / found.names["\ufffd.md"]).read_text() == "x"


def test_a_folder_that_cannot_be_looked_into_is_named(tmp_path: Path) -> None:
    # The whole path may be longer than the system takes, though no part of it is.
    here = os.getcwd()
    os.chdir(tmp_path)
    for _ in range(30):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    Path("note.md").write_text("x")
    os.chdir(here)
    found = walk(tmp_path)
    assert found.files == []
    assert [each.reason for each in found.unread] == ["File name too long"]


@pytest.mark.parametrize("name", ["missing", "file", "\x00", "loop"])
def test_what_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    make(tmp_path, "file")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ImportFailed, match="is no folder"):
        opened(tmp_path / name)


def test_a_deep_tree_is_walked_without_recursion(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(200):
        deep = deep / "d"
    make(deep, "note.md")
    assert paths(tmp_path) == ["d/" * 200 + "note.md"]
