"""A generated database of notes with vectors, the same at every run.

Owns texts and vectors of the notes; rows are stored by the same code as any note's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

import app  # noqa: F401 - limits native threads before numpy is imported
from app.db import notes
from app.db.engine import Database
from app.domain.chunks import Chunk
from app.domain.spaces import PLAIN_BORDER
from app.embedding.base import Embedder
from app.embedding.builtin import BuiltinEmbedder
from app.factory import Application, build
from app.settings.store import load
from app.sync.texts import Prepared, of_note
from app.sync.transaction import Transaction, transaction
from app.sync.vectors import Outcome, store

DIMENSION = 512
CHUNKS_PER_NOTE = 3
NEAR_NOTES = 40
"""So many notes lie close to the first axis, well above the border of relevance."""

NEAR = "near"
"""A query with this word asks close to the first axis, any other somewhere."""

CLOSENESS = 100.0
"""So many times as long as all the rest is the first axis in a query that asks close to it."""

DIRECTIONS = 4_096
"""So many directions are asked along; they are made beforehand."""

BATCH = 500
_WORD_LIST = """
index vacuum replica lock queue cache shard schema token cookie probe rollout canary latency
索引 缓存 队列 事务 连接池 部署 监控 回滚 测试 编码 网络 证书 慢查询 重试
"""
WORDS = _WORD_LIST.split()


class InstantEmbedder(Embedder):
    """A provider that answers at once.

    It bears the built-in model's name, so that the real one can open the database afterwards.
    """

    provider = BuiltinEmbedder.provider
    default_model = BuiltinEmbedder.default_model
    known_dimension = DIMENSION

    def request_vectors(self, texts: Sequence[str], *, is_query: bool) -> object:
        """Return a direction of its own for each text, with ``NEAR`` close to the first axis."""
        return np.stack([_direction(text) for text in texts])


@cache
def _directions() -> NDArray[np.float32]:
    """Return many directions, of unit length; shape (``DIRECTIONS``, d)."""
    random = np.random.default_rng(1)
    vectors = random.standard_normal((DIRECTIONS, DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _direction(text: str) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = _directions()[crc32(text.encode()) % DIRECTIONS].copy()
    if NEAR in text:
        vector[0] += CLOSENESS
    return vector


def open_corpus(folder: Path, note_count: int) -> Application:
    """Open the generated database in a folder, made now when it is not there."""
    settings = load({"data_dir": str(folder)}, environment={})
    application = build(settings, InstantEmbedder(settings.embedding))
    with application.database.read() as connection:
        is_filled = bool(notes.all_ids(connection))
    if not is_filled:
        _fill(application, note_count)
    return application


def _fill(application: Application, note_count: int) -> None:
    random = np.random.default_rng(0)
    application.importer.import_records(records(note_count, random))
    with application.database.read() as connection:
        note_ids = notes.all_ids(connection)
    for start in range(0, len(note_ids), BATCH):
        with transaction(application.database) as unit:
            _store_vectors(unit, application.database, note_ids[start : start + BATCH], random)
    # Else a server would make them while it is measured.
    application.companions.fill()


def records(note_count: int, random: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Make so many notes, each with its conversation and a relation, as an import takes them."""
    for number in range(note_count):
        yield from _records(number, random)


def _records(number: int, random: np.random.Generator) -> list[dict[str, Any]]:
    words = [WORDS[i] for i in random.integers(0, len(WORDS), 210)]
    paragraphs = [" ".join(words[i : i + 70]) for i in range(0, 210, 70)]
    conversation: dict[str, Any] = {
        "type": "conversation",
        "external_id": f"conversation-{number}",
        "project_name": f"project-{number % 20}",
    }
    note: dict[str, Any] = {
        "type": "note",
        "external_id": f"note-{number}",
        "conversation": conversation["external_id"],
        "title": f"{words[0]} {words[1]} {number}",
        "summary": "\n\n".join(paragraphs),
        "tags": [WORDS[number % len(WORDS)], WORDS[(number * 7) % len(WORDS)]],
    }
    relation: dict[str, Any] = {
        "type": "relation",
        "source": f"note-{number}",
        "target": f"note-{number // 2}",
        "relation_type": "SIMILAR_TO",
        "confidence": 0.8,
    }
    return [conversation, note] + ([relation] if number else [])


def _store_vectors(
    unit: Transaction, database: Database, note_ids: Sequence[int], random: np.random.Generator
) -> None:
    space_id = 1
    for note in notes.get_many(unit.connection, note_ids):
        prepared = of_note(note, 2_000)
        pieces = prepared.chunks[:CHUNKS_PER_NOTE]
        chunks = tuple(Chunk(index, piece.text) for index, piece in enumerate(pieces))
        vectors = tuple(_vector(note.id, random) for _ in chunks)
        outcome = Outcome(Prepared(prepared.text_hash, chunks), vectors)
        store(unit, space_id, note.id, outcome)


def _vector(note_id: int, random: np.random.Generator) -> NDArray[np.float32]:
    vector = random.standard_normal(DIMENSION, dtype=np.float32)
    vector /= np.linalg.norm(vector)
    if note_id <= NEAR_NOTES:
        vector *= 0.5
        vector[0] = 1.0 + PLAIN_BORDER
        vector /= np.linalg.norm(vector)
    return vector
