"""Some notes with known scores, in two languages, with what is hard to lay out or to print."""

from __future__ import annotations

from typing import Any

from app.factory import Application

LONG_TITLE = "A title of forty columns and one more than"
CHINESE_TITLE = "数据库连接池在高峰期耗尽导致请求超时的排查记录"
STEERING_TITLE = "Red \x1b[31m alert\x07\nsecond line [bold]mark[/bold] :bomb:"
FAMILY = "👨\u200d👩\u200d👧"

# Title, project, tags, cosine of its vector to every query; note n gets id n.
NOTES: tuple[tuple[str, str, tuple[str, ...], float], ...] = (
    ("Redis pool exhausted", "atlas", ("redis", "pool", "python", "errors"), 0.95),
    (CHINESE_TITLE, "知识库检索平台与运维控制台", ("数据库", "连接池"), 0.9),
    (LONG_TITLE, "a project name with many words", ("layout",), 0.85),
    (f"Release 🎉 with {FAMILY} emoji", "atlas", (), 0.8),
    (STEERING_TITLE, "atlas", ("steering",), 0.7),
    ("Far away", "elsewhere", ("distance",), 0.1),
)

RELATIONS = ((1, 6, "CAUSED_BY", 0.8), (2, 1, "SIMILAR_TO", 0.95))


def records() -> list[dict[str, Any]]:
    """Conversations, messages, notes and relations as import records."""
    found: list[dict[str, Any]] = []
    for number, (title, project, tags, cosine) in enumerate(NOTES, start=1):
        moment = f"2026-03-{number:02d} 10:00:00"
        found += [
            {
                "type": "conversation",
                "external_id": f"conv/{number}",
                "source": "codex" if number == 1 else "claude-code",
                "slug": f"slug-{number}",
                "project_name": project,
                "first_message_at": moment,
                "last_message_at": moment,
                "message_count": number,
                "status": "summarized",
            },
            {
                "type": "note",
                "external_id": f"note-{number}",
                "conversation": f"conv/{number}",
                "title": title,
                "summary": f"First line, cos={cosine}\n\nSecond paragraph.",
                "key_conclusions": ["Close what was opened"],
                "code_snippets": [{"language": "py", "code": "x = 1\n", "description": "Set x"}],
                "tags": list(tags),
                "created_at": moment,
            },
        ]
    found.append(
        {
            "type": "message",
            "external_id": "message-1",
            "conversation": "conv/1",
            "role": "user",
            "content": "连接池为什么耗尽？",
            "timestamp": "2026-03-01T10:00:00Z",
        }
    )
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
    """Store the notes and embed them."""
    report = application.importer.import_records(records())
    assert not report.refused
    assert not application.batches.embed_many(application.batches.unembedded()).reasons
