"""What a reference to a note means, step by step."""

from __future__ import annotations

import random

import pytest

from app.markdown.references import Referable, resolve

NOTES = (
    Referable(1, "Note A", "Note A.md", "note-a"),
    Referable(2, "Weekly", "2026/Weekly review.md", None),
    Referable(3, "Weekly", "2025/Weekly review.md", None),
    Referable(4, "数据库连接池", None, None),
    Referable(5, "Über Café", "notes/Über Café.md", None),
    Referable(6, "Other", "notes/Weekly.md", None),
    Referable(7, "100%", None, None),
)
MEANT = {
    "Note A": [1],
    "  note a  ": [1],
    "note a.MD": [1],
    "NOTE-A": [1],
    "2026/weekly REVIEW": [2],
    "2025/Weekly review.md": [3],
    # One path ends so, two titles are so: the path is tried first.
    "weekly": [6],
    "Weekly review": [3, 2],
    "Weekly review.md": [3, 2],
    "review.md": [3, 2],
    "数据库连接池": [4],
    "连接池": [4],
    "ÜBER CAFÉ": [5],
    # The same letters, decomposed.
    "u\u0308ber cafe\u0301": [5],
    "über-café": [5],
    "100%": [7],
    # Only the end of a slug, from within a word on.
    "tesweekly": [6],
    "notes": [],
    "": [],
    " \t": [],
    ".md": [],
    "/": [],
    "!": [],
    "nothing of the kind": [],
}


@pytest.mark.parametrize(("reference", "ids"), MEANT.items(), ids=repr)
def test_what_a_reference_means(reference: str, ids: list[int]) -> None:
    for seed in range(3):
        shuffled = random.Random(seed).sample(NOTES, len(NOTES))
        found = resolve(reference, shuffled)
        assert [note.note_id for note in found.candidates] == ids
        assert found.note_id == (ids[0] if len(ids) == 1 else None)
