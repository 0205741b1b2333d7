"""Snapshots of indexes: what is read back, what is refused, what is found to be damaged."""

from __future__ import annotations

import json
import resource
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from app.index import faiss_flat, snapshot
from app.index.core import Form
from app.index.faiss_flat import FlatIndex
from app.index.graph import GraphForm
from app.index.snapshot import Label

DIMENSION = 24
ROWS = 600
GRAPH = GraphForm(links=8, ef_construction=40, ef_search=40)
FORMS = {
    "float32": Form(),
    "float16": Form("float16"),
    "graph": Form(graph=GRAPH),
    "float16-graph": Form("float16", GRAPH),
}
LABEL = Label("epoch", 1, "chunk", DIMENSION, "means", Form())


@pytest.fixture(autouse=True, scope="module")
def small_bounds() -> Iterator[None]:
    """Several segments, graphs over the large ones, and several blocks in each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(faiss_flat, "SEGMENT_ROWS", 256)
        patch.setattr(faiss_flat, "GRAPH_ROWS", 100)
        patch.setattr(snapshot, "BLOCK_BYTES", 4_000)
        yield


def vectors_of(count: int) -> NDArray[np.float32]:
    vectors = np.random.default_rng(0).standard_normal((count, DIMENSION), dtype=np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def an_index(form: Form = LABEL.form) -> FlatIndex:
    """Three segments, a tail, and some dead."""
    ids = np.arange(10, 10 + 3 * ROWS, 3, dtype=np.int64)
    index = FlatIndex.loaded(DIMENSION, ROWS, iter([(ids, vectors_of(ROWS))]), form)
    while merge := index.merge():
        index = index.adopt(merge)
    return index.changed(ids[5:60:7], np.array([9_000, 9_001]), vectors_of(ROWS + 2)[-2:])


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_what_is_written_is_read_back(form: Form, tmp_path: Path) -> None:
    index, label = an_index(form), replace(LABEL, form=form)
    snapshot.write(tmp_path, label, 17, index)
    kept = snapshot.load(tmp_path, label)
    assert kept is not None
    assert kept.sequence == 17
    assert [segment.core.graph is None for segment in kept.index.segments] == [
        segment.core.graph is None for segment in index.segments
    ]
    assert not len(kept.damaged())
    roundings = [segment.core.planes.rounding for segment in kept.index.segments]
    assert roundings == [segment.core.planes.rounding for segment in index.segments]
    assert all((each > 0) is (form.precision == "float32") for each in roundings)
    some = index.every_id()[::2]
    for query in vectors_of(20):
        for allowed in (None, some):
            assert kept.index.search(query, 15, allowed) == index.search(query, 15, allowed)
            assert kept.index.standings(query, [10, 40, 9_001], allowed) == index.standings(
                query, [10, 40, 9_001], allowed
            )


def test_a_mapped_index_can_be_changed_and_merged(tmp_path: Path) -> None:
    index = an_index()
    snapshot.write(tmp_path, LABEL, 1, index)
    kept = snapshot.load(tmp_path, LABEL)
    assert kept is not None
    more = np.arange(10_000, 10_300, dtype=np.int64)
    changes = (index.every_id()[::3], more, vectors_of(300))
    mapped, plain = kept.index.changed(*changes), index.changed(*changes)
    while merge := mapped.merge():
        mapped = mapped.adopt(merge)
    for query in vectors_of(5):
        assert mapped.search(query, 20) == plain.search(query, 20)


def test_an_empty_index_is_kept_too(tmp_path: Path) -> None:
    snapshot.write(tmp_path, LABEL, 3, FlatIndex(DIMENSION))
    kept = snapshot.load(tmp_path, LABEL)
    assert kept is not None
    assert (kept.index.count(), kept.sequence, len(kept.damaged())) == (0, 3, 0)


@pytest.mark.parametrize(
    "other",
    [
        {"epoch": "another"},
        {"dimension": 12},
        {"means": "others"},
        {"form": Form("float16")},
        {"form": Form(graph=GRAPH)},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_snapshot_of_something_else_is_not_taken(
    other: dict[str, object], tmp_path: Path
) -> None:
    snapshot.write(tmp_path, LABEL, 1, an_index())
    assert snapshot.load(tmp_path, replace(LABEL, **other)) is None  # type: ignore[arg-type]


def test_candidates_while_searching_are_no_part_of_a_graph(tmp_path: Path) -> None:
    label = replace(LABEL, form=FORMS["graph"])
    snapshot.write(tmp_path, label, 1, an_index(label.form))
    wider = replace(label, form=Form(graph=replace(GRAPH, ef_search=200)))
    kept = snapshot.load(tmp_path, wider)
    assert kept is not None
    graphs = [segment.core.graph for segment in kept.index.segments if segment.core.graph]
    assert {graph.form.ef_search for graph in graphs} == {200}


@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_damaged_block_is_told_by_its_ids(place: str, tmp_path: Path) -> None:
    path = snapshot.write(tmp_path, LABEL, 1, an_index())
    segment = snapshot.read_manifest(path)["segments"][0]
    size = segment["rows"] * DIMENSION * 4
    offset = {"first": 0, "middle": size // 2, "last": size - 1}[place]
    damage(path, segment["vectors"] + offset)
    kept = snapshot.load(tmp_path, LABEL)
    assert kept is not None
    row = offset // (DIMENSION * 2) % segment["rows"]
    rows_of_a_block = 4_000 // (DIMENSION * 4)
    start = row - row % rows_of_a_block
    ids = kept.index.segments[0].core.ids[start : start + rows_of_a_block]
    assert kept.damaged().tolist() == ids.tolist()


@pytest.mark.parametrize("part", ["ids", "alive", "graph", "manifest", "trailer"])
def test_damage_elsewhere_makes_it_useless(part: str, tmp_path: Path) -> None:
    label = replace(LABEL, form=FORMS["graph"])
    path = snapshot.write(tmp_path, label, 1, an_index(label.form))
    segment = snapshot.read_manifest(path)["segments"][0]
    text = len(json.dumps(dict(snapshot.read_manifest(path)), sort_keys=True))
    size = path.stat().st_size
    places = {"manifest": size - text, "trailer": size - 5}
    damage(path, places.get(part) or segment[part][0])
    assert snapshot.load(tmp_path, label) is None


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_file_that_is_cut_off_is_not_taken(share: float, tmp_path: Path) -> None:
    path = snapshot.write(tmp_path, LABEL, 1, an_index())
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    assert snapshot.load(tmp_path, LABEL) is None


def damage(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(content)


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    path = snapshot.write(tmp_path / "snapshots", LABEL, 1, an_index())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_new_one_takes_the_place_while_the_old_one_is_mapped(tmp_path: Path) -> None:
    index = an_index()
    snapshot.write(tmp_path, LABEL, 1, index)
    old = snapshot.load(tmp_path, LABEL)
    assert old is not None
    smaller = index.changed(index.every_id()[::2], np.empty(0, np.int64), vectors_of(0))
    snapshot.write(tmp_path, LABEL, 2, smaller)
    new = snapshot.load(tmp_path, LABEL)
    assert new is not None
    query = vectors_of(1)[0]
    assert old.index.search(query, 30) == index.search(query, 30)
    assert new.index.search(query, 30) == smaller.search(query, 30)


def test_an_attempt_that_fails_leaves_the_old_one(
    tmp_path: Path,
) -> None:
    snapshot.write(tmp_path, LABEL, 1, an_index())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            snapshot.write(tmp_path, LABEL, 2, an_index())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    kept = snapshot.load(tmp_path, LABEL)
    assert kept is not None
    assert kept.sequence == 1
    assert [path.name for path in tmp_path.iterdir()] == [LABEL.file_name]


def test_what_a_crash_left_is_removed_once_it_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / f"1-chunk.99.99{snapshot.ASIDE}"
    left.write_bytes(b"half")
    snapshot.write(tmp_path, LABEL, 1, an_index())
    assert left.exists()
    monkeypatch.setattr(snapshot, "ABANDONED_SECONDS", -1)
    snapshot.write(tmp_path, LABEL, 1, an_index())
    assert not left.exists()
