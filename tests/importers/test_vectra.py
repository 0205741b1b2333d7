"""The file of vectors: what is taken of it, what is counted, and how little is held."""

import json
import tracemalloc
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.errors import ImportFailed
from app.importers.shallow import DEEPEST, ShallowStream
from app.importers.vectra import Vectors, Wanted, read_vectors

NOTHING = Wanted({}, {})
DIMENSION = 384


def item(name: str, vector: object, note: object = 1, index: object = 0) -> dict[str, Any]:
    return {"id": name, "metadata": {"noteId": note, "chunkIndex": index}, "vector": vector}


def written(folder: Path, items: Sequence[object]) -> Path:
    path = folder / "index.json"
    path.write_text(json.dumps({"version": 1, "metadata_config": {}, "items": items}), "utf-8")
    return path


def read(folder: Path, items: Sequence[object], *wanted: str) -> Vectors:
    rows = {name: number for number, name in enumerate(wanted, start=1)}
    return read_vectors(written(folder, items), Wanted(rows, {}))


def unit(vectors: Vectors, row: int) -> list[float]:
    return [float(x) for x in np.frombuffer(vectors.by_row[row], np.float32)]


def test_vectors_come_in_unit_length(tmp_path: Path) -> None:
    found = read(tmp_path, [item("a", [3, 0, -4]), item("b", [0, 0.5, 0])], "a", "b")
    assert found.dimension == 3
    assert unit(found, 1) == pytest.approx([0.6, 0.0, -0.8])
    assert unit(found, 2) == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1e160, 1e300], ids=str)
def test_extreme_numbers_keep_their_direction(tmp_path: Path, factor: float) -> None:
    found = read(tmp_path, [item("a", [3 * factor, 4 * factor])], "a")
    assert unit(found, 1) == pytest.approx([0.6, 0.8])


def test_vectors_that_nobody_wants_are_counted(tmp_path: Path) -> None:
    items = [item("a", [1, 0]), item("stray", [1, 0]), item("a", [0, 1]), 7, {}, {"id": 3}]
    found = read(tmp_path, items, "a")
    assert unit(found, 1) == [1.0, 0.0]
    assert found.without_chunk == 5


def test_a_row_without_vector_id_is_found_by_note_and_index(tmp_path: Path) -> None:
    path = written(tmp_path, [item("x", [1, 0], 7, 2), item("y", [1, 0], "7", 2)])
    found = read_vectors(path, Wanted({}, {(7, 2): 9}))
    assert list(found.by_row) == [9]
    assert found.without_chunk == 1


@pytest.mark.parametrize(
    "vector",
    [[0, 0], [], None, "x", [1, None], [1, "x"], [[1, 2]], [1, [2]], {"x": 1}, 5],
    ids=json.dumps,
)
def test_what_points_nowhere_is_counted(tmp_path: Path, vector: object) -> None:
    found = read(tmp_path, [item("a", vector), item("b", [1, 0])], "a", "b")
    assert list(found.by_row) == [2]
    assert found.of_no_direction == 1


@pytest.mark.parametrize("odd", [0, 1, 2], ids=["first", "middle", "last"])
def test_a_vector_of_another_dimension_than_the_rest_is_counted(tmp_path: Path, odd: int) -> None:
    items = [item(str(n), [1, 0, 0] if n == odd else [1, 0]) for n in range(3)]
    found = read(tmp_path, items, "0", "1", "2")
    assert found.dimension == 2
    assert found.of_other_dimension == 1
    assert odd + 1 not in found.by_row


def test_an_empty_file_of_vectors_is_fine(tmp_path: Path) -> None:
    found = read(tmp_path, [])
    assert found.dimension is None
    assert found.by_row == {}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json",
        b'{"version":1,"items":[{"id":"a","vector":[1,2',
        b'{"version":1,"items":[]} and more',
        b'{"version":1,"items":[{"id":"\xff"}]}',
        b'{"version":1,"items":[{"id":"a","vector":[NaN]}]}',
        b'{"version":1}',
        b"[]",
        b'{"items":{}}',
        b'{"items":' + b"[" * 20_000,
        b'{"items":[' + b'{"a":[' * 10_000,
        b'{"a":' * 20_000,
    ],
    ids=[
        "empty",
        "text",
        "cut",
        "trailing",
        "utf-8",
        "nan",
        "no-items",
        "list",
        "no-list",
        "deep lists",
        "deep items",
        "deep objects",
    ],
)
def test_a_damaged_file_is_one_clear_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "index.json"
    path.write_bytes(content)
    with pytest.raises(ImportFailed) as failure:
        read_vectors(path, NOTHING)
    assert str(path) in failure.value.message
    assert "damaged" in failure.value.message
    assert "\n" not in failure.value.message


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, [item("a", [1, 0])])

    def rewrite(done: int, size: int) -> None:
        if json.loads(path.read_text("utf-8"))["items"][0]["vector"] == [1, 0]:
            written(tmp_path, [item("a", [0, 1]), item("b", [0, 1])])

    found = read_vectors(path, Wanted({"a": 1}, {}), rewrite)
    assert unit(found, 1) == [0.0, 1.0]
    assert found.without_chunk == 1


def test_memory_stays_under_three_times_the_vectors(tmp_path: Path) -> None:
    count = 300
    values = np.random.default_rng(0).standard_normal((count, DIMENSION))
    items = [item(str(n), row.tolist()) for n, row in enumerate(values)]
    path = written(tmp_path, items)
    rows = {str(n): n for n in range(count)}
    del items, values
    tracemalloc.start()
    try:
        found = read_vectors(path, Wanted(rows, {}))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.by_row) == count
    assert peak < 3 * count * DIMENSION * np.dtype(np.float32).itemsize


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, [item(str(n), [1.0, 0.0]) for n in range(1_200)])
    told: list[tuple[int, int]] = []
    read_vectors(path, NOTHING, lambda done, size: told.append((done, size)))
    size = path.stat().st_size
    assert [total for _, total in told] == [size] * 3
    assert sorted(told) == told
    assert told[-1] == (size, size)


def test_only_brackets_outside_of_texts_count_as_levels(tmp_path: Path) -> None:
    text = '[{"' * 300 + "\\"
    path = written(tmp_path, [item("a", [1, 0]) | {"text": text}, item('"[\\', [0, 1])])
    assert unit(read_vectors(path, Wanted({"a": 1}, {})), 1) == [1.0, 0.0]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_levels_are_counted_over_pieces_of_any_size(size: int) -> None:
    fine = json.dumps([{"a\\": '"[\\' * 99, "b": [[["]"]]]}] * 3).encode()
    stream = ShallowStream(BytesIO(fine), "fine")
    assert b"".join(iter(lambda: stream.read(size), b"")) == fine
    deep = ShallowStream(BytesIO(b'["\\"", ' + b"[" * DEEPEST), "deep")
    with pytest.raises(ImportFailed, match="deep is damaged: it is nested more than 100 levels"):
        list(iter(lambda: deep.read(size), b""))
