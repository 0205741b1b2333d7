"""``highlight``: the best passage of each found note, with the extents of the query's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.notes import NoteDraft
from tests.support.application import ask, opened, planted_vector, stub_values
from tests.support.provider import StubProvider

FILLER = "Nothing to see in this sentence. " * 20


def passage_of(folder: Path, draft: NoteDraft, query: str) -> dict[str, object] | None:
    with (
        StubProvider(vector=planted_vector) as provider,
        opened(folder, stub_values(provider)) as application,
    ):
        application.writer.create_note(draft)
        answer = ask(application, query, highlight=True, cut=False)
        found: dict[str, object] | None = answer.found[0].extra["passage"]
        return found


@pytest.mark.parametrize(
    ("summary", "query", "marked"),
    [
        pytest.param(
            f"{FILLER}The WAL journal mode lets readers go on.", "wal journal", "WAL", id="english"
        ),
        pytest.param(
            f"{FILLER}重跑gen-itgc后50条悬空引用清零。", "悬空引用", "悬空引用", id="chinese"
        ),
        pytest.param(f"{FILLER}Call ＳＱＬｉｔｅ with care.", "sqlite", "ＳＱＬｉｔｅ", id="wide"),
    ],
)
def test_the_words_of_the_query_are_marked_where_they_stand(
    tmp_path: Path, summary: str, query: str, marked: str
) -> None:
    passage = passage_of(tmp_path, NoteDraft("A note", summary), query)
    assert passage is not None
    text, extents = passage["text"], passage["extents"]
    assert isinstance(text, str)
    assert isinstance(extents, list)
    assert len(text) < len(summary)
    assert marked in [text[start:end] for start, end in extents]


def test_conclusions_and_body_are_looked_at_too(tmp_path: Path) -> None:
    draft = NoteDraft("A note", FILLER, body="# Vacuum\n\nAutovacuum was too lazy.")
    passage = passage_of(tmp_path, draft, "autovacuum")
    assert passage is not None
    assert "Autovacuum was too lazy" in str(passage["text"])


def test_a_note_without_text_but_its_title_has_none(tmp_path: Path) -> None:
    assert passage_of(tmp_path, NoteDraft("Only a title", ""), "title") is None


def test_nothing_is_added_unless_asked_for(tmp_path: Path) -> None:
    with StubProvider() as provider, opened(tmp_path, stub_values(provider)) as application:
        application.writer.create_note(NoteDraft("WAL", "journal"))
        assert "passage" not in ask(application, "wal").found[0].extra
