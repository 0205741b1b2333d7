"""The check of the index: whether what processes load instead of rows is what the rows say.

Owns the comparison of snapshots with the database, number by number.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.db import changes, chunks, spaces
from app.domain.changes import IndexState
from app.embedding.scale import centre_passages, means_of
from app.index import snapshot
from app.index.faiss_flat import FlatIndex
from app.index.planes import as_held
from app.index.snapshot import SUFFIX, Snapshot
from app.maintenance.doctor.checks import Check, Patient, counted, found
from app.mirror import held_vectors, shared_vectors
from app.mirror.backends import SNAPSHOTS

INDEX = "index"


def examine(connection: Connection, folder: Path) -> Check:
    """Compare the snapshots that a server would load with the rows that they were made from.

    What changed since then is left out: a server takes it from the change feed. Snapshots of
    another database or form are left out as well, for no server loads them.
    """
    counts = [unlike for _, unlike in _compared(connection, folder)]
    message = f"{counted(sum(counts), 'vector')} in snapshots of an index, not as in the database"
    return found(INDEX, sum(counts), message)


def remove_unlike(patient: Patient) -> int:
    """Delete snapshots that are not as the database; the server makes them anew."""
    with patient.database.read() as connection:
        paths = [path for path, unlike in _compared(connection, patient.folder) if unlike]
    for path in paths:
        path.unlink(missing_ok=True)
    return len(paths)


def _compared(connection: Connection, folder: Path) -> list[tuple[Path, int]]:
    """Return the snapshots that can be compared, with the number of vectors that differ."""
    state = changes.state(connection)
    counts = []
    for path in sorted((folder / SNAPSHOTS).glob(f"*{SUFFIX}")):
        # One that cannot be read is told of by the check of snapshots.
        with suppress(OSError, ValueError, KeyError, TypeError):
            kept, label = snapshot.load_any(path), snapshot.read_manifest(path)["label"]
            if not len(kept.damaged()):
                counts.append((path, _unlike(connection, kept, label, state)))
    return counts


def _unlike(
    connection: Connection, kept: Snapshot, label: Mapping[str, Any], state: IndexState
) -> int:
    """Count the vectors that only the snapshot or only the database has, or each its own."""
    space_id, kind = label["space_id"], label["kind"]
    space = spaces.known(connection, space_id)
    if space is None or not state.trimmed_to <= kept.sequence <= state.sequence:
        return 0
    means = means_of(space.spec)
    if label["epoch"] != state.epoch or label["means"] != held_vectors.digest(means):
        return 0
    entries = shared_vectors.of_label(changes.since(connection, kept.sequence), space_id, kind)
    touched = np.array(sorted({entry.target_id for entry in entries}), dtype=np.int64)
    only_here = np.isin(kept.index.every_id(), touched, invert=True).sum()
    only_there = different = 0
    for batch in chunks.all_vectors(connection, space_id, kind, label["dimension"]):
        is_old = np.isin(batch.ids, touched, invert=True)
        vectors = centre_passages(batch.vectors, batch.has_han, means)[is_old]
        present, alike = _agreement(kept.index, batch.ids[is_old], vectors)
        only_here -= present
        only_there += int(is_old.sum()) - present
        different += present - alike
    return int(only_here + only_there + different)


def _agreement(
    index: FlatIndex, ids: NDArray[np.int64], vectors: NDArray[np.float32]
) -> tuple[int, int]:
    """Return how many of these vectors the index has, and how many of them are the same."""
    present = alike = 0
    for segment in index.segments:
        is_here = np.isin(ids, segment.living_ids)
        held = segment.core.planes.take(segment.core.positions(ids[is_here]))
        expected = as_held(vectors[is_here], index.form.precision)
        present += len(held)
        alike += int((held == expected).all(axis=1).sum())
    return present, alike
