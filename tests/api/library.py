"""A small library of notes, as import records, and one good request to every route over it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from flask.testing import FlaskClient

from app.factory import Application
from tests.api.answers import data_of, json_lines

Record = dict[str, Any]

COMMA_TAG = "retry, backoff"

# Number of the note, which becomes its id: project, time, title, summary, tags, further columns.
NOTES: tuple[tuple[str, str, str, str, tuple[str, ...], Record], ...] = (
    ("atlas", "2026-03-01 10:00:00", "Redis pool exhausted", "Every worker held a connection.",
     ("redis", "pool"), {"key_conclusions": ["Close cursors"]}),
    ("atlas", "2026-03-02 10:00:00", "Postgres vacuum tuning", "Autovacuum was too lazy.",
     ("postgres",), {"task_kind": "debug"}),
    ("atlas", "2026-03-02 10:00:00", "Postgres index bloat", "REINDEX gave back 40 GB.",
     ("postgres", "index"), {}),
    ("atlas", "2026-03-02 10:00:00", "Kafka consumer lag", "One partition was hot.",
     (COMMA_TAG,), {}),
    ("知识库", "2026-03-03T10:00:00.000Z", "数据库连接池耗尽", "高峰期大量超时。",
     ("数据库", "pool"), {}),
    ("知识库", "2026-03-03 23:59:59", "向量检索召回率", "分块太大，语义被稀释。",
     ("检索",), {}),
    ("知识库", "2026-03-04 00:00:00", "Emoji in titles 🎉", "Surrogate pairs count twice.",
     (), {"body": "# Lengths\n\nJavaScript counts units."}),
    ("infra_ops", "2026-03-05 08:00:00", "Flaky websocket test", "It asserted on timing.",
     ("testing",), {"source_type": "agent-writeback", "error_signatures": ["TimeoutError"]}),
    ("infra_ops", "2026-03-06 08:00:00", "Docker image slimming", "Multi-stage builds.",
     ("docker",), {"path": "ops/docker.md", "aliases": ["Small images"]}),
    ("infra_ops", "2026-03-07 08:00:00", "Coverage of 100% is no goal", "snake_case stays.",
     (), {"path": "ops/coverage.md"}),
    ("infra_ops", "2026-03-08 08:00:00", "Coverage of 100 percent", "snakeXcase goes \\ away.",
     (), {"path": "notes/ops/coverage.md"}),
    ("infraXops", "2026-03-09 08:00:00", "Über Café", "ÉTÉ is not été.", ("Postgres",), {}),
)  # fmt: skip

RELATIONS: tuple[tuple[int, int, str, float], ...] = (
    (1, 2, "SIMILAR_TO", 0.8),
    (2, 3, "EXTENDS", 0.8),
    (3, 2, "REFERENCES", 0.8),
    (2, 5, "LEADS_TO", 1.0),
    (5, 6, "SIMILAR_TO", 0.4),
)

MEMORY_NOTE = 8


def records() -> list[Record]:
    """Conversations, messages, notes and relations, in the order of their ids."""
    found: list[Record] = []
    for number, (project, moment, title, summary, tags, more) in enumerate(NOTES, start=1):
        found += [
            {
                "type": "conversation",
                "external_id": f"conv-{number}",
                "source": "chatcrystal-memory" if number == MEMORY_NOTE else "claude-code",
                "slug": f"slug-{number}",
                "project_name": project,
                "project_dir": f"/home/dev/{project}",
                "first_message_at": moment,
                "last_message_at": moment,
                "status": "summarized",
            },
            {
                "type": "note",
                "external_id": f"note-{number}",
                "conversation": f"conv-{number}",
                "title": title,
                "summary": summary,
                "tags": list(tags),
                "created_at": moment,
                **more,
            },
        ]
    found += [
        {
            "type": "message",
            "external_id": f"message-{number}",
            "conversation": "conv-1",
            "role": "user" if number % 2 else "assistant",
            "content": f"Text {number}",
            "has_code": number % 2,
            "timestamp": f"2026-03-01T10:00:0{number}Z",
            "sort_order": number,
        }
        for number in (2, 1, 3)
    ]
    return found + [
        {
            "type": "relation",
            "source": f"note-{source}",
            "target": f"note-{target}",
            "relation_type": kind,
            "confidence": confidence,
        }
        for source, target, kind, confidence in RELATIONS
    ]


def fill(application: Application) -> None:
    """Store the library and embed its notes; note number n gets id n."""
    report = application.importer.import_records(records())
    assert not report.refused
    assert not application.batches.embed_many(application.batches.unembedded()).reasons


def import_library(client: FlaskClient) -> None:
    """Store the library over HTTP, not embedded."""
    response = client.post(
        "/api/import", data=json_lines(records()), content_type="application/x-ndjson"
    )
    assert data_of(response)["added"]["note"] == len(NOTES)


@dataclass(frozen=True, slots=True)
class Example:
    """A request that succeeds over the library; ``body`` is sent as JSON, bytes as they are."""

    path: str
    status: int = 200
    body: Any = None
    media_type: str = "application/json"

    @property
    def content(self) -> dict[str, Any]:
        """The arguments of a test client for the body."""
        if self.body is None:
            return {}
        raw = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        return {"data": raw, "content_type": self.media_type}


IMPORTED = b'{"type":"conversation","external_id":"conv-new"}\n'

EXAMPLES: dict[tuple[str, str], Example] = {
    ("GET", "/api/status"): Example("/api/status"),
    ("GET", "/api/health"): Example("/api/health"),
    ("GET", "/api/ready"): Example("/api/ready"),
    ("GET", "/api/config"): Example("/api/config"),
    ("POST", "/api/config"): Example("/api/config", 200, {"search": {"ranker": "vector"}}),
    ("POST", "/api/config/test"): Example(
        "/api/config/test", 200, {"embedding": {"provider": "openai", "baseURL": "http://[::1]:1"}}
    ),
    ("GET", "/api/search"): Example("/api/search?q=redis+pool&expand=true&explain=true"),
    ("GET", "/api/search/why"): Example("/api/search/why?q=数据库&note_id=5"),
    ("GET", "/api/notes"): Example("/api/notes?limit=5"),
    ("POST", "/api/notes"): Example("/api/notes", 201, {"title": "新笔记"}),
    ("GET", "/api/notes/<id:note_id>"): Example("/api/notes/5"),
    ("PATCH", "/api/notes/<id:note_id>"): Example("/api/notes/5", 200, {"title": "改过的"}),
    ("DELETE", "/api/notes/<id:note_id>"): Example("/api/notes/5"),
    ("POST", "/api/notes/<id:note_id>/open"): Example("/api/notes/5/open"),
    ("GET", "/api/notes/by-conversation/<text:conversation_id>"): Example(
        "/api/notes/by-conversation/conv-5"
    ),
    ("GET", "/api/notes/<id:note_id>/relations"): Example("/api/notes/2/relations"),
    ("GET", "/api/notes/<id:note_id>/expand"): Example("/api/notes/2/expand?limit=5"),
    ("POST", "/api/notes/<id:note_id>/relations"): Example(
        "/api/notes/1/relations", 201, {"target_note_id": 9, "relation_type": "CAUSED_BY"}
    ),
    ("GET", "/api/notes/resolve"): Example("/api/notes/resolve?ref=docker.md"),
    ("GET", "/api/notes/<id:note_id>/connections"): Example(
        "/api/notes/1/connections?direction=both&hops=3"
    ),
    ("GET", "/api/notes/<id:note_id>/backlinks"): Example("/api/notes/2/backlinks"),
    ("GET", "/api/notes/<id:note_id>/shared-tags"): Example("/api/notes/1/shared-tags"),
    ("GET", "/api/notes/<id:note_id>/hidden"): Example("/api/notes/5/hidden?deep=true"),
    ("GET", "/api/notes/<id:note_id>/boosted"): Example(
        "/api/notes/2/boosted?q=postgres&q=数据库&boost=2.5"
    ),
    ("POST", "/api/notes/<id:note_id>/discover-relations"): Example(
        "/api/notes/2/discover-relations"
    ),
    ("POST", "/api/relations/batch-discover"): Example("/api/relations/batch-discover"),
    ("POST", "/api/conversations/<text:conversation_id>/summarize"): Example(
        "/api/conversations/conv-1/summarize"
    ),
    ("POST", "/api/conversations/<text:conversation_id>/keep"): Example(
        "/api/conversations/conv-1/keep"
    ),
    ("POST", "/api/conversations/<text:conversation_id>/drop"): Example(
        "/api/conversations/conv-1/drop"
    ),
    ("POST", "/api/summarize/batch"): Example("/api/summarize/batch"),
    ("POST", "/api/summarize/reset-errors"): Example("/api/summarize/reset-errors"),
    ("GET", "/api/summarize/filtered"): Example("/api/summarize/filtered"),
    ("POST", "/api/memory/recall"): Example(
        "/api/memory/recall",
        200,
        {"task": {"goal": "Redis pool", "task_kind": "debug", "project_key": "git:a"}},
    ),
    ("POST", "/api/memory/writeback"): Example(
        "/api/memory/writeback",
        200,
        {
            "mode": "manual",
            "task": {"goal": "Redis pool", "task_kind": "debug"},
            "memory": {
                "summary": "Workers held their connections for ever",
                "outcome_type": "fix",
                "resolution": "Close cursors",
            },
        },
    ),
    ("GET", "/api/relations/graph"): Example("/api/relations/graph?include=links,tags&layout=true"),
    ("DELETE", "/api/relations/<id:relation_id>"): Example("/api/relations/1"),
    ("GET", "/api/tags"): Example("/api/tags"),
    ("GET", "/api/tags/notes"): Example("/api/tags/notes?tag=pool"),
    ("GET", "/api/conversations"): Example("/api/conversations?limit=5"),
    ("GET", "/api/conversations/<text:conversation_id>"): Example("/api/conversations/conv-1"),
    ("DELETE", "/api/conversations/<text:conversation_id>"): Example("/api/conversations/conv-1"),
    ("POST", "/api/notes/<id:note_id>/embed"): Example("/api/notes/5/embed"),
    ("POST", "/api/embeddings/batch"): Example("/api/embeddings/batch"),
    ("GET", "/api/queue/status"): Example("/api/queue/status"),
    ("GET", "/api/queue/stream"): Example("/api/queue/stream"),
    ("POST", "/api/queue/cancel"): Example("/api/queue/cancel"),
    ("GET", "/api/openapi.json"): Example("/api/openapi.json"),
    ("GET", "/api/docs"): Example("/api/docs"),
    ("GET", "/api/metrics"): Example("/api/metrics"),
    ("GET", "/api/docs/style.css"): Example("/api/docs/style.css"),
    ("GET", "/api/search/messages"): Example("/api/search/messages?q=text&limit=3"),
    ("POST", "/api/import/scan"): Example("/api/import/scan"),
    ("GET", "/api/import/scan/stream"): Example("/api/import/scan/stream"),
    ("POST", "/api/import/scan/stream"): Example("/api/import/scan/stream"),
    ("POST", "/api/import"): Example("/api/import", 200, IMPORTED, "application/x-ndjson"),
}

STREAM = ("GET", "/api/queue/stream")
"""The route whose success does not end."""

SCAN_STREAM = ("GET", "/api/import/scan/stream")
"""The route that streams something that ends."""

PAGES = {
    ("GET", "/api/openapi.json"),
    ("GET", "/api/docs"),
    ("GET", "/api/docs/style.css"),
    ("GET", "/api/import/scan/stream"),
    ("POST", "/api/import/scan/stream"),
    ("GET", "/api/metrics"),
}
"""Routes whose success is no envelope."""

DATALESS = {
    ("POST", "/api/notes/<id:note_id>/open"),
    *(key for key in EXAMPLES if key[0] == "DELETE"),
}
"""Routes that have nothing to tell but that they succeeded."""

READS = [key for key in EXAMPLES if key[0] == "GET"]
WRITES = [key for key in EXAMPLES if key[0] != "GET"]
ENVELOPED = [key for key in EXAMPLES if key != STREAM and key not in PAGES]


def route_id(key: tuple[str, str]) -> str:
    """The id of a route in the names of tests."""
    return f"{key[0]} {key[1].removeprefix('/api/')}"
