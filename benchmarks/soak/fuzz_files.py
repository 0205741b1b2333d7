"""Files of other programs, damaged at random, brought in by commands.

Owns one trial of each importer: it ends soon, says what it refuses in one sentence, and leaves a
database in order.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import cycle
from pathlib import Path

from benchmarks.soak import checks, errands, templates
from benchmarks.soak.fuzz import MOST_SECONDS, PART
from benchmarks.soak.outcome import Part, Row
from benchmarks.soak.processes import Command, Place, running, until
from tests.support.hostile import BOMBS, DAMAGES, FRONT_MATTERS, INDEXES, spoil_cells

COMMAND_SECONDS = 300.0
FILES = 6
"""Files of a vault, each hostile or damaged."""

Spoil = Callable[[Path, random.Random], tuple[str, ...]]


def vault(folder: Path, chance: random.Random) -> tuple[str, ...]:
    """Make a vault; return the arguments that import it."""
    folder.mkdir()
    notes = sorted(templates.VAULT.rglob("*.*"))
    for number in range(FILES):
        path = folder / f"{number}.md"
        kind = chance.randrange(3)
        if kind == 0:
            path.write_bytes(chance.choice(sorted(FRONT_MATTERS.values())))
        elif kind == 1:
            path.write_bytes(chance.choice(sorted(BOMBS.values())).encode("utf-8", "replace"))
        else:
            source = chance.choice([note for note in notes if note.is_file()])
            path = folder / f"{number}-{source.name}"
            shutil.copy(source, path)
            if path.stat().st_size:
                chance.choice(sorted(DAMAGES.items()))[1](path, chance)
    return ("import", "markdown", str(folder), "--no-embed")


def original(source: Path, folder: Path, chance: random.Random) -> tuple[str, ...]:
    """Damage a copy of a data folder of the original."""
    shutil.copytree(source, folder)
    database, index = folder / "chatcrystal.db", folder / "vectra-index" / "index.json"
    kind = chance.randrange(5)
    if kind == 0:
        spoil_cells(database, chance)
    elif kind == 1:
        index.write_bytes(chance.choice(sorted(INDEXES.values())))
    elif kind == 2:
        (folder / "config.json").write_bytes(chance.choice(sorted(INDEXES.values())))
    else:
        damage = DAMAGES[chance.choice(sorted(DAMAGES))]
        damage(database if kind == 3 else index, chance)
    return ("import", "chatcrystal", str(folder))


def sessions(source: Path, folder: Path, chance: random.Random) -> tuple[str, ...]:
    """Damage some files of a copy of a home folder."""
    shutil.copytree(source, folder)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size]
    for path in chance.sample(files, min(FILES, len(files))):
        DAMAGES[chance.choice(sorted(DAMAGES))](path, chance)
    return ("import", "--home", str(folder))


def run(folder: Path, settings: Mapping[str, str], seconds: float, seed: int) -> Part:
    """Import damaged files for some seconds."""
    chance = random.Random(seed)
    folder.mkdir(mode=0o700)
    place = Place(folder / "data", settings)
    original_folder = templates.chatcrystal(folder / "original")
    home = templates.sessions(folder / "sessions")
    spoils: dict[str, Spoil] = {
        "vaults": vault,
        "folders of ChatCrystal": partial(original, original_folder),
        "sessions of tools": partial(sessions, home),
    }
    rows = {name: Row(PART, f"damaged {name}") for name in spoils}
    fine = _work(place, ("import", "chatcrystal", str(original_folder)))
    deadline = time.monotonic() + seconds
    for name, spoil in cycle(spoils.items()):
        rows[name].add(_tried(place, folder / "spoilt", spoil, chance, fine))
        if time.monotonic() > deadline:
            break
    return Part(tuple(rows.values()))


def _work(place: Place, arguments: tuple[str, ...]) -> float:
    """Import what is not damaged; return how many seconds that takes of a processor."""
    errands.renew(place, Path("nothing"))
    command = Command(place, *arguments, "--json")
    with running(command):
        until(lambda: bool(command.worked()) and command.has_ended, COMMAND_SECONDS)
    return command.worked()


def _tried(
    place: Place, spoilt: Path, spoil: Spoil, chance: random.Random, fine: float
) -> list[str]:
    errands.renew(place, Path("nothing"))
    shutil.rmtree(spoilt, ignore_errors=True)
    arguments = spoil(spoilt, chance)
    command = Command(place, *arguments, "--json")
    with running(command):
        ended = until(lambda: bool(command.worked()) and command.has_ended, COMMAND_SECONDS)
        printed, code = command.printed, command.wait(0)
    what = f"{' '.join(arguments)}: exit {code}: {printed[-400:]}"
    wrong = [] if ended and code in (0, 1) else [what]
    if "Traceback" in printed or "internal_error" in printed:
        wrong.append(what)
    if command.worked() - fine > MOST_SECONDS:
        wrong.append(f"{command.worked():.1f} s of work, undamaged {fine:.1f} s: {what}")
    return wrong + checks.of_files(place)
