"""Queries on tags."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from app.db.models import conversations, note_tags, notes, tags
from app.domain.notes import TagCount


def counted(connection: Connection) -> tuple[TagCount, ...]:
    """Return every tag with the number of listed notes that have it, most used first."""
    listed = note_tags.join(notes, notes.c.id == note_tags.c.note_id).join(
        conversations, conversations.c.id == notes.c.conversation_id
    )
    uses = (
        select(note_tags.c.tag_id, func.count().label("uses"))
        .select_from(listed)
        .group_by(note_tags.c.tag_id)
        .subquery()
    )
    count = func.coalesce(uses.c.uses, 0)
    rows = connection.execute(
        select(tags.c.id, tags.c.name, count)
        .select_from(tags.outerjoin(uses, uses.c.tag_id == tags.c.id))
        .order_by(count.desc(), tags.c.id)
    )
    return tuple(TagCount(*row) for row in rows)
