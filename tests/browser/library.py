"""Notes for the page: in two languages, related, linked, and some that try to run scripts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.domain.notes import NoteDraft, Snippet
from app.domain.relations import RelationDraft
from app.factory import Application

POOL = "Connection pool exhausted under load"
CHINESE = "连接池在高峰期耗尽"
HOSTILE = 'A <img src=x onerror="window.ran=1"> title'
LINKED = "What the pool note links to"

ATTACKS = "\n\n".join(
    [
        "<script>window.ran = 1</script>",
        '<img src="x" onerror="window.ran = 1">',
        "[click](javascript:window.ran=1)",
        "[click][2]\n\n[2]: JaVaScRiPt:window.ran=1",
        '<svg onload="window.ran=1"><script>window.ran=1</script></svg>',
        '<a href="data:text/html,<script>window.ran=1</script>">data</a>',
        "<style>body { display: none }</style>",
        "<iframe srcdoc='<script>parent.ran=1</script>'></iframe>",
        '![x](x"onerror="window.ran=1)',
        '``` "><script>window.ran=1</script>\ncode\n```',
        "[[<img src=x onerror=window.ran=1>|<b>label</b>]]",
    ]
)


def fill(application: Application) -> None:
    """Write and embed the notes; note n has id n."""
    write = application.writer
    write.create_note(
        NoteDraft(
            POOL,
            "cos=0.95 Every worker held a connection, so the pool was exhausted.",
            body=f"## Cause\n\nSee [[{LINKED}]] and [[Nobody wrote this]].\n\n- a **list**\n",
            key_conclusions=("Close cursors before the call.",),
            code_snippets=(Snippet("python", "def close():\n    return None\n", "The fix"),),
            tags=("pool", "database"),
            project="atlas",
        )
    )
    write.create_note(
        NoteDraft(
            CHINESE, "cos=0.9 高峰期连接池耗尽，请求大量超时。", tags=("连接池",), project="知识库"
        )
    )
    write.create_note(NoteDraft(LINKED, "cos=0.5 Timeouts of the driver.", project="atlas"))
    write.create_note(NoteDraft(HOSTILE, "cos=0.85 attack", body=ATTACKS, tags=("<b>tag</b>",)))
    write.create_note(NoteDraft("Far away", "cos=0.05 Nothing to see."))
    write.create_relation(RelationDraft(1, 2, "SIMILAR_TO", 0.8))
    write.create_relation(RelationDraft(5, 1, "CAUSED_BY", 0.6))
    application.batches.embed_many(application.batches.unembedded())
    application.companions.fill()


MANY = 10_000
_SUBJECTS = ("retry", "timeout", "cache", "queue", "重试", "超时", "index", "lock", "队列", "pool")


def many_records() -> Iterator[dict[str, Any]]:
    """Records of many short notes."""
    for number in range(MANY):
        first, second = _SUBJECTS[number % 10], _SUBJECTS[number // 10 % 10]
        yield {
            "type": "conversation",
            "external_id": f"c{number}",
            "project_name": f"p{number % 7}",
            "first_message_at": "2026-03-01",
            "last_message_at": "2026-03-01",
        }
        yield {
            "type": "note",
            "external_id": f"n{number}",
            "conversation": f"c{number}",
            "title": f"{first} and {second} {number}",
            "summary": f"{first} before {second}",
        }
