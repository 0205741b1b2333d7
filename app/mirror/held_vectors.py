"""The vectors of a view: loaded from rows or from a snapshot, and brought up to date.

Owns how one process holds them, and what a snapshot must agree with. Must not hold state.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from app.db import changes, chunk_feeds, chunks
from app.domain.changes import OPERATION_ADD, Change
from app.embedding.scale import Means, centre_passages
from app.errors import DatabaseUnavailable
from app.index import snapshot
from app.index.core import PLAIN, Form
from app.index.faiss_flat import FlatIndex
from app.index.protocol import VectorIndex
from app.index.shared import SharedIndex
from app.index.snapshot import Label, Snapshot
from app.mirror import shared_vectors
from app.mirror.shared_vectors import Turn, WritableStore
from app.mirror.view import View

SNAPSHOT_ROWS = 20_000
"""Fewer vectors are read from their rows about as fast."""

GROWTH = 0.25
"""While a process runs, a snapshot is written anew when its index changed by such a share."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shared:
    """Vectors that all processes share: where those of a label are, and how to take a turn."""

    store_of: Callable[[Label], WritableStore]
    turn: Turn
    close: Callable[[], object] = bool


@dataclass(frozen=True, slots=True)
class Holding:
    """How vectors are held in memory, and the folder of snapshots, None for none.

    With ``shared`` none are: they are searched where they lie.

    ``on_mapped`` is told which part was loaded from which snapshot, nothing of it checked yet.
    """

    form: Form = PLAIN
    snapshots: Path | None = None
    on_mapped: Callable[[str, Snapshot], None] | None = None
    shared: Shared | None = None


IN_MEMORY = Holding()


@dataclass(frozen=True, slots=True)
class Delta:
    """The net effect of some entries: ids to drop and ids to read."""

    removed: frozenset[int]
    added: frozenset[int]


def net_effect(entries: Iterable[Change]) -> Delta:
    """Return what some entries, oldest first, come to."""
    last: Mapping[int, str] = {entry.target_id: entry.operation for entry in entries}
    added = frozenset(target for target, operation in last.items() if operation == OPERATION_ADD)
    return Delta(removed=frozenset(last) - added, added=added)


def loaded(connection: Connection, view: View, part: str, holding: Holding) -> VectorIndex:
    """Load an index as it stands at the view's state: from its snapshot, else from its rows.

    Raises:
        DatabaseUnavailable: a row is damaged or lost.
    """
    if holding.shared is not None:
        return _shared(view, part, holding.shared, view.state.sequence)
    kept = _usable_snapshot(view, part, holding)
    if kept is not None:
        if holding.on_mapped is not None:
            holding.on_mapped(part, kept)
        entries = changes.since(connection, kept.sequence)
        return followed(
            connection,
            view,
            part,
            kept.index,
            entries,
            sequence=view.state.sequence,
            holding=holding,
        )
    held = view.held_in(part)
    if held is None:
        raise ValueError(f"Nothing is held in {part}")
    (space, kind), means = held, view.means_for(part)
    dimension = space.spec.dimension or 0
    return FlatIndex.loaded(
        dimension,
        chunks.count(connection, space.id, kind),
        _batches(connection, space.id, kind, dimension, means),
        holding.form,
    )


def _batches(
    connection: Connection, space_id: int, kind: str, dimension: int, means: Means | None
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    for batch in chunks.all_vectors(connection, space_id, kind, dimension):
        yield batch.ids, centre_passages(batch.vectors, batch.has_han, means)
    # More are asked for than there are: those that were counted.
    raise DatabaseUnavailable(
        "The database is damaged, it counts more vectors than it holds; run: crystal doctor"
    )


def followed(
    connection: Connection,
    view: View,
    part: str,
    index: VectorIndex,
    entries: Iterable[Change],
    *,
    sequence: int,
    holding: Holding,
) -> VectorIndex:
    """Return the index after some entries of the feed, as far as they are of its part."""
    held = view.held_in(part)
    if held is None:
        return index
    delta = net_effect(shared_vectors.of_label(entries, held[0].id, held[1]))
    is_touched = bool(delta.added or delta.removed)
    if isinstance(index, SharedIndex) and holding.shared is not None:
        if is_touched or sequence - index.at > shared_vectors.LAG:
            return _shared(view, part, holding.shared, sequence)
        return replace(index, at=sequence)
    if not is_touched or not isinstance(index, FlatIndex):
        return index
    return _with_rows(connection, view, part, index, delta)


def _shared(view: View, part: str, shared: Shared, sequence: int) -> SharedIndex:
    label = _label(view, part, IN_MEMORY)
    if label is None:
        raise ValueError(f"Nothing is held in {part}")
    means = view.means_for(part)
    return shared_vectors.in_step(shared.store_of(label), label, means, shared.turn, sequence)


def _with_rows(
    connection: Connection, view: View, part: str, index: FlatIndex, delta: Delta
) -> VectorIndex:
    batch = chunks.vectors(connection, sorted(delta.added), index.dimension)
    vectors = centre_passages(batch.vectors, batch.has_han, view.means_for(part))
    return index.changed(np.array(sorted(delta.removed), dtype=np.int64), batch.ids, vectors)


def reread(connection: Connection, view: View, part: str, ids: NDArray[np.int64]) -> VectorIndex:
    """Return an index of the view with some of its vectors read from their rows again."""
    known, index = frozenset(ids.tolist()), view.vectors[part]
    if not isinstance(index, FlatIndex):
        return index
    return _with_rows(connection, view, part, index, Delta(known, known))


def differs(connection: Connection, view: View, part: str) -> bool:
    """Tell whether an index holds other ids than there are rows."""
    held, index = view.held_in(part), view.vectors.get(part)
    if held is None or not isinstance(index, FlatIndex):
        return False
    stored = chunk_feeds.every_id(connection, held[0].id, held[1])
    return not np.array_equal(stored, index.every_id())


def save(view: View, holding: Holding, *, only_if_grown: bool = False) -> None:
    """Write snapshots of the large indexes of a view, unless there are newer ones.

    Args:
        only_if_grown: Leave those alone that the feed brings up to date soon enough.
    """
    for part, index in view.vectors.items():
        label = _label(view, part, holding)
        if label is None or holding.snapshots is None or not isinstance(index, FlatIndex):
            continue
        path = holding.snapshots / label.file_name
        if index.count() < SNAPSHOT_ROWS or not _is_due(path, label, view, index, only_if_grown):
            continue
        try:
            snapshot.write(holding.snapshots, label, view.state.sequence, index)
        except OSError as error:
            _log.warning("no snapshot of %s is written: %s", part, error.strerror)


def _is_due(path: Path, label: Label, view: View, index: FlatIndex, only_if_grown: bool) -> bool:
    try:
        manifest = snapshot.read_manifest(path)
        segments = manifest["segments"]
        if manifest["label"] != label.to_json():
            return True
        graphs = sum(entry["graph"][1] > 0 for entry in segments)
        if graphs < sum(segment.core.graph is not None for segment in index.segments):
            return True
        grown = abs(index.count() - sum(entry["rows"] for entry in segments))
        is_older = manifest["sequence"] < view.state.sequence
        return bool(is_older and (not only_if_grown or grown > GROWTH * index.count()))
    except (OSError, ValueError, KeyError, TypeError):
        return True


def _usable_snapshot(view: View, part: str, holding: Holding) -> Snapshot | None:
    """Return the snapshot from which the feed leads to the view's state; None without one."""
    label = _label(view, part, holding)
    if label is None or holding.snapshots is None:
        return None
    kept = snapshot.load(holding.snapshots, label)
    if kept is None or not view.state.trimmed_to <= kept.sequence <= view.state.sequence:
        return None
    return kept


def _label(view: View, part: str, holding: Holding) -> Label | None:
    held = view.held_in(part)
    if held is None or not held[0].spec.dimension:
        return None
    (space, kind), means = held, view.means_for(part)
    return Label(
        view.state.epoch, space.id, kind, space.spec.dimension or 0, digest(means), holding.form
    )


def digest(means: Means | None) -> str:
    """Return what tells apart by which means vectors are centred."""
    hashed = hashlib.sha256()
    for each in fields(means) if means else ():
        hashed.update(getattr(means, each.name).tobytes())
    return hashed.hexdigest()
