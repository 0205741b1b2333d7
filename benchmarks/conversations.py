"""How fast conversations are imported, and how much memory that takes.

``python -m benchmarks.conversations`` writes sessions of Claude Code as long debugging sessions
leave them (most of it output of tools, which is in the file twice), imports them in a process of
its own, and again. Prints one JSON object; seconds are of the clock and of the processor, memory is
the peak in MB.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from app import factory
from app.domain.imports import ImportRequest
from app.settings.values import Settings, parse

MEGABYTE = 1_000_000
SEED = 20_260_301

_VOCABULARY = (
    "pool timeout retry queue worker index migration schema cache token header proxy layout build "
    "deploy cluster node metric trace buffer stream socket thread lock commit branch merge config "
    "parser handler router session cookie cursor snapshot vector segment posting query filter"
)
_HAN = (
    "缓存连接超时重试队列索引迁移配置部署日志线程事务接口字段数据库服务请求响应会话消息函数模块测试"
)


class Writer:
    """Makes up sessions; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._words = _VOCABULARY.split()
        self._names: list[str] = []

    def _word(self) -> str:
        return self._random.choice(self._words)

    def sentence(self, *, is_chinese: bool) -> str:
        """Return something that a person or an assistant may say."""
        if is_chinese:
            return "".join(self._random.choices(_HAN, k=40)) + "。"
        words = self._random.choices(self._words, k=14)
        words[self._random.randrange(14)] = self._random.choice(self._names)
        return " ".join(words).capitalize() + "."

    def output(self, size: int) -> str:
        """Return what a tool may answer, of about so many characters."""
        lines, length = [], 0
        while length < size:
            number = self._random.randrange(10_000)
            name = self._random.choice(self._names)
            lines.append(f"{number:5d}\tsrc/{self._word()}/{name}.py: {self._word()} = {number}")
            length += len(lines[-1]) + 1
        return "\n".join(lines)

    def session(self, number: int, size: int) -> Iterator[dict[str, Any]]:
        """Yield the lines of a session of about so many bytes."""
        is_chinese = number % 3 == 0
        # A session is about some files; the next one is about others.
        self._names = [f"{self._word()}_{self._word()}_{number}_{each}" for each in range(60)]
        written, step = 0, 0
        while written < size:
            for record in self._step(number, step, is_chinese=is_chinese):
                written += len(str(record))
                yield record
            step += 1

    def _step(self, number: int, step: int, *, is_chinese: bool) -> Iterator[dict[str, Any]]:
        own = f"{number:08d}-{step:06d}"
        minute, second = divmod(step * 7, 60)
        line = {
            "parentUuid": None, "isSidechain": False, "userType": "external",
            "cwd": f"/home/dev/project-{number % 40}", "sessionId": f"{number:08d}",
            "version": "2.1.9", "gitBranch": "main",
            "timestamp": f"2026-01-{number % 28 + 1:02d}T{minute // 60 % 24:02d}:{minute % 60:02d}:"
                         f"{second:02d}.000Z",
        }  # fmt: skip
        if step % 6 == 0:
            said = " ".join(self.sentence(is_chinese=is_chinese) for _ in range(4))
            yield {**line, "type": "user", "uuid": f"{own}-u",
                   "message": {"role": "user", "content": said}}  # fmt: skip
        said = " ".join(self.sentence(is_chinese=is_chinese) for _ in range(6))
        path = f"src/{self._random.choice(self._names)}.py"
        blocks = [{"type": "text", "text": said},
                  {"type": "tool_use", "id": f"toolu_{own}", "name": "Read",
                   "input": {"file_path": path}}]  # fmt: skip
        yield {**line, "type": "assistant", "uuid": f"{own}-a", "requestId": f"req_{own}",
               "message": {"role": "assistant", "model": "m", "content": blocks,
                           "usage": {"input_tokens": 1}}}  # fmt: skip
        answer = self.output(self._random.choice((500, 1_500, 4_000, 20_000)))
        result = {"type": "tool_result", "tool_use_id": f"toolu_{own}", "content": answer}
        yield {**line, "type": "user", "uuid": f"{own}-r", "toolUseResult": {"stdout": answer},
               "message": {"role": "user", "content": [result]}}  # fmt: skip


def write(home: Path, conversations: int, megabytes: int) -> int:
    """Write sessions below a home folder; return their size in bytes."""
    writer = Writer(SEED)
    size = megabytes * MEGABYTE // conversations
    total = 0
    for number in range(conversations):
        folder = home / ".claude" / "projects" / f"-home-dev-project-{number % 40}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{number:08d}.jsonl"
        with path.open("w", encoding="utf-8") as stream:
            for record in writer.session(number, size):
                stream.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
        total += path.stat().st_size
    return total


def _settings(folder: Path, home: Path) -> Settings:
    return parse({"data_dir": str(folder), "sources.home": str(home)}, {})


def run_once(folder: Path, home: Path) -> dict[str, Any]:
    """Import in this process; return seconds, peak memory and counts."""
    settings = _settings(folder, home)
    with closing(factory.build(settings)) as application:
        started, worked = time.perf_counter(), time.process_time()
        report = application.conversations.run(ImportRequest())
        seconds, work = time.perf_counter() - started, time.process_time() - worked
    [source] = [each for each in report.sources if each.found]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE
    return {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(work, 2),
        "memory_mb": round(peak),
        "new": source.new,
        "unchanged": source.unchanged,
    }


def _in_a_process(folder: Path, home: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.conversations", "--run", str(folder), str(home)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@click.command()
@click.option("--conversations", default=5_000, show_default=True, help="How many.")
@click.option("--megabytes", default=1_000, show_default=True, help="Size of all their files.")
@click.option("--run", nargs=2, type=click.Path(path_type=Path), hidden=True)
def main(conversations: int, megabytes: int, run: tuple[Path, Path] | None) -> None:
    """Measure the import of conversations: twice, the second time with nothing new."""
    if run is not None:
        click.echo(json.dumps(run_once(*run)))
        return
    with tempfile.TemporaryDirectory(prefix="crystal-bench-") as name:
        home, folder = Path(name, "home"), Path(name, "data")
        written = write(home, conversations, megabytes)
        first, second = _in_a_process(folder, home), _in_a_process(folder, home)
        database = sum(path.stat().st_size for path in folder.glob("crystal.db*"))
    answer = {
        "conversations": conversations,
        "megabytes": round(written / MEGABYTE),
        "first": first,
        "second": second,
        "database_mb": round(database / MEGABYTE),
    }
    click.echo(json.dumps(answer))


if __name__ == "__main__":
    main()
