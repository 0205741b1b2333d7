"""How good and how fast distilling is: ``python -m benchmarks.distill --json``.

The fixtures' sessions are written as each tool keeps them, imported, and distilled offline; the
notes are held against what is known of each session. Ends with one line of JSON: ``facts`` (share
of known facts that the notes carry), ``gate_precision``, ``gate_recall``, and ``top3`` (share of
paraphrased questions that find their note among the first three of ``hybrid``, without a cut).
With the extra ``quality`` the second model is weighed too, as in a server.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.db import distilling, notes
from app.distill.signatures import normalised
from app.domain.imports import ImportRequest
from app.domain.notes import Note
from app.domain.search import SearchRequest
from app.factory import Application, build
from app.settings.store import load
from app.text import has_han
from fixtures.conversations import build as sessions

RANKER = "hybrid"
TOP = 3
FACTS = Path(sessions.__file__).parent / "facts.json"


@dataclass(slots=True)
class Score:
    """Facts found and sought, by kind, and those that are missing."""

    found: Counter[str] = field(default_factory=Counter)
    sought: Counter[str] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)

    def add(self, kind: str, wanted: Iterable[str], has: Iterable[bool], name: str) -> None:
        """Count facts of a kind."""
        for fact, is_there in zip(wanted, has, strict=True):
            self.sought[kind] += 1
            self.found[kind] += is_there
            if not is_there:
                self.missing.append(f"{name}: {kind} {fact}")

    @property
    def share(self) -> float:
        """The share of all facts that was found."""
        return sum(self.found.values()) / max(sum(self.sought.values()), 1)


def carried(fact: Mapping[str, Any], note: Note, score: Score) -> None:
    """Hold a note against what is known of its session."""
    said = "\n".join((note.title, note.summary, *note.key_conclusions))
    errors = [each.lower() for each in note.error_signatures]
    name = fact["name"]
    score.add("fix", [fact["fix"]], [fact["fix"] in said], name)
    score.add("language", [fact["language"]], [has_han(note.summary) == (fact["language"] == "zh")],
              name)  # fmt: skip
    wanted = [normalised(each).lower() for each in fact["errors"]]
    score.add("errors", wanted, [any(each in own for own in errors) for each in wanted], name)
    score.add("files", fact["files"], [each in note.files_touched for each in fact["files"]], name)
    score.add("tags", fact["tags"], [each in note.tags for each in fact["tags"]], name)


def imported(folder: Path, home: Path, *, weighs_two: bool = True) -> Application:
    """Return an application over a folder that has imported the sessions below a home folder.

    Args:
        weighs_two: Whether the second model is used where the extra quality is installed.
    """
    given = {
        "data_dir": str(folder),
        "search.second_space": "true" if weighs_two else "false",
        "sources.home": str(home),
        "sources.generic": str(home / sessions.GENERIC),
    }
    application = build(load(given, environment={}))
    application.embedder.warm()
    application.conversations.run(ImportRequest())
    return application


def speed(application: Application, ids: Sequence[str]) -> dict[str, float]:
    """Distil all conversations; return how many a second, by the clock and by the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    report = application.knowledge.distiller.distil(ids)
    if report.reasons:
        raise SystemExit(f"could not be distilled: {report.reasons}")
    return {
        "conversations": len(ids),
        "per_second": len(ids) / (time.perf_counter() - clock),
        "per_processor_second": len(ids) / (time.process_time() - processor),
    }


def notes_by_conversation(application: Application) -> dict[str, Note]:
    """Return the notes that were made."""
    with application.database.read() as connection:
        found = notes.get_many(connection, notes.all_ids(connection))
    return {note.conversation_id: note for note in found}


def judged(facts: Sequence[Mapping[str, Any]], noted: Iterable[str]) -> dict[str, float]:
    """Return precision and recall of the gate: a note is what it lets pass."""
    passed = set(noted)
    wanted = {fact["id"] for fact in facts if fact["expected"] == "note"}
    right = len(passed & wanted)
    return {
        "gate_precision": right / max(len(passed), 1),
        "gate_recall": right / max(len(wanted), 1),
    }


def found_first(
    application: Application, facts: Sequence[Mapping[str, Any]], noted: Mapping[str, Note]
) -> tuple[float, list[str]]:
    """Return the share of questions that find their note, and those that do not."""
    application.companions.fill()
    if application.second_companions is not None:
        application.second_companions.fill()
    missed = []
    for fact in facts:
        request = SearchRequest(fact["question"], RANKER, cut=False)
        found = [each.note_id for each in application.searcher.search(request).found[:TOP]]
        if fact["id"] not in noted or noted[fact["id"]].id not in found:
            missed.append(fact["name"])
    return 1 - len(missed) / max(len(facts), 1), missed


def measure(
    facts_file: Path, home: Path | None, *, weighs_two: bool = True
) -> tuple[dict[str, Any], list[str]]:
    """Return all figures, and what is missing.

    Args:
        home: A folder with sessions as the tools keep them; those of the fixtures by default.
    """
    facts = json.loads(facts_file.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="distill-") as folder:
        if home is None:
            home = Path(folder, "home")
            sessions.build(home)
        application = imported(Path(folder, "data"), home, weighs_two=weighs_two)
        try:
            with application.database.read() as connection:
                ids = list(distilling.awaiting(connection))
            pace = speed(application, ids)
            noted = notes_by_conversation(application)
            worth = [fact for fact in facts if fact["expected"] == "note"]
            score = Score()
            for fact in worth:
                if fact["id"] in noted:
                    carried(fact, noted[fact["id"]], score)
                else:
                    score.missing.append(f"{fact['name']}: no note")
                    lists = {name: len(fact[name]) for name in ("errors", "files", "tags")}
                    score.sought.update(fix=1, language=1, **lists)
            top, missed = found_first(application, worth, noted)
        finally:
            application.close()
    by_kind = {kind: score.found[kind] / score.sought[kind] for kind in score.sought}
    figures = {"facts": score.share, **judged(facts, noted), "top3": top}
    missing = [*score.missing, *(f"{name}: its question does not find it" for name in missed)]
    return {**figures, "by_kind": by_kind, "pace": pace}, missing


def main() -> None:
    """Print the figures; with ``--json`` the four that are promised as the last line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=Path, default=FACTS, help="What is known of the sessions.")
    parser.add_argument("--home", type=Path, help="Folder with the sessions of --facts.")
    parser.add_argument("--one-model", action="store_true", help="Leave out the second model.")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--missing", action="store_true", help="List what the notes lack.")
    arguments = parser.parse_args()
    figures, missing = measure(arguments.facts, arguments.home, weighs_two=not arguments.one_model)
    if arguments.missing:
        print("\n".join(missing))
    kinds = ", ".join(f"{kind} {share:.3f}" for kind, share in figures["by_kind"].items())
    pace = figures["pace"]
    print(f"facts by kind: {kinds}")
    print(
        f"{pace['conversations']} conversations, {pace['per_second']:.1f} a second, "
        f"{pace['per_processor_second']:.1f} a second of one core"
    )
    promised = ("facts", "gate_precision", "gate_recall", "top3")
    if arguments.json:
        print(json.dumps({name: round(figures[name], 4) for name in promised}))
    else:
        print(", ".join(f"{name} {figures[name]:.3f}" for name in promised))


if __name__ == "__main__":
    main()
