"""Broken and hostile files: what can be read is read, the rest is counted."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.importers.conversations import lines
from app.importers.conversations.changes import replayed
from app.importers.conversations.registry import SOURCES
from app.importers.conversations.spool import IN_MEMORY, Spool
from app.importers.conversations.texts import LONGEST_MESSAGE, LONGEST_TOOL_TEXT
from app.importers.conversations.values import Losses
from tests.support.conversations import folder_of, read_all, said, write_lines


def _session(tmp_path: Path, records: list[Any]) -> tuple[list[str], Losses]:
    write_lines(tmp_path / "p" / "s.jsonl", records)
    losses = Losses()
    found = read_all("claude-code", tmp_path, losses)
    return (found["s"].texts if found else []), losses


@pytest.mark.parametrize(
    "line",
    [
        b'{"type": "user", "uuid": "u9", "mess',
        b"not JSON at all",
        b"[1, 2, 3]",
        b'"text"',
        b"null",
        b"\xff\xfe\x00\x01",
        b"[" * 100_000,
        b'{"a": ' * 50_000,
        b'{"uuid": NaN',
    ],
    ids=["cut", "prose", "list", "string", "null", "bytes", "brackets", "braces", "nan"],
)
def test_a_broken_line_is_skipped_and_counted(tmp_path: Path, line: bytes) -> None:
    texts, losses = _session(tmp_path, [said("before"), line, said("after", number=1)])
    assert texts == ["before", "after"]
    assert losses == Losses(broken_lines=1)


@pytest.mark.parametrize(
    "record",
    [
        said(None),
        said(7),
        said([None, 7, "x", {}, {"type": "text"}, {"type": "text", "text": 7}]),
        said([{"type": "tool_result", "tool_use_id": ["x"], "content": {"a": 1}}]),
        said([{"type": "tool_use", "id": {}, "name": None, "input": [1]}]) | {"uuid": 7},
        said("x") | {"message": "text"},
        said("x") | {"type": ["user"]},
        {"type": "user"},
        {},
    ],
    ids=["null", "number", "blocks", "result", "use", "message", "type", "bare", "empty"],
)
def test_a_line_of_another_shape_is_no_message(tmp_path: Path, record: dict[str, Any]) -> None:
    texts, losses = _session(tmp_path, [record, said("after", number=1)])
    assert texts == ["after"]
    assert losses == Losses()


def test_unknown_fields_are_let_be(tmp_path: Path) -> None:
    record = said("hello", newField={"deep": [1]}) | {"version": 99}
    assert _session(tmp_path, [record])[0] == ["hello"]


def test_messages_come_once_each_by_time_and_then_place(tmp_path: Path) -> None:
    at = "2026-01-01T00:00:{:02d}.000Z".format
    records = [
        said("third", number=3, at=at(3)),
        said("first", number=1, at=at(1)),
        said("second a", number=5, at=at(2)),
        said("second b", number=4, at=at(2)),
        said("third, edited", number=3, at=at(3)),
    ]
    expected = ["first", "second a", "second b", "third, edited"]
    assert _session(tmp_path, records)[0] == expected


def test_a_tree_that_bites_its_tail_is_no_loop(tmp_path: Path) -> None:
    records = [
        said("a", number=0, parentUuid="u1"),
        said("b", number=1, parentUuid="u0"),
        said("c", number=2, parentUuid="u2"),
    ]
    assert _session(tmp_path, records)[0] == ["a", "b", "c"]


def test_times_that_are_missing_or_nonsense_keep_the_place(tmp_path: Path) -> None:
    records = [
        said("a", number=0, timestamp=None),
        said("b", number=1),
        said("c", number=2, timestamp="yesterday"),
        said("d", number=3, timestamp=-1),
    ]
    write_lines(tmp_path / "p" / "s.jsonl", records)
    [each] = read_all("claude-code", tmp_path).values()
    assert each.texts == ["a", "b", "c", "d"]
    assert {message.timestamp for message in each.messages} == {"2026-01-01T00:00:01.000Z"}


def test_a_file_without_any_time_is_old(tmp_path: Path) -> None:
    write_lines(tmp_path / "p" / "s.jsonl", [said("a", timestamp=None)])
    [each] = read_all("claude-code", tmp_path).values()
    assert each.first_at == "1970-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("gb18030", "连接池不够用"), ("utf-8-sig", "连接池不够用")],
)
def test_other_encodings_are_read(tmp_path: Path, encoding: str, text: str) -> None:
    path = tmp_path / "p" / "s.jsonl"
    path.parent.mkdir()
    path.write_bytes(json.dumps(said(text), ensure_ascii=False).encode(encoding))
    assert read_all("claude-code", tmp_path)["s"].texts == [text]


def test_bytes_of_no_encoding_are_replaced(tmp_path: Path) -> None:
    line = json.dumps(said("broken here")).encode().replace(b"broken", b"br\xff\xff\xffken")
    texts, losses = _session(tmp_path, [line])
    assert texts == ["br\ufffd\ufffd\ufffdken here"]
    assert losses == Losses()


def test_half_an_emoji_and_a_zero_can_be_stored(tmp_path: Path) -> None:
    line = json.dumps(said("half \ud83d and \x00 zero")).encode()
    assert _session(tmp_path, [line])[0] == ["half \ufffd and  zero"]


def test_windows_line_ends_and_blank_lines_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "p" / "s.jsonl"
    path.parent.mkdir()
    rows = [json.dumps(said(str(number), number=number)) for number in range(3)]
    path.write_bytes("\r\n\r\n".join(rows).encode())
    losses = Losses()
    assert read_all("claude-code", tmp_path, losses)["s"].texts == ["0", "1", "2"]
    assert losses == Losses()


def test_a_line_beyond_all_bounds_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 10_000)
    long = said("x" * 50_000, number=1)
    texts, losses = _session(tmp_path, [said("before"), long, said("after", number=2)])
    assert texts == ["before", "after"]
    assert losses == Losses(broken_lines=1)


@pytest.mark.parametrize("size", [LONGEST_MESSAGE, LONGEST_MESSAGE + 1, 5 * LONGEST_MESSAGE])
def test_of_a_very_long_text_the_middle_is_left_out(tmp_path: Path, size: int) -> None:
    text = "a " * (size // 2) + "z"
    [kept], _ = _session(tmp_path, [said(text)])
    assert kept[:1_000] == text[:1_000]
    assert kept[-1_000:] == text[-1_000:]
    assert len(kept) <= LONGEST_MESSAGE + 100
    assert ("characters left out" in kept) == (len(text) > LONGEST_MESSAGE)


def test_of_what_a_tool_writes_both_ends_are_kept(tmp_path: Path) -> None:
    call = [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make"}}]
    output = "begin " + "line\n" * 100_000 + " end"
    answer = [{"type": "tool_result", "tool_use_id": "t", "content": output}]
    write_lines(tmp_path / "p" / "s.jsonl", [said(call, role="assistant"), said(answer, number=1)])
    [message] = read_all("claude-code", tmp_path)["s"].messages
    shown = message.tools[0].output
    assert shown.startswith("begin")
    assert shown.endswith("end")
    assert len(shown) <= LONGEST_TOOL_TEXT + 100


@pytest.mark.parametrize("name", [name for name in SOURCES if name != "generic"])
@pytest.mark.parametrize("content", [b"", b"\x00" * 5_000, b"SQLite format 3\x00rubbish"])
def test_files_that_are_none_of_a_tools_are_no_fault_of_ours(
    tmp_path: Path, home: Path, name: str, content: bytes
) -> None:
    folder = folder_of(name, home)
    for found in SOURCES[name](folder).files():
        target = tmp_path / found.path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    losses = Losses()
    assert read_all(name, tmp_path, losses) == {}
    assert losses.broken_lines or not content


def test_rows_of_cursor_that_are_no_bubbles_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "globalStorage" / "state.vscdb"
    path.parent.mkdir(parents=True)
    good = {"type": 1, "text": "hello", "createdAt": "2026-01-01T00:00:00.000Z"}
    rows: list[tuple[str, Any]] = [
        ("bubbleId:c:1", json.dumps(good)),
        ("bubbleId:c:2", "{"),
        ("bubbleId:c:3", None),
        ("bubbleId:c:4", b"\xff\xfe"),
        ("bubbleId:c:5", json.dumps([1])),
        ("bubbleId:c", json.dumps(good)),
        ("composerData:c", "{}"),
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
        connection.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
    losses = Losses()
    found = read_all("cursor", tmp_path, losses)
    assert {name: each.texts for name, each in found.items()} == {"c": ["hello", "hello"]}
    assert losses == Losses(broken_lines=4)


def test_what_waits_in_a_journal_is_read_from_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "globalStorage" / "state.vscdb"
    path.parent.mkdir(parents=True)
    bubble = json.dumps({"type": 1, "text": "fresh", "createdAt": "2026-01-01T00:00:00.000Z"})
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("PRAGMA wal_autocheckpoint=0")
        writer.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
        writer.execute("INSERT INTO cursorDiskKV VALUES ('bubbleId:c:1', ?)", (bubble,))
        # As the tool does while it works.
        writer.execute("BEGIN IMMEDIATE")
        before = {each: each.read_bytes() for each in path.parent.iterdir()}
        assert read_all("cursor", tmp_path)["c"].texts == ["fresh"]
        assert {each: each.read_bytes() for each in path.parent.iterdir()} == before


@pytest.mark.parametrize(
    ("changes", "requests"),
    [
        ([], ["a"]),
        ([{"kind": 2, "k": ["requests"], "v": ["b", "c"]}], ["a", "b", "c"]),
        ([{"kind": 2, "k": ["requests"], "v": ["b"], "i": 0}], ["b"]),
        ([{"kind": 1, "k": ["requests", 0], "v": "b"}], ["b"]),
        ([{"kind": 1, "k": ["requests", 1], "v": "b"}], ["a", "b"]),
        ([{"kind": 1, "k": ["requests", 10**9], "v": "b"}], ["a"]),
        ([{"kind": 1, "k": ["requests", -1], "v": "b"}], ["a"]),
        ([{"kind": 1, "k": ["requests", True], "v": "b"}], ["a"]),
        ([{"kind": 1, "k": [], "v": {}}], ["a"]),
        ([{"kind": 1, "k": "requests", "v": []}], ["a"]),
        ([{"kind": 2, "k": ["requests"], "v": "b"}], ["a"]),
        ([{"kind": 2, "k": ["nowhere", 3, "x"], "v": ["b"]}], ["a"]),
        ([{"kind": 9, "k": ["requests"], "v": []}], ["a"]),
        ([{"kind": 0, "v": {"requests": ["z"]}}], ["z"]),
        ([{"kind": 0, "v": 7}], ["a"]),
    ],
)
def test_a_journal_is_replayed(changes: list[dict[str, Any]], requests: list[str]) -> None:
    session = replayed([{"kind": 0, "v": {"requests": ["a"]}}, *changes])
    assert session["requests"] == requests


def test_a_journal_without_a_beginning_is_empty() -> None:
    assert replayed([{"kind": 9}]) == {}


def test_a_spool_gives_back_what_it_took_in_any_order() -> None:
    with Spool() as spool:
        records = [bytes([number]) * (IN_MEMORY // 8) for number in range(12)]
        places = [spool.put(record) for record in records]
        assert [spool.get(place) for place in reversed(places)] == records[::-1]
        places.append(spool.put(b"more"))
        assert spool.get(places[-1]) == b"more"
        spool.clear()
        assert spool.get(spool.put(b"anew")) == b"anew"


READS_A_FILE = """
import resource, sys
from pathlib import Path
from app.importers.conversations.claude_code import ClaudeCode
from app.importers.conversations.values import Losses

source, losses = ClaudeCode(Path(sys.argv[1])), Losses()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
count = 0
for found in source.files():
    for each in source.read(found, losses):
        count += sum(1 for message in each.messages)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(count, losses.broken_lines, grown // 1024)
"""


def test_a_file_of_200_megabytes_is_read_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "p" / "s.jsonl"
    path.parent.mkdir()
    output = "x" * 1_000_000
    with path.open("w") as stream:
        for number in range(0, 300, 3):
            call = [{"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {}}]
            answer = [{"type": "tool_result", "tool_use_id": f"t{number}", "content": output}]
            for record in (
                said("word " * 2_000, number=number),
                said(call, number=number + 1, role="assistant"),
                said(answer, number=number + 2, toolUseResult={"stdout": output}),
            ):
                stream.write(f"{json.dumps(record)}\n")
        stream.write("y" * (lines.LONGEST_LINE + 1_000_000) + "\n")
    assert path.stat().st_size > 200_000_000
    done = subprocess.run(
        [sys.executable, "-c", READS_A_FILE, str(tmp_path)],
        capture_output=True,
        check=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    count, broken, grown = map(int, done.stdout.split())
    assert (count, broken) == (200, 1)
    assert grown < 200, f"{grown} MB more than before"
