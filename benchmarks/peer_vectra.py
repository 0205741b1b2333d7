"""vectra's index in a process of its own, as benchmarks/peers.py asks it.

Owns the installation from npm, once, into a folder that git ignores, and the talk with node.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

VERSION = "0.15.0"
SCRIPT = Path(__file__).with_name("vectra.cjs")
LIBRARY = Path(__file__).parents[1] / "build" / "peers"
HEAP_MB = 12_000
"""Else node gives up at 4 GB, which 100,000 vectors need."""


def install() -> None:
    """Install vectra with npm unless it is there.

    Raises:
        SystemExit: there is no npm, or it fails.
    """
    if (LIBRARY / "node_modules" / "vectra" / "package.json").exists():
        return
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("Comparing with vectra needs node and npm")
    LIBRARY.mkdir(parents=True, exist_ok=True)
    package = f"vectra@{VERSION}"
    command = [npm, "install", "--silent", "--no-fund", "--no-audit", "--ignore-scripts"]
    subprocess.run([*command, "--prefix", str(LIBRARY), package], check=True)


class Vectra:
    """A node process over one folder."""

    def __init__(self, folder: Path, vectors: Path, dimension: int) -> None:
        """Start it; ``vectors`` is a file of float32 rows."""
        command = ["node", f"--max-old-space-size={HEAP_MB}", str(SCRIPT), str(LIBRARY)]
        self._process = subprocess.Popen(
            [*command, str(folder), str(vectors), str(dimension)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._process.communicate()

    def do(self, name: str, **given: Any) -> dict[str, Any]:
        """Have something done; the answer has ``ms``, or ``failed`` with the reason."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": name, **given}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline() or '{"failed": "died"}')
        return answer
