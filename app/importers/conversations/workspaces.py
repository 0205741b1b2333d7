"""Workspaces of programs made of VS Code: which folder each stands for.

Owns the form of ``workspaceStorage``. Must not know what else a program keeps there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from app.importers.conversations.base import folders_in, path_of_address
from app.importers.conversations.lines import parsed

STATE = "state.vscdb"


def workspaces(user: Path) -> Iterator[tuple[Path, str]]:
    """Yield the workspaces of a user's folder, each with the folder that it stands for."""
    for folder in folders_in(user / "workspaceStorage"):
        yield folder, folder_of(folder)


def folder_of(workspace: Path) -> str:
    """Return the folder that a workspace stands for, empty when it is not known."""
    try:
        found = parsed((workspace / "workspace.json").read_bytes())
    except OSError:
        return ""
    if not isinstance(found, dict):
        return ""
    for key in ("folder", "workspace", "configuration"):
        if isinstance(found.get(key), str):
            path = path_of_address(found[key])
            # The file that lists the folders of a larger workspace stands beside them.
            return path if key == "folder" else str(PurePosixPath(path).parent)
    return ""
