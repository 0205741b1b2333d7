"""Keys of projects: by the git remote, the root, the folder; compatible with the original."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from app.importers.projects import project_key


def short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def repository(folder: Path, config: str) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(config)
    return folder


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:Me/Shop.git",
        "https://github.com/me/shop",
        "https://token@github.com/me/shop.git/",
        "ssh://git@github.com/me/shop.git",
    ],
)
def test_every_way_to_a_remote_is_one_project(tmp_path: Path, url: str) -> None:
    root = repository(tmp_path / "shop", f'[core]\n\turl = no\n[remote "origin"]\n\turl = {url}\n')
    below = root / "app" / "deep"
    below.mkdir(parents=True)
    assert project_key(str(below)) == f"git:{short('github.com/me/shop')}"


def test_origin_comes_before_other_remotes(tmp_path: Path) -> None:
    config = (
        '[remote "a"]\n url = https://x.y/a\n[remote "origin"]\n url = https://x.y/b\n'
        '[branch "main"]\n url = https://x.y/c\n'
    )
    root = repository(tmp_path / "one", config)
    assert project_key(str(root)) == f"git:{short('x.y/b')}"


def test_a_worktree_has_the_key_of_its_repository(tmp_path: Path) -> None:
    main = repository(tmp_path / "main", '[remote "origin"]\n\turl = https://x.y/z.git\n')
    inner = main / ".git" / "worktrees" / "side"
    inner.mkdir(parents=True)
    (inner / "commondir").write_text("../..\n")
    side = tmp_path / "side"
    side.mkdir()
    (side / ".git").write_text(f"gitdir: {inner}\n")
    assert project_key(str(side)) == project_key(str(main))


def test_without_a_remote_the_root_tells(tmp_path: Path) -> None:
    root = repository(tmp_path / "local", "[core]\n")
    assert project_key(str(root / "."), str(root)) == f"path:{short(root.as_posix())}"


@pytest.mark.parametrize(
    ("folder", "cwd", "expected"),
    [
        ("/not/here/shop", None, "/not/here/shop"),
        ("/not/here", "/not/here/shop/", "/not/here/shop"),
        ("C:\\dev\\shop", None, "C:/dev/shop"),
        (None, "relative/shop", "relative/shop"),
    ],
)
def test_a_folder_that_is_not_here_is_told_by_its_name(
    folder: str | None, cwd: str | None, expected: str
) -> None:
    assert project_key(folder, cwd) == f"cwd:{short(expected)}"


@pytest.mark.parametrize("folder", [None, "", "/a\x00b"])
def test_no_folder_is_no_fault(folder: str | None) -> None:
    found = project_key(folder)
    assert found is None or found.startswith("cwd:")
