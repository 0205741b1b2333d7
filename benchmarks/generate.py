"""Makes a ChatCrystal data directory of any size: ``python -m benchmarks.generate DIR``.

Owns the form of that directory as version 0.4.9 writes it. The same arguments give the same
rows and vectors at every run; nothing is held in memory but a batch.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.embedding.chunking import NoteText, chunk_text, note_text

PROVIDER = "ollama"
MODEL = "generated"
MAX_CHARS = 2_000
BATCH = 200
MESSAGES_PER_CONVERSATION = 4
NAMESPACE = uuid.UUID(int=0)

_WORD_LIST = """
index vacuum replica lock queue cache shard schema token cookie probe rollout canary latency
node.js 索引 缓存 队列 事务 连接池 部署 监控 回滚 测试 编码 网络 证书 慢查询 重试 utf-8 c++ 日志
"""
WORDS = tuple(_WORD_LIST.split())
PROJECTS = ("atlas-api", "web-portal", "知识库", "infra_ops")
RELATION_TYPES = ("SIMILAR_TO", "CAUSED_BY", "DEPENDS_ON", "REFERENCES")

SCHEMA = """
CREATE TABLE conversations (
  id TEXT PRIMARY KEY, slug TEXT, source TEXT NOT NULL DEFAULT 'claude-code',
  project_dir TEXT NOT NULL, project_name TEXT NOT NULL, cwd TEXT, git_branch TEXT,
  message_count INTEGER DEFAULT 0, first_message_at TEXT NOT NULL, last_message_at TEXT NOT NULL,
  file_path TEXT NOT NULL, file_size INTEGER, file_mtime TEXT, status TEXT DEFAULT 'imported',
  experience_score REAL, experience_gate_reason TEXT, experience_gate_details TEXT,
  created_at TEXT DEFAULT (datetime('now')), updated_at TEXT DEFAULT (datetime('now')));
CREATE TABLE messages (
  id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, parent_uuid TEXT, type TEXT NOT NULL,
  role TEXT, content TEXT NOT NULL, has_tool_use INTEGER DEFAULT 0, has_code INTEGER DEFAULT 0,
  thinking TEXT, timestamp TEXT NOT NULL, sort_order INTEGER NOT NULL,
  FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE CASCADE);
CREATE TABLE notes (
  id INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id TEXT UNIQUE NOT NULL,
  title TEXT NOT NULL, summary TEXT NOT NULL, key_conclusions TEXT, code_snippets TEXT,
  raw_llm_response TEXT, is_edited INTEGER DEFAULT 0, embedding_status TEXT DEFAULT 'pending',
  project_key TEXT, scope TEXT DEFAULT 'project',
  source_type TEXT DEFAULT 'imported-conversation', source_agent TEXT DEFAULT 'unknown',
  task_kind TEXT, error_signatures TEXT, files_touched TEXT, outcome_type TEXT,
  created_at TEXT DEFAULT (datetime('now')), updated_at TEXT DEFAULT (datetime('now')),
  FOREIGN KEY (conversation_id) REFERENCES conversations(id) ON DELETE CASCADE);
CREATE TABLE tags (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL);
CREATE TABLE note_tags (
  note_id INTEGER NOT NULL, tag_id INTEGER NOT NULL, PRIMARY KEY (note_id, tag_id),
  FOREIGN KEY (note_id) REFERENCES notes(id) ON DELETE CASCADE,
  FOREIGN KEY (tag_id) REFERENCES tags(id) ON DELETE CASCADE);
CREATE TABLE embeddings (
  id INTEGER PRIMARY KEY AUTOINCREMENT, note_id INTEGER NOT NULL,
  chunk_index INTEGER NOT NULL DEFAULT 0, chunk_text TEXT NOT NULL, vectra_id TEXT,
  created_at TEXT DEFAULT (datetime('now')), UNIQUE(note_id, chunk_index),
  FOREIGN KEY (note_id) REFERENCES notes(id) ON DELETE CASCADE);
CREATE TABLE note_relations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, source_note_id INTEGER NOT NULL,
  target_note_id INTEGER NOT NULL, relation_type TEXT NOT NULL, confidence REAL DEFAULT 1.0,
  description TEXT, created_by TEXT NOT NULL DEFAULT 'manual',
  created_at TEXT DEFAULT (datetime('now')),
  UNIQUE(source_note_id, target_note_id, relation_type),
  FOREIGN KEY (source_note_id) REFERENCES notes(id) ON DELETE CASCADE,
  FOREIGN KEY (target_note_id) REFERENCES notes(id) ON DELETE CASCADE);
CREATE INDEX idx_messages_conversation ON messages(conversation_id);
CREATE INDEX idx_note_tags_tag ON note_tags(tag_id);
CREATE INDEX idx_embeddings_note ON embeddings(note_id);
CREATE INDEX idx_note_relations_source ON note_relations(source_note_id);
CREATE INDEX idx_note_relations_target ON note_relations(target_note_id);
"""


@dataclass(frozen=True, slots=True)
class GeneratedNote:
    """A note by its id, with its tags by id and the texts of its chunks."""

    id: int
    title: str
    summary: str
    conclusions: tuple[str, ...]
    tag_ids: tuple[int, ...]
    chunks: tuple[str, ...]

    @property
    def conversation_id(self) -> str:
        """The id of the note's conversation."""
        return f"conversation-{self.id}"

    @property
    def project(self) -> str:
        """The name of its project."""
        return PROJECTS[self.id % len(PROJECTS)]

    @property
    def created_at(self) -> str:
        """A time that differs from note to note and grows with the id."""
        days, seconds = divmod(self.id, 86_400)
        minutes, second = divmod(seconds, 60)
        hour, minute = divmod(minutes, 60)
        return f"2026-01-{days + 1:02d} {hour:02d}:{minute:02d}:{second:02d}"

    def vector_id(self, index: int) -> str:
        """The id of a chunk's vector in the index file."""
        return str(uuid.uuid5(NAMESPACE, f"{self.id}/{index}"))


def generate(folder: Path, note_count: int, dimension: int) -> int:
    """Write ``chatcrystal.db``, ``vectra-index/index.json`` and ``config.json``.

    Returns:
        The number of vectors.
    """
    index = folder / "vectra-index" / "index.json"
    index.parent.mkdir(parents=True)
    embedding = {"provider": PROVIDER, "model": MODEL, "baseURL": "http://localhost:11434"}
    (folder / "config.json").write_text(json.dumps({"embedding": embedding}), encoding="utf-8")
    random = np.random.default_rng(0)
    count = 0
    with (
        closing(sqlite3.connect(folder / "chatcrystal.db")) as database,
        index.open("w", encoding="utf-8") as file,
    ):
        # The original's file is flagged so, though it never has a log beside it.
        database.execute("PRAGMA journal_mode=WAL")
        database.executescript(SCHEMA)
        database.executemany("INSERT INTO tags (name) VALUES (?)", [(word,) for word in WORDS])
        file.write('{"version":1,"metadata_config":{},"items":[')
        for batch in _batches(note_count, random):
            _store(database, batch)
            for item in _items(batch, dimension, random):
                file.write("," * bool(count) + _compact(item))
                count += 1
        file.write("]}")
    return count


def _batches(note_count: int, random: np.random.Generator) -> Iterator[list[GeneratedNote]]:
    for start in range(1, note_count + 1, BATCH):
        end = min(start + BATCH, note_count + 1)
        yield [_note(note_id, random) for note_id in range(start, end)]


def _note(note_id: int, random: np.random.Generator) -> GeneratedNote:
    words = [WORDS[number] for number in random.integers(0, len(WORDS), 180)]
    title = f"{words[0]} {words[1]} {note_id}"
    summary = "\n\n".join(" ".join(words[start : start + 60]) for start in range(0, 180, 60))
    conclusions = (f"{words[2]} needs {words[3]}", f"{words[4]}：{words[5]}")
    tag_ids = tuple(sorted({1 + int(number) for number in random.integers(0, len(WORDS), 3)}))
    text = note_text(
        NoteText(
            title=title,
            summary=summary,
            key_conclusions=conclusions,
            tags=tuple(WORDS[tag_id - 1] for tag_id in tag_ids),
        )
    )
    chunks = tuple(chunk.text for chunk in chunk_text(text, MAX_CHARS))
    return GeneratedNote(note_id, title, summary, conclusions, tag_ids, chunks)


def _store(database: sqlite3.Connection, batch: list[GeneratedNote]) -> None:
    with database:
        for table, columns in _rows(batch):
            names, marks = ", ".join(columns), ", ".join("?" * len(columns))
            database.execute(
                f"INSERT INTO {table} ({names}) VALUES ({marks})", list(columns.values())
            )


def _rows(batch: list[GeneratedNote]) -> Iterator[tuple[str, dict[str, Any]]]:
    for note in batch:
        yield "conversations", _conversation(note)
        yield from (("messages", _message(note, i)) for i in range(MESSAGES_PER_CONVERSATION))
        yield (
            "notes",
            {
                "id": note.id,
                "conversation_id": note.conversation_id,
                "title": note.title,
                "summary": note.summary,
                "key_conclusions": json.dumps(note.conclusions, ensure_ascii=False),
                "embedding_status": "done",
                "source_agent": "claude",
                "created_at": note.created_at,
                "updated_at": note.created_at,
            },
        )
        yield from (
            ("note_tags", {"note_id": note.id, "tag_id": tag_id}) for tag_id in note.tag_ids
        )
        for index, text in enumerate(note.chunks):
            yield (
                "embeddings",
                {
                    "note_id": note.id,
                    "chunk_index": index,
                    "chunk_text": text,
                    "vectra_id": note.vector_id(index),
                    "created_at": note.created_at,
                },
            )
        if note.id > 1:
            yield "note_relations", _relation(note)


def _conversation(note: GeneratedNote) -> dict[str, Any]:
    return {
        "id": note.conversation_id,
        "project_dir": f"/home/dev/{note.project}",
        "project_name": note.project,
        "message_count": MESSAGES_PER_CONVERSATION,
        "first_message_at": note.created_at,
        "last_message_at": note.created_at,
        "file_path": f"/home/dev/.logs/{note.conversation_id}.jsonl",
        "status": "summarized",
        "created_at": note.created_at,
        "updated_at": note.created_at,
    }


def _message(note: GeneratedNote, index: int) -> dict[str, Any]:
    return {
        "id": f"{note.conversation_id}-{index}",
        "conversation_id": note.conversation_id,
        "type": "assistant" if index % 2 else "user",
        "content": note.summary,
        "timestamp": note.created_at,
        "sort_order": index,
    }


def _relation(note: GeneratedNote) -> dict[str, Any]:
    return {
        "source_note_id": note.id,
        "target_note_id": note.id // 2,
        "relation_type": RELATION_TYPES[note.id % len(RELATION_TYPES)],
        "confidence": (note.id % 11) / 10,
        "created_by": "llm",
        "created_at": note.created_at,
    }


def _items(
    batch: list[GeneratedNote], dimension: int, random: np.random.Generator
) -> Iterator[dict[str, Any]]:
    for note in batch:
        for index in range(len(note.chunks)):
            vector = random.standard_normal(dimension)
            yield {
                "id": note.vector_id(index),
                "metadata": {
                    "noteId": note.id,
                    "chunkIndex": index,
                    "conversationId": note.conversation_id,
                    "title": note.title,
                    "projectName": note.project,
                },
                "vector": (vector / np.linalg.norm(vector)).tolist(),
                "norm": 1,
            }


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    """Read the command line and write the directory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder that does not exist yet")
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--dim", type=int, default=384)
    given = parser.parse_args()
    count = generate(given.folder, given.notes, given.dim)
    size = (given.folder / "vectra-index" / "index.json").stat().st_size
    print(f"{given.notes} notes, {count} vectors, index.json {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
