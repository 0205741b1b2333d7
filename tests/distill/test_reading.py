"""Turns, sentences and cues: what is taken from what both sides wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.distill.prose import LONGEST_SENTENCE, blocks_of, paragraphs, sentences_of
from app.distill.reading import read
from app.distill.signals import role_of_heading, signals_of
from app.distill.turns import Transcript, Turn, cleaned, turns_of
from app.domain.conversations import Message
from tests.distill.talks import POOL, reading


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<system-reminder>\nbe nice\n</system-reminder>fix it", "fix it"),
        ("# Context\n\n## My request for Codex:\nfix it", "fix it"),
        ("<command-name>/clear</command-name>\n<command-args></command-args>", ""),
        ("[Request interrupted by user]", ""),
        ("a\r\nb", "a\nb"),
        ("generic List<String> stays", "generic List<String> stays"),
    ],
    ids=["reminder", "preamble", "echo", "interrupted", "line ends", "no tag"],
)
def test_what_tools_put_around_a_text_is_taken_away(text: str, expected: str) -> None:
    assert cleaned(text) == expected


def test_side_chains_and_empty_messages_are_left_out() -> None:
    def message(kind: str, content: str) -> Message:
        return Message("m", "c", None, kind, kind, content, 0, 0, None, "", 0)

    found = turns_of([message("user", "a"), message("sidechain", "b"), message("assistant", " ")])
    assert found == (Turn("user", "a"),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It fails often. It always did!", ["It fails often.", "It always did!"]),
        ("用了 v1.2 版本。现在正常了！", ["用了 v1.2 版本。", "现在正常了！"]),
        ("Use e.g. Redis for it. Fine with me.", ["Use e.g. Redis for it.", "Fine with me."]),
        ("SELECT ... FOR UPDATE locks the rows.", ["SELECT ... FOR UPDATE locks the rows."]),
        ("See app.py and main.rs for details", ["See app.py and main.rs for details"]),
        ("ok.", []),
    ],
    ids=["english", "中文", "abbreviation", "ellipsis", "file names", "too short"],
)
def test_sentences_are_kept_as_they_were_written(text: str, expected: list[str]) -> None:
    assert list(sentences_of(text)) == expected


@given(st.text(max_size=2000))
def test_any_text_is_taken_apart(text: str) -> None:
    blocks = blocks_of(cleaned(text))
    for paragraph, _ in paragraphs(blocks):
        for sentence in sentences_of(paragraph):
            assert 0 < len(sentence) <= LONGEST_SENTENCE + 1


def test_code_logs_tables_and_lists_are_told_apart() -> None:
    text = (
        "## Root cause\n- **The pool** is full.\n- It never shrinks.\n\n| a | b |\n|---|---|\n"
        "2026-01-01 10:00:00 ERROR pool exhausted\n\nHere it is:\n```py\nx = 1\n```\n~~~\nopen"
    )
    blocks = blocks_of(text)
    told = [(text, heading) for text, heading in paragraphs(blocks)]
    assert told == [
        ("The pool is full.", "Root cause"),
        ("It never shrinks.", "Root cause"),
        ("Here it is:", "Root cause"),
    ]
    assert [(code.language, code.text, code.before) for code in blocks.codes] == [
        ("py", "x = 1", "Here it is:"),
        ("", "open", "Here it is:"),
    ]
    assert blocks.logged == ("2026-01-01 10:00:00 ERROR pool exhausted",)


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("The request fails with a timeout.", "problem"),
        ("接口偶尔超时。", "problem"),
        ("It leaks because the cursor is never closed.", "cause"),
        ("因为游标没有关闭，所以连接一直被占用。", "cause"),
        ("I wrapped the cursor in a with block.", "outcome"),
        ("Moving the call into a thread keeps the loop free.", "outcome"),
        ("我把超时时间改成了 30 秒。", "outcome"),
        ("Let's go with SQLite rather than Postgres.", "decision"),
        ("最终决定采用消息队列。", "decision"),
        ("Never share a session between threads.", "lesson"),
        ("以后不要在循环里查数据库。", "lesson"),
    ],
)
def test_cues_are_found(text: str, role: str) -> None:
    assert getattr(signals_of(text), role) > 0


@pytest.mark.parametrize(
    "text",
    [
        "Is it fixed now?",
        "I'll add a test and check it.",
        "It still fails after that.",
        "That would have fixed it.",
        "现在正常了吗？",
        "还是不行，改了也没用。",
        "让我先看看已经改了什么",
    ],
)
def test_questions_plans_and_denials_are_no_outcome(text: str) -> None:
    assert signals_of(text).outcome == 0


@pytest.mark.parametrize(
    ("heading", "role"),
    [("Root cause", "cause"), ("What I did", "outcome"), ("解决方案", "outcome"), ("Files", "")],
)
def test_headings_lend_their_role(heading: str, role: str) -> None:
    assert role_of_heading(heading) == role


def test_an_answer_after_an_edit_is_known_as_one() -> None:
    found = reading(*POOL)
    after = {sentence.text for sentence in found.sentences if sentence.after_edit}
    assert any("now closes each file" in text for text in after)
    assert not any("opens one file per customer" in text for text in after)
    assert found.waves == {4, 7}


def test_a_long_conversation_is_read_at_both_ends() -> None:
    turns = tuple(
        Turn("user" if n % 2 == 0 else "assistant", f"Sentence number {n} is about something.")
        for n in range(400)
    )
    texts = [sentence.text for sentence in read(Transcript("", "", turns)).sentences]
    assert len(texts) == 120
    assert "number 0 " in texts[0] and "number 399 " in texts[-1]
