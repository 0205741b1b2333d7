"""Tables, named and shaped as the original's so that its users recognise them.

Owns the schema that the migrations lead to. Must not hold queries.
"""

from app.db.models.base import NAMING, TEXT, metadata
from app.db.models.conversations import conversations, import_files, message_documents, messages
from app.db.models.feed import api_tokens, index_changes, index_state
from app.db.models.notes import (
    note_links,
    note_names,
    note_opens,
    note_relations,
    note_tags,
    notes,
    notes_to_relate,
    tags,
    writeback_receipts,
)
from app.db.models.vectors import (
    chunk_entities,
    embedding_spaces,
    embeddings,
    entities,
    lexical_documents,
    note_entities,
    note_spaces,
)

__all__ = [
    "NAMING",
    "TEXT",
    "api_tokens",
    "chunk_entities",
    "conversations",
    "embedding_spaces",
    "embeddings",
    "entities",
    "import_files",
    "index_changes",
    "index_state",
    "lexical_documents",
    "message_documents",
    "messages",
    "metadata",
    "note_entities",
    "note_links",
    "note_names",
    "note_opens",
    "note_relations",
    "note_spaces",
    "note_tags",
    "notes",
    "notes_to_relate",
    "tags",
    "writeback_receipts",
]
