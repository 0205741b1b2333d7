"""The schemas of answers that several routes give, beside the functions that shape them.

Owns what ``app.api.shapes`` may return, as JSON schemas.
"""

from __future__ import annotations

from app.api.schemas import (
    FLAG,
    NUMBER,
    TEXT,
    WHOLE,
    Schema,
    counts,
    many,
    maybe,
    of,
    page_of,
    record,
    some_of,
)
from app.api.shapes import NOTE_KEYS, OWN_NOTE_KEYS
from app.domain.conversations import Conversation, FoundTurn, Message
from app.domain.fragments import Surroundings
from app.domain.graph import NoteEdge, SectionMatch, Unresolved
from app.domain.memory import MemoryItem, Written
from app.domain.notes import Note, TagCount
from app.domain.relations import GraphEdge, GraphNode, Relation
from app.domain.search import WhyAnswer

OBJECT: Schema = {"type": "object"}

_NOTE = {
    **some_of(Note, NOTE_KEYS),
    "tags": many(TEXT),
    "project": TEXT,
    "aliases": many(TEXT),
    **some_of(Note, OWN_NOTE_KEYS),
}
LISTED_NOTE = record(_NOTE)
NOTE = record({**_NOTE, "project_dir": TEXT}, {"html": TEXT})
NOTES = page_of(LISTED_NOTE)
ID = record({"id": WHOLE})

RELATION = of(Relation)
RELATIONS = many(RELATION)
GRAPH = record(
    {
        "nodes": many(
            record(
                some_of(GraphNode, ("id", "title", "project_name", "tags")),
                {"x": NUMBER, "y": NUMBER},
            )
        ),
        "edges": many(of(GraphEdge)),
    }
)

_CONVERSATION = some_of(Conversation, tuple(Conversation.__dataclass_fields__))
CONVERSATIONS = page_of(record(_CONVERSATION))
_MESSAGE = {**some_of(Message, tuple(Message.__dataclass_fields__)), "turn": WHOLE}
CONVERSATION = record({**_CONVERSATION, "messages": many(record(_MESSAGE))})
_TURN = tuple(name for name in FoundTurn.__dataclass_fields__ if name not in ("text", "extents"))
FOUND_TURNS = many(
    record(
        {
            **some_of(FoundTurn, _TURN),
            "passage": record({"text": TEXT, "extents": many(many(WHOLE))}),
        }
    )
)

TAGS = many(
    record(
        some_of(TagCount, ("id", "name", "count")),
        {"children": many(record({"name": TEXT, "count": WHOLE}))},
    )
)

_STUB = {"note_id": WHOLE, "title": TEXT, "project_name": TEXT, "path": maybe(TEXT)}
_EDGES = {"edges": many(of(NoteEdge))}
TAGGED = record({"items": many(record({**_STUB, "score": NUMBER, "tag": TEXT}))})
CONNECTIONS = record(
    {
        "items": many(record({**_STUB, "hops": WHOLE, **_EDGES})),
        "total": WHOLE,
        "unresolved": many(of(Unresolved)),
    }
)
BACKLINKS = record({"items": many(record({**_STUB, "score": NUMBER, **_EDGES})), "total": WHOLE})
SHARED_TAGS = record(
    {"items": many(record({**_STUB, "score": WHOLE, "tags": many(TEXT)})), "total": WHOLE}
)
HIDDEN = record(
    {
        "items": many(
            record(
                {**_STUB, "score": NUMBER},
                {
                    "matched_sections": WHOLE,
                    "shown_sections": WHOLE,
                    "sections": many(of(SectionMatch)),
                },
            )
        )
    },
    {"sections": WHOLE},
)
BOOSTED = record(
    {
        "items": many(
            record(
                {
                    **_STUB,
                    "score": NUMBER,
                    "cosine": NUMBER,
                    "linked": FLAG,
                    "matched_queries": WHOLE,
                }
            )
        )
    }
)

SURROUNDINGS = of(Surroundings)
HINT = record(
    {
        "preview": TEXT,
        "chunk_id": maybe(WHOLE),
        "heading_path": maybe(TEXT),
        "extent": maybe(many(WHOLE)),
        "extent_of": {"enum": ["body", "text"]},
        "score": NUMBER,
    }
)
REPLICA = record({"note_id": WHOLE, "title": TEXT, "score": NUMBER})
FOUND_NOTE = record(
    {
        "note_id": WHOLE,
        "conversation_id": TEXT,
        "title": TEXT,
        "project_name": TEXT,
        "project": TEXT,
        "score": NUMBER,
        "tags": many(TEXT),
        "via_relation": maybe(TEXT),
    },
    {
        "summary": TEXT,
        "path": maybe(TEXT),
        "external_id": maybe(TEXT),
        "created_at": TEXT,
        "passage": maybe(OBJECT),
        "hints": many(HINT),
        "replicas": many(REPLICA),
        "matched_queries": WHOLE,
        "lexical": FLAG,
        "chunks": many(OBJECT),
    },
)
FOUND = many(FOUND_NOTE)
EXPLAINED = {"explain": OBJECT}
WHY = record(
    some_of(WhyAnswer, tuple(name for name in WhyAnswer.__dataclass_fields__ if name != "warnings"))
)

_TASK = record(
    {
        "id": TEXT,
        "title": TEXT,
        "status": {"enum": ["queued", "running", "completed", "failed", "cancelled"]},
        "addedAt": TEXT,
        "startedAt": maybe(TEXT),
        "finishedAt": maybe(TEXT),
        "error": maybe(TEXT),
    }
)
QUEUE = record(
    {"total": WHOLE, "completed": WHOLE, "failed": WHOLE, "active": WHOLE, "tasks": many(_TASK)}
)
QUEUED = record({"queued": WHOLE}, {"queue": QUEUE})
CANCELLED = record({"cancelled": WHOLE})
EMBEDDED = record({"noteId": WHOLE, "chunks": WHOLE})

_SECOND_SPACE = maybe(
    record({"space": TEXT, "notes_done": WHOLE, "notes": WHOLE, "complete": FLAG})
)
_CHANGEOVER = maybe(
    record({"searching": TEXT, "filling": TEXT, "notes_done": WHOLE, "notes": WHOLE,
            "notes_failed": WHOLE})
)  # fmt: skip
STATUS = record(
    {
        "server": FLAG,
        "database": FLAG,
        "isSeeded": FLAG,
        "stats": counts(),
        "recentNotes": many(
            record(some_of(Note, ("id", "title", "conversation_id", "project_name", "created_at")))
        ),
        "implementation": TEXT,
        "version": TEXT,
        "embedding": record({"provider": TEXT, "model": TEXT, "notes": counts()}),
        "secondSpace": _SECOND_SPACE,
        "changeover": _CHANGEOVER,
    }
)
HEALTH = record({"status": {"const": "ok"}})
READY = record(
    {
        "ready": FLAG,
        "database": TEXT,
        "index": record({"vectors": WHOLE, "sequence": WHOLE}),
        "notes_to_embed": WHOLE,
        "notes_without_companions": WHOLE,
        "entities_without_vectors": WHOLE,
        "second_space": _SECOND_SPACE,
        "changeover": _CHANGEOVER,
        "embedder": TEXT,
        "provider": record({"up": FLAG, "failures": WHOLE, "left_alone_for": WHOLE}),
    }
)

_PROVIDER = record({"provider": TEXT, "baseURL": TEXT, "model": TEXT, "hasApiKey": FLAG})
_CONFIGURED = {
    "llm": _PROVIDER,
    "embedding": _PROVIDER,
    "sources": many(
        record({"name": TEXT, "displayName": TEXT, "dataDir": TEXT, "conversationCount": WHOLE})
    ),
    "enabledSources": many(TEXT),
    "claudeProjectsDir": TEXT,
    "search": record({"ranker": TEXT, "rankers": many(TEXT)}),
    "space": record(
        {
            "provider": TEXT,
            "model": TEXT,
            "dimension": maybe(WHOLE),
            "border": NUMBER,
            "hasMeans": FLAG,
            "meanLengths": maybe(
                record(dict.fromkeys(("query", "query_han", "passage", "passage_han"), NUMBER))
            ),
            "maxChars": WHOLE,
        }
    ),
}
CONFIG = record(_CONFIGURED)
CHANGED_CONFIG: Schema = {
    "anyOf": [CONFIG, record({"requiresConfirm": FLAG, "warnings": many(TEXT)})]
}
TRIED_CONFIG = record(
    {
        "connected": FLAG,
        "embedding": record(
            {"ok": FLAG, "connected": FLAG},
            {
                "provider": TEXT,
                "model": TEXT,
                "dimension": WHOLE,
                "error": TEXT,
                "code": TEXT,
            },
        ),
    },
    {"error": TEXT},
)
IMPORTED = record(
    {
        "added": counts(),
        "unchanged": counts(),
        "refused": many(record({"line": WHOLE, "error": TEXT})),
    }
)

_ESTIMATE = record(
    {"conversations": WHOLE, "characters": WHOLE, "tokens": WHOLE, "model": maybe(TEXT)}
)
SUMMARIZED = record({"queued": WHOLE}, {"total": WHOLE, "queue": QUEUE, "estimate": _ESTIMATE})
REVIEWED = record({"id": TEXT, "status": TEXT, "note_id": maybe(WHOLE)})
RESET = record({"reset": WHOLE})
RECALLED = record(
    {
        "mode": TEXT,
        "reason": {"enum": ["ok", "no-project-key", "no-matches"]},
        "warnings": many(TEXT),
        "project_memories": many(of(MemoryItem)),
        "global_memories": many(of(MemoryItem)),
    },
    {"project_key": TEXT},
)
WRITTEN = of(Written)
DISCOVERED = record({"queued": WHOLE}, {"total": WHOLE, "queue": QUEUE})
