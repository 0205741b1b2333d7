"""The check of snapshots: whether each is whole, and how exact the graphs in it are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from app.index import snapshot
from app.index.recall import recall
from app.index.snapshot import SUFFIX, Snapshot
from app.maintenance.doctor.checks import Check, Patient, counted, found
from app.mirror.backends import SNAPSHOTS

SNAPSHOT = "snapshots"
RECALL = "hnsw_recall"


def examine(folder: Path) -> Iterator[Check]:
    """Read every snapshot; a damaged one is only slow, for the server makes it anew."""
    snapshots = dict(_snapshots(folder))
    spoilt = len(_spoilt(folder, snapshots))
    message = f"{counted(spoilt, 'snapshot')} damaged or left half written; the server does without"
    yield found(SNAPSHOT, spoilt, message)
    graphs = {
        path.name.removesuffix(SUFFIX): recall(kept.index)
        for path, kept in snapshots.items()
        if kept is not None and any(each.core.graph for each in kept.index.segments)
    }
    if graphs:
        told = ", ".join(f"{name} {value:.3f}" for name, value in graphs.items())
        yield Check(RECALL, True, len(graphs), f"of the exact best ten, graphs find: {told}")


def remove_spoilt(patient: Patient) -> int:
    """Delete snapshots that are damaged, and what was left half written."""
    spoilt = _spoilt(patient.folder, dict(_snapshots(patient.folder)))
    for path in spoilt:
        path.unlink(missing_ok=True)
    return len(spoilt)


def _spoilt(folder: Path, snapshots: dict[Path, Snapshot | None]) -> list[Path]:
    damaged = [path for path, kept in snapshots.items() if kept is None or len(kept.damaged())]
    return damaged + snapshot.abandoned(folder / SNAPSHOTS)


def _snapshots(folder: Path) -> Iterator[tuple[Path, Snapshot | None]]:
    for path in sorted((folder / SNAPSHOTS).glob(f"*{SUFFIX}")):
        kept = None
        with suppress(OSError, ValueError):
            kept = snapshot.load_any(path)
        yield path, kept
