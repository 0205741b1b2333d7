"""How long a vault takes to be imported, and again: ``python -m benchmarks.vault``.

The files are generated, the same at every run: front matter, sections in English and Chinese,
links and tags. Nothing is embedded. Figures are printed as JSON; ``seconds`` is the time on the
clock, ``processor_seconds`` what of it was work, which other programs on the machine do not change.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from app.domain.vaults import VaultReport, VaultRequest
from app.factory import build
from app.settings.store import load
from benchmarks.corpus import WORDS

FOLDERS = 100
SECTIONS = 4
WORDS_IN_SECTION = 60
LINKS_IN_SECTION = 2


def write_vault(folder: Path, count: int) -> int:
    """Write so many notes and return their length in characters."""
    chance = random.Random(0)
    size = 0
    for number in range(count):
        place = folder / f"folder {number % FOLDERS}"
        place.mkdir(exist_ok=True)
        text = _note(number, count, chance)
        size += (place / f"note {number}.md").write_text(text, encoding="utf-8")
    return size


def _note(number: int, count: int, chance: random.Random) -> str:
    sections = [_section(place, count, chance) for place in range(SECTIONS)]
    tags = f"[topic/{number % 40}, kind{number % 7}]"
    head = f"---\ntags: {tags}\naliases: [n{number}]\ncreated: 2026-01-01\n---\n"
    return f"{head}# Note {number}\n\n" + "\n\n".join(sections) + "\n"


def _section(place: int, count: int, chance: random.Random) -> str:
    words = chance.choices(WORDS, k=WORDS_IN_SECTION)
    return " ".join([f"## Section {place}\n\n", *words, *_links(count, chance), f"#t{place}"])


def _links(count: int, chance: random.Random) -> list[str]:
    return [f"[[note {chance.randrange(count)}|label]]" for _ in range(LINKS_IN_SECTION)]


def _timed(run: Callable[[], VaultReport]) -> tuple[VaultReport, dict[str, Any]]:
    start, work = time.perf_counter(), time.process_time()
    report = run()
    return report, {
        "seconds": round(time.perf_counter() - start, 2),
        "processor_seconds": round(time.process_time() - work, 2),
        "new": len(report.new),
        "unchanged": report.unchanged,
        "links": report.links,
        "unresolved": report.unresolved,
    }


def measure(count: int) -> dict[str, Any]:
    """Import a vault of so many files into an empty database, twice."""
    with TemporaryDirectory(prefix="crystal-vault-") as name:
        vault = Path(name, "vault")
        vault.mkdir()
        size = write_vault(vault, count)
        settings = load({"data_dir": str(Path(name, "data"))}, environment={})
        with closing(build(settings)) as application:
            request = VaultRequest(vault)
            _, first = _timed(lambda: application.vaults.import_folder(request))
            _, second = _timed(lambda: application.vaults.import_folder(request))
    return {"files": count, "characters": size, "first": first, "second": second}


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    print(json.dumps(measure(parser.parse_args().count), indent=2))


if __name__ == "__main__":
    main()
