"""The file of vectors that ChatCrystal reads: all of it on one line, written piece by piece.

Owns its form, and the ids of vectors that came from elsewhere.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np

from app.db.whole_tables import Row

LONGEST_TEXT = 0x1FFFFFE8
"""Characters; ChatCrystal reads the file as one text, and its engine takes none longer."""

_NAMESPACE = uuid.UUID("7f1d2c3a-6a55-5a0e-9a43-0c6d2b1f8e91")
_HEAD = b'{"version":1,"metadata_config":{},"items":['
_TAIL = b"]}"


def vector_id(chunk: Row) -> str:
    """Return the id that a chunk's vector came with, or else one that is always the same."""
    if chunk["vectra_id"]:
        return str(chunk["vectra_id"])
    name = f"{chunk['note_id']}/{chunk['chunk_index']}/{chunk['content_hash']}"
    return str(uuid.uuid5(_NAMESPACE, name))


def write_index(stream: BinaryIO, chunks: Iterable[Row]) -> None:
    """Write the file; chunks come with vectors, and their order breaks ties of a search."""
    stream.write(_HEAD)
    for number, chunk in enumerate(chunks):
        item = json.dumps(_item(chunk), ensure_ascii=False, separators=(",", ":"))
        stream.write((b"," if number else b"") + item.encode("utf-8"))
    stream.write(_TAIL)


def _item(chunk: Row) -> dict[str, Any]:
    vector = np.frombuffer(chunk["vector"], dtype=np.float32).astype(np.float64)
    return {
        "id": vector_id(chunk),
        "metadata": {
            "noteId": chunk["note_id"],
            "chunkIndex": chunk["chunk_index"],
            "conversationId": chunk["conversation_id"],
            "title": chunk["title"],
            "projectName": chunk["project_name"],
        },
        "vector": vector.tolist(),
        "norm": float(np.linalg.norm(vector)),
    }
