"""A folder of Markdown: a page a note, in a folder a project, joined by wiki links.

Owns which file a note becomes.
"""

from __future__ import annotations

from pathlib import Path

from app.db.whole_tables import BATCH, all_notes, projects, relations_leaving
from app.maintenance.export.names import file_stem, project_folders
from app.maintenance.export.pages import page
from app.maintenance.export.source import Source, Tally
from app.sync.adopting.target import batched


def write_pages(source: Source, folder: Path, tally: Tally) -> tuple[str, ...]:
    """Write every note into an empty folder; nothing is worth a warning."""
    folders = project_folders(projects(source.connection))
    for name in set(folders.values()):
        (folder / name).mkdir(exist_ok=True)
    for batch in batched(all_notes(source.connection), BATCH):
        leaving = relations_leaving(source.connection, [note["id"] for note in batch])
        for note in tally.counting("notes", batch):
            relations = leaving.get(note["id"], ())
            stem = file_stem(note["title"], note["slug"], note["id"])
            path = folder / folders[note["project_name"]] / f"{stem}.md"
            path.write_bytes(page(note, relations).encode("utf-8"))
            tally.add("relations", len(relations))
    return ()
