"""What is proposed as a beginning: from the notes themselves, and the same each time."""

from __future__ import annotations

from typing import Any

import pytest

from cli.evaluation.proposals import proposals, spread
from cli.evaluation.values import ServedNote


def note(number: int, title: str, summary: str = "", **more: Any) -> ServedNote:
    """A note as a server lists it."""
    item = {"id": number, "title": title, "summary": summary, **more}
    return ServedNote(number, title, more.get("external_id"), more.get("path"), item)


def of_class(lines: list[dict[str, Any]], group: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["class"] == group]


@pytest.mark.parametrize(
    ("found", "number", "chosen"),
    [([], 3, []), ([1, 2], 3, [1, 2]), (list(range(10)), 3, [0, 3, 6]), ([1, 2, 3], 3, [1, 2, 3])],
    ids=["none", "few", "many", "as-many"],
)
def test_a_choice_is_spread_over_all(found: list[int], number: int, chosen: list[int]) -> None:
    assert spread(found, number) == chosen


def test_an_exact_term_is_in_one_note_alone() -> None:
    notes = [
        note(1, "Pool exhausted", "max_overflow of the pool"),
        note(2, "Pool again", "pool_recycle of the pool"),
        note(3, "Shared", "max_overflow and pool_recycle"),
    ]
    exact = of_class(proposals(notes, 10), "exact")
    assert [(line["query"], line["relevant"]) for line in exact] == [
        ("exhausted", {"1": 2}),
        ("again", {"2": 2}),
        ("Shared", {"3": 2}),
    ]
    # A name of something, and above all an error, is what people search for word by word.
    more = [*notes, note(4, "Plainly", "journal_mode", error_signatures=["E4711: no such page"])]
    assert of_class(proposals(more, 10), "exact")[-1]["query"] == "E4711: no such page"
    more[3] = note(4, "Plainly", "journal_mode")
    assert of_class(proposals(more, 10), "exact")[-1]["query"] == "journal_mode"


def test_a_word_of_another_text_of_a_note_counts_as_held() -> None:
    notes = [note(1, "Alpha", "journal_mode"), note(2, "Beta", body="journal_mode in the body")]
    queries = [line["query"] for line in of_class(proposals(notes, 10), "exact")]
    assert queries == ["Alpha", "Beta"]


def test_chinese_terms_are_whole_runs() -> None:
    notes = [
        note(1, "连接池耗尽，请求超时"),
        note(2, "请求超时，磁盘写满"),
        note(3, "磁盘写满，请求超时"),
    ]
    exact = of_class(proposals(notes, 10), "exact")
    assert [(line["query"], line["relevant"]) for line in exact] == [("连接池耗尽", {"1": 2})]


def test_notes_are_called_by_the_name_that_lasts() -> None:
    notes = [
        note(1, "Alpha", external_id="n-1", path="a.md"),
        note(2, "Beta", path="b.md"),
        note(3, "Gamma"),
    ]
    stubs = of_class(proposals(notes, 10), "paraphrase")
    assert [list(line["relevant"]) for line in stubs] == [["n-1"], ["b.md"], ["3"]]
    assert all(line["query"] == "" and line["todo"] and line["title"] for line in stubs)


def test_no_note_holds_a_word_of_what_has_no_answer() -> None:
    notes = [note(1, "BGP sessions"), note(2, "My Sourdough notes"), note(3, "蓝牙配对")]
    lines = proposals(notes, 10)
    none = [line["query"] for line in lines if not line["relevant"]]
    assert not [
        query for query in none if "BGP" in query or "sourdough" in query or "蓝牙" in query
    ]
    assert len(of_class(lines, "none_on_topic")) == len(of_class(lines, "none_off_topic")) == 5


@pytest.mark.parametrize(
    ("titles", "chinese"), [(("a", "b"), 0), (("锁", "池"), 3), (("a", "锁"), 2)], ids=str
)
def test_what_has_no_answer_is_in_the_languages_of_the_notes(
    titles: tuple[str, ...], chinese: int
) -> None:
    lines = proposals([note(number, title) for number, title in enumerate(titles, 1)], 6)
    probes = of_class(lines, "none_on_topic")
    assert len(probes) == 3
    assert sum(not line["query"].isascii() for line in probes) == chinese


def test_the_same_notes_give_the_same_lines_in_any_order() -> None:
    notes = [note(number, f"Title {number}", f"word{number}") for number in range(1, 40)]
    lines = proposals(notes, 4)
    assert proposals(reversed(notes), 4) == lines
    assert [line["relevant"] for line in of_class(lines, "paraphrase")] == [
        {"1": 2},
        {"10": 2},
        {"20": 2},
        {"30": 2},
    ]
    assert proposals([], 4)[0]["relevant"] == {}
