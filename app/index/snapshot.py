"""Snapshots: an index as one file, which another process maps into its memory.

Owns the form of the file: runs of ids and planes of vectors as they lie in memory, then a manifest
with a checksum for every block, then where the manifest begins. A file is written aside and
renamed, so it is whole or not there. Must not judge whether a snapshot is new enough.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import faiss
import numpy as np
from numpy.typing import NDArray

from app.index.core import ALIGNMENT, FRONT_BYTES, Core, Form, Ids
from app.index.faiss_flat import FlatIndex
from app.index.graph import Graph, GraphForm
from app.index.segment import Segment

SUFFIX = ".snapshot"
ASIDE = ".aside"
VERSION = 3
MAGIC = b"CRYSTALINDEX"
BLOCK_BYTES = 4 * 2**20
"""About so many bytes of vectors have a checksum of their own."""

ABANDONED_SECONDS = 3_600
"""A file that was written aside so long ago is no longer being written."""

OWNER_ONLY = 0o600
FOLDER_OF_OWNER = 0o700
_TRAILER = struct.Struct(f"<QI{len(MAGIC)}s")


@dataclass(frozen=True, slots=True)
class Label:
    """What an index is of; a snapshot of another label is of no use.

    ``means`` is a digest of what the vectors are centred by.
    """

    epoch: str
    space_id: int
    kind: str
    dimension: int
    means: str
    form: Form

    @property
    def file_name(self) -> str:
        """The name of its file."""
        return f"{self.space_id}-{self.kind}{SUFFIX}"

    @property
    def family(self) -> str:
        """What the names of all indexes of the space and kind begin with."""
        epoch = "".join(filter(str.isalnum, self.epoch))[:12]
        return f"crystal_{epoch}_{self.space_id}_{self.kind}_"

    @property
    def name(self) -> str:
        """A name that no other label has, of letters, digits and underscores."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return self.family + hashlib.sha256(text.encode()).hexdigest()[:12]

    def to_json(self) -> dict[str, Any]:
        """Return all that must agree: of a graph how it was built, and by which faiss."""
        graph = self.form.graph
        built = [graph.links, graph.ef_construction, faiss.__version__] if graph else None
        form = {"precision": self.form.precision, "graph": built}
        return {**asdict(self), "form": form, "version": VERSION}


@dataclass(frozen=True, eq=False, slots=True)
class Snapshot:
    """An index whose vectors lie in a mapped file, as it stood at a sequence number."""

    path: Path
    sequence: int
    index: FlatIndex
    _checks: tuple[tuple[int, ...], ...]

    def damaged(self) -> Ids:
        """Read every vector, and return the ids of the blocks that are not as they were written."""
        bad = [np.empty(0, dtype=np.int64)]
        for segment, checks in zip(self.index.segments, self._checks, strict=True):
            for rows, check in zip(_blocks(segment.core), checks, strict=True):
                if _check(segment.core, rows) != check:
                    bad.append(segment.core.ids[rows])
        return np.concatenate(bad)


def write(folder: Path, label: Label, sequence: int, index: FlatIndex) -> Path:
    """Write an index that stands at a sequence number; the folder is made if need be.

    Raises:
        OSError: it cannot be written.
    """
    folder.mkdir(mode=FOLDER_OF_OWNER, parents=True, exist_ok=True)
    _remove_abandoned(folder)
    path = folder / label.file_name
    with _aside(path) as file:
        segments = [_write_segment(file, segment) for segment in index.segments]
        manifest = {"label": label.to_json(), "sequence": sequence, "segments": segments}
        text = json.dumps(manifest, sort_keys=True).encode()
        file.write(text)
        file.write(_TRAILER.pack(len(text), zlib.crc32(text), MAGIC))
    return path


def load(folder: Path, label: Label) -> Snapshot | None:
    """Map the snapshot of a label; None when there is none that agrees, or it is damaged.

    The vectors themselves are not read: ``Snapshot.damaged`` does.
    """
    path = folder / label.file_name
    with suppress(OSError, ValueError, KeyError, TypeError):
        memory = _mapped(path)
        manifest = _manifest(memory)
        if manifest["label"] == label.to_json():
            return _opened(path, memory, manifest, label)
    return None


def load_any(path: Path) -> Snapshot:
    """Map a snapshot, whatever it is of.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged, or of another version.
    """
    memory = _mapped(path)
    manifest = _manifest(memory)
    try:
        return _opened(path, memory, manifest, _label(manifest["label"]))
    except (KeyError, TypeError) as error:
        raise ValueError("of another form") from error


def _label(stored: Mapping[str, Any]) -> Label:
    names = ("epoch", "space_id", "kind", "dimension", "means")
    form, graph = stored["form"], stored["form"]["graph"]
    label = Label(
        **{name: stored[name] for name in names},
        form=Form(form["precision"], GraphForm(graph[0], graph[1]) if graph else None),
    )
    if label.to_json() != stored:
        raise ValueError("of another version")
    return label


def _mapped(path: Path) -> NDArray[np.uint8]:
    with path.open("rb") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), np.uint8)


def _opened(
    path: Path, memory: NDArray[np.uint8], manifest: Mapping[str, Any], label: Label
) -> Snapshot:
    segments = [_segment(memory, entry, label) for entry in manifest["segments"]]
    index = FlatIndex(label.dimension, tuple(segments), label.form)
    checks = tuple(tuple(entry["vector_checks"]) for entry in manifest["segments"])
    return Snapshot(path, int(manifest["sequence"]), index, checks)


def read_manifest(path: Path) -> Mapping[str, Any]:
    """Return the manifest of a file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no snapshot, or its end is damaged.
    """
    return _manifest(_mapped(path))


def _manifest(memory: NDArray[np.uint8]) -> dict[str, Any]:
    if len(memory) < _TRAILER.size:
        raise ValueError("too short")
    length, check, magic = _TRAILER.unpack(memory[-_TRAILER.size :].tobytes())
    text = memory[max(len(memory) - _TRAILER.size - length, 0) : -_TRAILER.size].tobytes()
    if magic != MAGIC or zlib.crc32(text) != check:
        raise ValueError("the end is damaged")
    found: dict[str, Any] = json.loads(text)
    return found


def _write_segment(file: BinaryIO, segment: Segment) -> dict[str, Any]:
    core = segment.core
    graph = core.graph.to_bytes() if core.graph else np.empty(0, dtype=np.uint8)
    alive = np.empty(0, np.uint8) if segment.alive is None else np.packbits(segment.alive)
    entry: dict[str, Any] = {"rows": len(core.ids), "rounding": core.planes.rounding}
    for name, part in (("ids", core.ids), ("alive", alive), ("graph", graph)):
        entry[name] = [_aligned(file, 0), part.nbytes, zlib.crc32(part.data)]
        file.write(part.data)
    entry["vectors"] = _aligned(file, FRONT_BYTES)
    entry["vector_checks"] = [_check(core, rows) for rows in _blocks(core)]
    for plane in core.planes.parts:
        file.write(plane.data)
    return entry


def _segment(memory: NDArray[np.uint8], entry: Mapping[str, Any], label: Label) -> Segment:
    ids, alive, graph = (_checked(memory, *entry[name]) for name in ("ids", "alive", "graph"))
    rows, start = int(entry["rows"]), int(entry["vectors"])
    end = start + rows * label.dimension * label.form.width
    core = Core.over(
        ids.view(np.int64)[:rows].copy(),
        memory[:end],
        start,
        label.dimension,
        label.form,
        rounding=float(entry["rounding"]),
    )
    if len(graph) and label.form.graph:
        built = Graph.of_bytes(graph, core.scanner, label.form.graph)
        core = Core(core.ids, core.planes, core.scanner, built)
    bits = np.unpackbits(alive, count=rows).astype(np.bool_) if len(alive) else None
    return Segment(core, bits)


def _checked(memory: NDArray[np.uint8], start: int, size: int, check: int) -> NDArray[np.uint8]:
    part = memory[start : start + size]
    if len(part) != size or zlib.crc32(part.data) != check:
        raise ValueError("a part is damaged")
    return part


def _blocks(core: Core) -> Iterator[slice]:
    row = max(core.planes.nbytes // max(len(core.planes), 1), 1)
    return core.planes.blocks(max(BLOCK_BYTES // row, 1))


def _check(core: Core, rows: slice) -> int:
    check = 0
    for plane in core.planes.parts:
        check = zlib.crc32(plane[rows].data, check)
    return check


def _aligned(file: BinaryIO, room: int) -> int:
    """Leave room, then go on to where numbers may lie; return that place."""
    place = -(-(file.tell() + room) // ALIGNMENT) * ALIGNMENT
    file.write(b"\0" * (place - file.tell()))
    return place


@contextmanager
def _aside(path: Path) -> Iterator[BinaryIO]:
    """Open a new file beside a path, which takes its place at the end; an error leaves nothing."""
    aside = path.with_name(f"{path.stem}.{os.getpid()}.{time.monotonic_ns()}{ASIDE}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    try:
        with os.fdopen(descriptor, "wb") as file:
            # Not waiting for the disk: what a failure of the machine spoils, the checksums tell.
            yield file
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def abandoned(folder: Path) -> list[Path]:
    """Return what was written aside by processes that ended before they were done."""
    limit = time.time() - ABANDONED_SECONDS
    found = []
    for path in sorted(folder.glob(f"*{ASIDE}")):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < limit:
                found.append(path)
    return found


def _remove_abandoned(folder: Path) -> None:
    for path in abandoned(folder):
        path.unlink(missing_ok=True)
