"""Slugs, tags and keys of names, and the golden cases of the first two."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.markdown import names


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("a/b/Note.md", "Note"),
        ("Note.MARKDOWN", "Note"),
        ("a/pic.png", "pic.png"),
        ("v1.2", "v1.2"),
    ],
)
def test_the_stem_of_a_path(path: str, stem: str) -> None:
    assert names.stem(path) == stem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Note", "folder/note.md"),
        ("API Gateway", "api-gateway"),
        ("Caf\u00e9", unicodedata.normalize("NFD", "caf\u00e9")),
        ("!!!", " !!! "),
        ("ＡＢＣ", "abc"),
    ],
)
def test_names_of_one_note_have_one_key(one: str, other: str) -> None:
    assert names.key(one) == names.key(other) != ""


@given(st.text(max_size=40))
def test_a_slug_is_its_own_slug(text: str) -> None:
    once = names.slug(text)
    assert names.slug(once.replace(".", "")) == once
    assert not once.startswith("-")
    assert not once.endswith("-")
