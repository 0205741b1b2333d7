"""Does this text occur? LIKE as every database must understand it, against a model in Python."""

from __future__ import annotations

import json
import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.db import notes, tags
from app.db.engine import Database
from app.domain.notes import LIKE_COLUMNS, NoteQuery
from tests.db.conftest import add_notes

TEXTS = (
    "", "abc", "ABC", "a%c", "a_c", "a\\c", "a\\%c", "100%", "über", "ÜBER", "Straße", "STRASSE",
    "İstanbul", "istanbul", "ﬁle", "file", "数据库锁定", "a\nb", "tab\there", "%", "_", "\\",
    "\\\\", "say \"hi\"", "it's", "C:\\temp\\new", "[a-c]", "😀 smile", "a", "b", "K", "K",
)  # fmt: skip
PATTERNS = st.one_of(
    st.text(alphabet="%_\\aAbBcCüÜßİi数据\"'[]n😀. ", max_size=6),
    st.sampled_from(TEXTS),
)
FOLD = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
WILDCARDS = {"%": ".*", "_": "."}


def occurs(pattern: str, text: str, *, literal: bool) -> bool:
    """What the pattern means: no case for ASCII letters, wildcards unless it is literal."""
    wildcards = {} if literal else WILDCARDS
    expression = "".join(wildcards.get(c, re.escape(c)) for c in pattern.translate(FOLD))
    return re.search(expression, text.translate(FOLD), re.DOTALL) is not None


def ids_of(database: Database, query: NoteQuery) -> list[int]:
    with database.read() as connection:
        page = notes.page(connection, query)
    assert page.total == len(page.items)
    return sorted(note.id for note in page.items)


@pytest.fixture(scope="module")
def titled(shared: Database) -> Database:
    """A note a text, in its title."""
    with shared.write() as connection:
        add_notes(connection, [{"title": text, "summary": "~"} for text in TEXTS])
    return shared


@given(pattern=PATTERNS, literal=st.booleans())
@example(pattern="a\\%c", literal=True)
@example(pattern="a\\%c", literal=False)
@example(pattern="\\", literal=False)
@example(pattern="\\", literal=True)
@example(pattern="Ü", literal=False)
def test_like_means_what_the_model_says(titled: Database, pattern: str, literal: bool) -> None:
    expected = [
        number
        for number, text in enumerate(TEXTS, start=1)
        if not pattern or occurs(pattern, text, literal=literal)
    ]
    query = NoteQuery(pattern=pattern, literal=literal, columns=("title",), limit=100)
    assert ids_of(titled, query) == expected


@pytest.fixture(scope="module")
def columned(tmp_path_factory: pytest.TempPathFactory, shared: Database) -> Database:
    """After the titles: a note a column, with the text ``needle 5%`` in that column alone."""
    rows = [
        {"title": "needle 5%"},
        {"summary": "needle 5%"},
        {"key_conclusions": json.dumps(["first", "a needle 5%"])},
        {},
        {"body": "needle 5%"},
        {"raw_llm_response": "needle 5%", "code_snippets": json.dumps(["needle 5%"])},
    ]
    with shared.write() as connection:
        connection.exec_driver_sql("DELETE FROM conversations")
        add_notes(connection, rows)
        tags.set_of_note(connection, 4, ["needle 5%"])
    return shared


@pytest.mark.parametrize("column", LIKE_COLUMNS)
@pytest.mark.parametrize(
    ("pattern", "literal"), [("NEEDLE 5", False), ("n__dle%5", False), ("Needle 5%", True)]
)
def test_each_column_is_searched_by_its_name(
    columned: Database, column: str, pattern: str, literal: bool
) -> None:
    query = NoteQuery(pattern=pattern, literal=literal, columns=(column,))
    assert ids_of(columned, query) == [LIKE_COLUMNS.index(column) + 1]


def test_columns_are_joined_by_or_and_default_to_title_and_summary(columned: Database) -> None:
    assert ids_of(columned, NoteQuery(pattern="needle")) == [1, 2]
    assert ids_of(columned, NoteQuery(pattern="needle", columns=LIKE_COLUMNS)) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("words", ['say "hi"', "C:\\temp\\new", "two\nlines", "tab\there", "中文"])
@pytest.mark.parametrize("literal", [False, True], ids=["like", "literal"])
def test_conclusions_are_searched_by_what_they_say_and_not_by_how_they_are_stored(
    database: Database, words: str, literal: bool
) -> None:
    stored = json.dumps(["before", f"so: {words}.", "after"], ensure_ascii=False)
    with database.write() as connection:
        add_notes(connection, [{"key_conclusions": stored}, {"key_conclusions": "[]"}])
    query = NoteQuery(pattern=words, literal=literal, columns=("conclusions",))
    assert ids_of(database, query) == [1]


def test_the_punctuation_between_conclusions_is_no_part_of_them(database: Database) -> None:
    with database.write() as connection:
        add_notes(connection, [{"key_conclusions": '["one", "two"]'}])
    query = NoteQuery(pattern='", "', literal=True, columns=("conclusions",))
    assert ids_of(database, query) == []


@pytest.mark.parametrize("literal", [False, True], ids=["like", "literal"])
def test_the_longest_query_text_is_searched(database: Database, literal: bool) -> None:
    """4,000 characters of four bytes each, or of two escapes each, are within SQLite's bound."""
    texts = ["😀" * 4_000, "%" * 4_000]
    with database.write() as connection:
        add_notes(connection, [{"title": text} for text in texts])
    found = [ids_of(database, NoteQuery(pattern=text, literal=literal)) for text in texts]
    assert found == [[1], [2] if literal else [1, 2]]
