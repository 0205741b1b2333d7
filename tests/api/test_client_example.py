"""The typed client of the documentation, over a real application."""

from __future__ import annotations

import httpx
import pytest

from app.factory import Application
from docs.examples.client import Crystal, Refused


def test_the_example_client_searches_reads_and_writes(filled: Application) -> None:
    with Crystal("http://localhost", transport=httpx.WSGITransport(app=filled.flask())) as crystal:
        added = crystal.add("Redis pool sizing", "One connection a worker.", ("redis",))
        found = crystal.search("redis pool", ranker="vector")
        assert added["id"] in [row["note_id"] for row in found]
        assert crystal.note(added["id"])["tags"] == ["redis"]
        with pytest.raises(Refused, match="Note not found") as refused:
            crystal.note(10**9)
        assert refused.value.code == "note_not_found"
