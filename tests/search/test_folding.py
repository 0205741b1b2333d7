"""The cache of folded texts: right after a change, and bounded by what it holds."""

from __future__ import annotations

from app.db.chunks import StoredChunk
from app.domain.evidence import NoteCard
from app.search.folding import FoldedTexts


def chunk(id_: int, title: str, text: str) -> StoredChunk:
    return StoredChunk(id_, 0, text, NoteCard(id_, title, "done", f"note:{id_}"))


def folded(texts: FoldedTexts, *found: StoredChunk, epoch: str = "one") -> list[str]:
    return [row.folded for row in texts.rows(epoch, found).values()]


def test_a_new_title_and_another_epoch_are_folded_anew() -> None:
    texts = FoldedTexts()
    assert folded(texts, chunk(1, "Old", "Text")) == ["old\ntext"]
    assert folded(texts, chunk(1, "New", "Text")) == ["new\ntext"]
    assert folded(texts, chunk(1, "New", "Other"), epoch="two") == ["new\nother"]


def test_long_texts_are_not_kept_for_long() -> None:
    texts = FoldedTexts(most_characters=1_000)
    for id_ in range(40):
        folded(texts, chunk(id_, "t", "x" * 300))
        assert texts.characters <= 1_000 + 302
    # What is folded anew in the place of another counts once.
    for number in range(40):
        folded(texts, chunk(40, f"title {number}", "x" * 300))
        assert texts.characters <= 1_000 + 320
