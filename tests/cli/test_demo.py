"""`crystal demo`, run as it is: the bundled model, a real server, real answers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx
import pytest

from app.maintenance.fixtures import example_records


def test_the_demo_works_and_leaves_nothing(tmp_path: Path) -> None:
    environment = os.environ | {
        "TMPDIR": str(tmp_path),
        # Nobody's settings may reach it.
        "CRYSTAL_EMBEDDING_PROVIDER": "openai",
        "CRYSTAL_EMBEDDING_BASE_URL": "http://127.0.0.1:9",
        "CRYSTAL_API_TOKEN": "hush",
        "CRYSTAL_BASE_URL": "ftp://nowhere",
        "CRYSTAL_DATA_DIR": str(tmp_path / "own"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "cli.main", "demo"],
        capture_output=True,
        env=environment,
        check=False,
    )
    shown = done.stdout.decode("utf-8")
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
    assert "132 notes" in shown
    assert shown.count("How this was found") == 2
    assert re.search(r"0\.820 +1 +SQLite writers failing", shown)
    assert re.search(r"JVM pods OOMKilled|Java 容器频繁 OOMKilled", shown)
    assert re.search(r" (EXTENDS|SIMILAR_TO|DEPENDS_ON)\s*$", shown, re.MULTILINE)
    assert re.search(r"Reason  raw 0\.\d{3} < 0\.58", shown)
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= 100
    assert not (tmp_path / "own").exists()
    assert [path for path in tmp_path.iterdir() if path.name.startswith("crystal-demo")] == []
    assert tempfile.gettempdir() != str(tmp_path)


FEW = """
from itertools import islice
from cli.admin import demo
from cli.main import main
every = demo.example_records
demo.example_records = lambda: islice(every(), 8)
main()
"""
"""The command over the first of the example notes alone: embedding all takes longest."""


def test_the_demo_stays_until_it_is_interrupted(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", FEW, "demo", "--stay", "--port", "0"],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        try:
            lines = []
            for line in process.stdout:
                lines.append(line)
                if "Ctrl-C" in line:
                    break
            shown = "".join(lines)
            address = re.search(r"The page: (http://127\.0\.0\.1:[0-9]+)/", shown)
            assert address is not None, shown
            assert f"crystal -b {address[1]} search 数据库写锁 --limit 4" in shown
            assert f"claude mcp add chatcrystal -- crystal -b {address[1]} mcp" in shown
            answer = httpx.get(
                f"{address[1]}/api/search", params={"q": "sqlite database is locked"}
            )
            assert answer.json()["data"][0]["note_id"] == 1
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address[1]}/api/health")
    assert [path for path in tmp_path.iterdir() if path.name.startswith("crystal-demo")] == []


def test_the_examples_are_complete_and_name_each_other() -> None:
    records = list(example_records())
    kinds = [record["type"] for record in records]
    assert (kinds.count("note"), kinds.count("conversation")) == (132, 132)
    known = {record["external_id"] for record in records if record["type"] == "note"}
    relations = [record for record in records if record["type"] == "relation"]
    assert {end for one in relations for end in (one["source"], one["target"])} <= known
