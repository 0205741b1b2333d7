"""Queries on memories: receipts of what agents wrote, and notes with the same error."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from sqlalchemy import Connection, insert, or_, select

from app.db.columns import now
from app.db.idlist import in_ids
from app.db.models import entities, note_entities, note_relations, writeback_receipts
from app.domain.fragments import ERROR
from app.domain.memory import Writeback, Written


def receipt(connection: Connection, request: Writeback) -> Written | None:
    """Return what became of a memory when it was written before."""
    columns = writeback_receipts.c
    row = connection.execute(
        select(
            columns.decision, columns.note_id, columns.merged_into_note_id, columns.reason
        ).where(
            columns.source_agent == request.task.source_agent,
            columns.source_run_key == request.source_run_key,
        )
    ).one_or_none()
    return Written(request.mode, *row) if row else None


def add_receipt(connection: Connection, request: Writeback, written: Written) -> None:
    """Store what became of a memory."""
    connection.execute(
        insert(writeback_receipts).values(
            source_agent=request.task.source_agent,
            source_run_key=request.source_run_key,
            decision=written.decision,
            note_id=written.note_id,
            merged_into_note_id=written.merged_into_note_id,
            reason=written.reason,
            created_at=now(),
        )
    )


def notes_with_error(connection: Connection, signatures: Iterable[str]) -> set[int]:
    """Return the notes that have one of these error signatures."""
    rows = connection.execute(
        select(note_entities.c.note_id)
        .join(entities, entities.c.id == note_entities.c.entity_id)
        .where(entities.c.kind == ERROR, entities.c.name.in_(list(signatures)))
    )
    return set(rows.scalars())


def related_ids(connection: Connection, note_ids: Iterable[int]) -> dict[int, tuple[int, ...]]:
    """Return the notes that each of these notes is related to, by id."""
    ids = list(note_ids)
    columns = note_relations.c
    rows = connection.execute(
        select(columns.source_note_id, columns.target_note_id).where(
            or_(in_ids(columns.source_note_id, ids), in_ids(columns.target_note_id, ids))
        )
    )
    found: defaultdict[int, set[int]] = defaultdict(set)
    for source, target in rows:
        found[source].add(target)
        found[target].add(source)
    return {note_id: tuple(sorted(found[note_id])) for note_id in ids if note_id in found}
