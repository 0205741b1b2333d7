"""The note of a conversation: its sentences, its title, its code; and what a model is shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from app.distill.note import MOST_CONCLUSIONS, Distilled, distilled
from app.distill.reading import Reading
from app.distill.selection import MOST_EMBEDDED, candidates_of, centralities
from app.distill.titles import LONGEST_TITLE, title_of
from app.distill.transcript import SCHEMA, answered, tokens_of, transcript_of
from app.llm.schema import violation
from tests.distill.talks import DECISION, POOL, WORTH, ZH_CACHE, Said, reading


def vectors(count: int) -> Any:
    """Unit vectors that are all different."""
    made = np.random.default_rng(7).normal(size=(count, 16)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def note_of(read: Reading) -> Distilled:
    candidates = candidates_of(read)
    return distilled(read, candidates, vectors(len(candidates)))


def test_a_note_tells_problem_cause_and_fix_in_the_words_of_the_conversation() -> None:
    note = note_of(reading(*POOL))
    assert "Our nightly export dies with" in note.summary
    assert "keeps every handle in a dict until the end" in note.summary
    assert any("now closes each file" in each for each in note.key_conclusions)
    assert any(each.startswith("Never keep handles") for each in note.key_conclusions)
    assert note.outcome_type == "fix"
    assert note.task_kind == "debug"
    assert note.code_snippets[0].language == "python"
    assert "now closes each file" in note.code_snippets[0].description


def test_a_note_keeps_the_language() -> None:
    note = note_of(reading(*ZH_CACHE))
    assert "缓存键里只有路径" in note.summary
    assert "首页偶尔显示别人的名字" in note.title


def test_a_decision_is_told_as_one() -> None:
    note = note_of(reading(*DECISION))
    assert "I recommend NUMERIC(20, 4)" in note.summary + " ".join(note.key_conclusions)


@pytest.mark.parametrize("name", WORTH)
def test_a_note_is_bounded_and_repeats_nothing(name: str) -> None:
    note = note_of(reading(*WORTH[name]))
    assert 0 < len(note.title) <= LONGEST_TITLE
    assert len(note.key_conclusions) <= MOST_CONCLUSIONS
    assert len(set(note.key_conclusions)) == len(note.key_conclusions)
    assert len(note.code_snippets) <= 3
    assert all(each.description for each in note.code_snippets)


@pytest.mark.parametrize("name", WORTH)
def test_the_same_conversation_gives_the_same_note(name: str) -> None:
    assert note_of(reading(*WORTH[name])) == note_of(reading(*WORTH[name]))


def test_few_sentences_are_embedded() -> None:
    turns: list[Said] = [("user", "The build fails with an error.")]
    turns += [("assistant", f"Because of reason {n} it was set to {n}.") for n in range(40)]
    assert len(candidates_of(reading(*turns))) == MOST_EMBEDDED


def test_centrality_is_the_mean_likeness_to_the_others() -> None:
    found = centralities(np.array([[1, 0], [1, 0], [0, 1]], np.float32))
    assert found.tolist() == [1.0, 1.0, 0.0]
    assert centralities(np.ones((1, 4), np.float32)).tolist() == [1.0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Too many open files", "Too many open files"),
        ("export-writer-handles", "Export writer handles"),
        ("curious-dancing-lemur", "Our nightly export dies with"),
        ("New Chat", "Our nightly export dies with"),
        ("未命名", "Our nightly export dies with"),
        ("", "Our nightly export dies with"),
    ],
    ids=["own", "slug", "made up", "nameless", "无名", "none"],
)
def test_a_title_is_the_tools_own_name_or_the_request(name: str, expected: str) -> None:
    assert title_of(reading(*POOL, name=name)).startswith(expected)


def test_a_long_request_is_cut_where_a_clause_ends() -> None:
    request = (
        "Since last week, after the upgrade of the cluster, every second request to the billing "
        "service times out with a 504 error"
    )
    title = title_of(reading(("user", request)))
    assert len(title) <= LONGEST_TITLE
    assert "times out" in title


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (
            "Customers of tenant B receive mails with tenant A's logo, and sometimes it logs "
            "`ActionView::Template::Error: undefined method`, which takes the whole job down.",
            "Customers of tenant B receive mails with tenant A's logo",
        ),
        (
            "用户改昵称就报 500，日志是 Incorrect string value for column 'nickname' at row 1, "
            "SQLSTATE HY000, and nothing else",
            "用户改昵称就报 500，日志是 Incorrect string value for column 'nickname' at row 1",
        ),
        (
            "We need a CSV export for the list. The old one timed out and failed with many rows.",
            "We need a CSV export for the list",
        ),
    ],
)
def test_a_title_is_the_beginning_of_what_was_asked(request_: str, expected: str) -> None:
    assert title_of(reading(("user", request_))) == expected


def test_a_model_sees_the_beginning_and_the_end() -> None:
    turns: list[Said] = [("user", "first request")]
    turns += [("assistant", f"answer {n} " + "x" * 200) for n in range(50)]
    shown = transcript_of(reading(*turns), "shop", 2000)
    assert len(shown) <= 2000
    assert "first request" in shown and "answer 49" in shown
    assert "messages are left out here" in shown
    assert "answer 20 " not in shown


@pytest.mark.parametrize("budget", [1, 50, 1000, 100_000])
def test_a_budget_is_kept(budget: int) -> None:
    assert len(transcript_of(reading(*POOL), "shop", budget)) <= budget


def test_tokens_are_rounded_up() -> None:
    assert (tokens_of(0), tokens_of(1), tokens_of(4)) == (0, 1, 2)


def test_an_answer_of_a_model_becomes_a_note() -> None:
    answer = {
        "title": " Handles ",
        "summary": "s",
        "key_conclusions": ["a", " "],
        "code_snippets": [{"language": "py", "code": "x", "description": "d"}],
        "tags": ["Python", "python"],
        "error_signatures": ["E1"],
        "files_touched": ["export/writer.py", "b.py"],
        "task_kind": "debug",
        "outcome_type": "fix",
    }
    assert violation(answer, SCHEMA) is None
    note = answered(answer, reading(*POOL))
    assert (note.title, note.key_conclusions, note.tags) == ("Handles", ("a",), ("python",))
    assert note.error_signatures == ("OSError: [Errno 24] Too many open files", "E1")
    assert note.files_touched[-1] == "b.py"
