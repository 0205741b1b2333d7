"""Which project a folder of this machine belongs to, as the original tells projects apart.

Owns the reading of a repository's own files. Must not run programs, or read anything else.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

LARGEST_CONFIG = 256 * 1024
HEX_DIGITS = 24

_SECTION = re.compile(r'^\s*\[remote\s+"([^"]+)"\]\s*$')
_OTHER_SECTION = re.compile(r"^\s*\[")
_URL = re.compile(r"^\s*url\s*=\s*(\S.*?)\s*$")
_SCP = re.compile(r"^(?:[^@/]+@)?([^:/]+):(?!//)(.+)$")


@lru_cache(maxsize=1024)
def project_key(project_dir: str | None, cwd: str | None = None) -> str | None:
    """Return the key of a project: by its git remote, else its root, else its folder.

    A folder that is not on this machine is told apart by its name alone.
    """
    for folder in (project_dir, cwd):
        root = _git_root(folder) if folder else None
        if root is not None:
            url = _remote_url(root)
            if url is not None:
                return f"git:{_short(_normalised(url))}"
            return f"path:{_short(root.as_posix())}"
    folder = cwd or project_dir
    return f"cwd:{_short(folder.replace(chr(92), '/').rstrip('/') or '/')}" if folder else None


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HEX_DIGITS]


def _git_root(folder: str) -> Path | None:
    try:
        start = Path(folder)
        if not start.is_absolute() or not start.is_dir():
            return None
        return next((each for each in (start, *start.parents) if (each / ".git").exists()), None)
    except (OSError, ValueError):
        return None


def _remote_url(root: Path) -> str | None:
    """Return the address of ``origin``, or of the first remote by name."""
    remotes: dict[str, str] = {}
    name = ""
    for line in _config(root).splitlines():
        if section := _SECTION.match(line):
            name = section[1]
        elif _OTHER_SECTION.match(line):
            name = ""
        elif name and (url := _URL.match(line)):
            remotes.setdefault(name, url[1])
    return remotes.get("origin") or next((remotes[key] for key in sorted(remotes)), None)


def _config(root: Path) -> str:
    git = root / ".git"
    try:
        if git.is_file():
            # A worktree or submodule: the file names the folder, which may share another's config.
            git = root / git.read_text("utf-8", "replace").removeprefix("gitdir:").strip()
            common = git / "commondir"
            if common.is_file():
                git = git / common.read_text("utf-8", "replace").strip()
        with (git / "config").open(encoding="utf-8", errors="replace") as file:
            return file.read(LARGEST_CONFIG)
    except (OSError, ValueError):
        return ""


def _normalised(url: str) -> str:
    """Return host and path of a remote, the same for every way to reach it."""
    bare = re.sub(r"\.git$", "", url.strip().rstrip("/"), flags=re.IGNORECASE)
    scp = _SCP.match(bare) if "://" not in bare else None
    if scp:
        return f"{scp[1].lower()}/{scp[2].strip('/').lower()}"
    try:
        parts = urlsplit(bare)
        return f"{(parts.hostname or '').lower()}/{parts.path.strip('/').lower()}"
    except ValueError:
        return bare.lower()
