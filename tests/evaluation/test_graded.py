"""The graded notes and queries in ``fixtures/graded``: their form, and what their page claims."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.embedding.sections import body_chunks
from app.lexical.function_words import is_function_word
from app.lexical.segmentation import tokens
from app.text import has_han
from benchmarks.collection import GRADED, OPENING, our_records, read_graded, read_lines
from cli.evaluation.queries import read_queries
from tests.support.application import opened
from tests.support.golden import COPY

Record = Mapping[str, Any]

RECORDS = read_lines(GRADED / "notes.jsonl")
NOTES: dict[str, Record] = {
    record["external_id"]: record for record in RECORDS if record["type"] == "note"
}
QUERIES: Sequence[Record] = read_lines(GRADED / "queries.jsonl")
OPENED = [line["note"] for line in read_lines(GRADED / "opened.jsonl")]

BILINGUAL = (
    "synonym",
    "distractor",
    "disjoint",
    "several",
    "alias",
    "duplicate",
    "short",
    "chunks",
    "long_wrong",
    "long_right",
    "recency",
    "exact",
    "none_topic",
    "none_off",
)
ACROSS = {"x_en_zh": "ge", "x_zh_en": "gz"}
"""Classes that ask across languages, and the beginning of the ids that may not answer them."""

CLASSES = {f"{name}_{language}" for name in BILINGUAL for language in ("en", "zh")}
CLASSES |= {*ACROSS, "mixed"}

MOST_SHARED = 0.4
MOST_SHARED_BY = {"distractor": 0.5, "disjoint": 0.0, "alias": 1.0, "exact": 1.0}
"""The share of a query's content words that may stand in a note that answers it."""

MOST_ALIKE = 0.3
"""Content words common to two notes, over those of both."""

SHORT = 120
"""Characters of the title and summary of a note of one line."""

SECTIONS = 6


def kind(query: Record) -> str:
    """The class of a query without its language."""
    name: str = query["class"]
    return name.rpartition("_")[0] if name.endswith(("_en", "_zh")) else name


def of_kind(*kinds: str) -> list[Record]:
    return [query for query in QUERIES if kind(query) in kinds]


def answers(query: Record) -> list[str]:
    """The notes of the highest grade."""
    return [note for note, grade in query["relevant"].items() if grade == 3]


def text(note: Record) -> str:
    """Everything of a note that can be searched."""
    snippets = [f"{each['description']}\n{each['code']}" for each in note.get("code_snippets", ())]
    lists = [*note.get("key_conclusions", ()), *note["tags"], *note.get("aliases", ())]
    return "\n".join([note["title"], note["summary"], note.get("body", ""), *snippets, *lists])


def words(content: str) -> set[str]:
    return {token for token in tokens(content) if not is_function_word(token)}


WORDS = {name: words(text(note)) for name, note in NOTES.items()}


def older_notes() -> Iterator[tuple[str, str]]:
    """Title and text of the notes of the other collections."""
    for note in json.loads((COPY / "relevance.json").read_text(encoding="utf-8"))["notes"]:
        yield note["title"], "\n".join([note["title"], note["summary"], *note["conclusions"]])
    for record in our_records():
        if record["type"] == "note":
            yield record["title"], text(record)


def test_there_are_300_notes_half_in_each_language() -> None:
    names = [f"{prefix}-{number:03}" for number in range(1, 151) for prefix in ("ge", "gz")]
    assert list(NOTES) == names
    assert [name for name in names if has_han(text(NOTES[name])) is name.startswith("ge")] == []


def test_titles_are_told_apart_from_one_another_and_from_those_of_other_collections() -> None:
    titles = Counter(note["title"].casefold() for note in NOTES.values())
    titles.update({title.casefold() for title, _ in older_notes()})
    assert [title for title, count in titles.items() if count > 1] == []


def test_no_note_is_a_copy_of_one_of_another_collection() -> None:
    older = [(title, words(content)) for title, content in older_notes()]
    copies = [
        (name, title)
        for name, own in WORDS.items()
        for title, known in older
        if len(own & known) > MOST_ALIKE * len(own | known)
    ]
    assert copies == []


def test_every_record_is_taken_and_every_note_opened_is_there(tmp_path: Path) -> None:
    with opened(tmp_path) as application:
        report = application.importer.import_records(RECORDS)
    assert report.refused == []
    assert not any(report.unchanged.values())
    assert report.added["note"] == report.added["conversation"] == 300
    assert set(OPENED) <= set(NOTES)


def test_the_measurement_reads_the_folder_and_the_command_its_queries() -> None:
    records, queries = read_graded(GRADED)
    assert records[: len(RECORDS)] == RECORDS
    assert records[len(RECORDS) :] == [{"type": OPENING, "note": name} for name in OPENED]
    read = read_queries(GRADED / "queries.jsonl").queries
    wanted = [(query["id"], query["query"], query["class"], query["relevant"]) for query in QUERIES]
    assert [(query.id, query.text, query.group, query.grades) for query in queries] == wanted
    assert [(query.id, query.text, query.group, query.grades) for query in read] == wanted


def test_there_are_queries_of_every_class_in_both_languages() -> None:
    assert len(QUERIES) >= 80
    counts = Counter(query["class"] for query in QUERIES)
    assert set(counts) == CLASSES
    assert min(counts.values()) >= 3
    for unique in ("id", "query"):
        assert len({query[unique] for query in QUERIES}) == len(QUERIES)


def test_queries_are_in_the_language_of_their_class() -> None:
    # What people call a note may be of either language, whatever they speak.
    asked = [query for query in QUERIES if kind(query) not in ("alias", "mixed")]
    wrong = [
        query["query"]
        for query in asked
        if has_han(query["query"]) is not query["class"].endswith("_zh")
        and query["class"] not in ACROSS
    ]
    assert wrong == []
    assert all(not has_han(query["query"]) for query in QUERIES if query["class"] == "x_en_zh")
    assert all(has_han(query["query"]) for query in QUERIES if query["class"] == "x_zh_en")


def test_grades_are_of_notes_that_exist_and_only_questions_without_answer_have_none() -> None:
    for query in QUERIES:
        assert set(query) == {"id", "query", "class", "relevant"}
        assert set(query["relevant"]) <= set(NOTES), query
        assert set(query["relevant"].values()) <= {1, 2, 3}, query
        assert bool(answers(query)) is not query["class"].startswith("none"), query


def test_queries_avoid_the_wording_of_their_answers() -> None:
    for query in QUERIES:
        asked = words(query["query"])
        bound = MOST_SHARED_BY.get(kind(query), MOST_SHARED)
        for name in answers(query):
            shared = asked & WORDS[name]
            assert len(shared) <= bound * len(asked), (query["query"], name, sorted(shared))


def test_words_of_a_distractor_stand_in_notes_that_do_not_answer() -> None:
    for query in of_kind("distractor"):
        asked = words(query["query"])
        wrong = [own for name, own in WORDS.items() if name not in query["relevant"]]
        assert any(asked & own for own in wrong), query["query"]


def test_several_notes_answer_where_the_class_says_so() -> None:
    assert all(len(answers(query)) > 1 for query in of_kind("several"))
    assert all(len(query["relevant"]) > 1 for query in of_kind("duplicate"))


def test_an_alias_is_in_the_query_and_nowhere_else_in_the_note() -> None:
    for query in of_kind("alias"):
        for name in answers(query):
            note = NOTES[name]
            named = [each for each in note["aliases"] if each in query["query"]]
            assert named, query["query"]
            rest = text({**note, "aliases": ()})
            assert all(each not in rest for each in named), query["query"]


def test_exact_queries_stand_in_their_notes() -> None:
    for query in of_kind("exact"):
        for name in answers(query):
            asked = words(query["query"])
            assert 2 * len(asked & WORDS[name]) >= len(asked), query["query"]


def sections(name: str) -> int:
    note = NOTES[name]
    return len(body_chunks(note["title"], note.get("body", ""), 2_000, 0))


def test_answers_are_as_short_or_as_long_as_their_class_says() -> None:
    for query in of_kind("short"):
        shown = [NOTES[name]["title"] + NOTES[name]["summary"] for name in answers(query)]
        assert max(map(len, shown)) <= SHORT, query["query"]
        assert not any(NOTES[name].get("key_conclusions") for name in answers(query))
    for query in of_kind("chunks", "long_right"):
        assert all(sections(name) >= SECTIONS for name in answers(query)), query["query"]
    for query in of_kind("long_wrong"):
        assert not any(sections(name) for name in answers(query)), query["query"]
        assert any(sections(name) >= SECTIONS for name in query["relevant"]), query["query"]


def test_notes_opened_lately_are_newer_than_the_right_ones_and_do_not_answer() -> None:
    questions = of_kind("recency")
    right = {name for query in questions for name in answers(query)}
    lately = OPENED[-len(questions) :]
    assert not right & set(OPENED)
    assert max(NOTES[name]["created_at"] for name in right) < min(
        NOTES[name]["created_at"] for name in lately
    )


@pytest.mark.parametrize(("group", "prefix"), ACROSS.items())
def test_answers_across_languages_are_in_the_other_one(group: str, prefix: str) -> None:
    crossing = [query for query in QUERIES if query["class"] == group]
    found: Sequence[str] = [name for query in crossing for name in query["relevant"]]
    assert found
    assert not any(name.startswith(prefix) for name in found)
