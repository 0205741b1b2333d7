"""Fewer fields and shorter texts: as functions, and as the flags that agents give."""

from __future__ import annotations

from typing import Any

import pytest

from cli.lean import names_of, shortened, with_fields
from tests.cli.conftest import Runner


@pytest.mark.parametrize(
    ("data", "longest", "expected"),
    [
        ("连接池耗尽了", 4, "连接池…"),
        ("short", 5, "short"),
        ("ab", 1, "…"),
        ({"a": ["abc", 1, None, True]}, 2, {"a": ["a…", 1, None, True]}),
        ({"abc": "abc"}, None, {"abc": "abc"}),
    ],
    ids=["chinese", "fits", "one", "nested", "whole"],
)
def test_texts_are_cut(data: Any, longest: int | None, expected: Any) -> None:
    assert shortened(data, longest) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"b": 1, "a": 2, "c": 3}, {"a": 2, "b": 1}),
        ([{"a": 1}, {"c": 2}], [{"a": 1}, {}]),
        ({"items": [{"a": 1, "c": 2}], "total": 1}, {"items": [{"a": 1}], "total": 1}),
    ],
    ids=["record", "list", "page"],
)
def test_fields_are_picked_in_the_order_of_their_names(data: Any, expected: Any) -> None:
    picked = with_fields(data, ("a", "b"))
    assert picked == expected
    if isinstance(picked, dict) and "a" in picked:
        assert list(picked) == ["a", "b"]


@pytest.mark.parametrize("text", [None, "", " , "])
def test_no_names_keep_everything(text: str | None) -> None:
    assert names_of(text) is None
    assert with_fields({"a": 1}, None) == {"a": 1}


def test_a_list_of_notes_has_the_named_fields(read: Runner) -> None:
    page = read("notes", "list", "--fields", "id, title").data
    assert all(list(row) == ["id", "title"] for row in page["items"])
    assert page["total"] == 6


def test_a_note_has_the_named_fields(read: Runner) -> None:
    assert list(read("notes", "get", "1", "--fields", "tags,id").data) == ["tags", "id"]


@pytest.mark.parametrize("place", ["before", "after"])
def test_texts_of_any_answer_are_cut(read: Runner, place: str) -> None:
    flags = ("--max-chars", "5")
    arguments = (*flags, "search", "redis") if place == "before" else ("search", "redis", *flags)
    rows = read(*arguments).data
    assert rows
    assert all(len(row["title"]) <= 5 for row in rows)


def test_a_length_of_nothing_is_refused(read: Runner) -> None:
    assert read("search", "redis", "--max-chars", "0").code == 2
