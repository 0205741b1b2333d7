"""Rules about characters: folding stays quick and exact whatever a text holds."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.text import fold, utf16_length, with_few_marks

ACUTE, CEDILLA = "\u0301", "\u0327"


def test_a_megabyte_of_marks_is_folded_at_once() -> None:
    """Normalising it as it stands would take hours."""
    folded = fold("a" + (ACUTE + CEDILLA) * 500_000)
    assert folded.startswith("á") or folded.startswith("a")
    assert len(folded) <= 31


@pytest.mark.parametrize("count", [0, 1, 29, 30])
def test_marks_up_to_the_bound_stay(count: int) -> None:
    text = "e" + ACUTE * count + "x"
    assert with_few_marks(text) == text


@given(st.text())
def test_ordinary_texts_are_folded_by_the_standard(text: str) -> None:
    if with_few_marks(text) == text:
        assert fold(text) == unicodedata.normalize("NFKC", text).lower()


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_an_emoji_counts_twice(text: str) -> None:
    assert utf16_length(text) == sum(2 if character > "\uffff" else 1 for character in text)
