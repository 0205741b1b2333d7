"""Notes with a Markdown body: its sections become chunks behind those of the summary."""

from __future__ import annotations

from pathlib import Path

from app.db import chunks
from app.domain.chunks import KIND_CHUNK
from app.domain.notes import NoteDraft, NotePatch
from app.factory import Application
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider

BODY = "# Locks\n\nWriters wait.\n\n## Timeouts\n\nFive seconds.\n"


def texts(application: Application, note_id: int) -> list[str]:
    with application.database.read() as connection:
        ids = chunks.ids_of_note(connection, 1, KIND_CHUNK, note_id)
        rows = {row.chunk_id: row.text for row in chunks.rows(connection, ids)}
    return [rows[chunk_id] for chunk_id in ids]


def test_sections_are_chunks_with_the_title_and_their_headings(tmp_path: Path) -> None:
    with StubProvider() as provider, opened(tmp_path, stub_values(provider)) as application:
        note_id = application.writer.create_note(NoteDraft("SQLite", "On waiting.", body=BODY))
        summary, locks, timeouts = texts(application, note_id)
        assert summary == "SQLite\n\nOn waiting."
        assert locks.startswith("Note: SQLite\nLocks")
        assert "Writers wait." in locks
        assert timeouts.startswith("Note: SQLite\nLocks > Timeouts")
        assert "Five seconds." in timeouts


def test_a_changed_body_is_embedded_again_and_only_its_changed_sections(tmp_path: Path) -> None:
    with StubProvider() as provider, opened(tmp_path, stub_values(provider)) as application:
        note_id = application.writer.create_note(NoteDraft("SQLite", "On waiting.", body=BODY))
        before = len(provider.requests)
        changed = BODY.replace("Five", "Ten")
        application.writer.edit_note(note_id, NotePatch({"body": changed}))
        assert any("Ten seconds." in text for text in texts(application, note_id))
        asked = [text for request in provider.requests[before:] for text in request.texts]
        assert len(asked) == 1
        assert "Ten seconds." in asked[0]
