"""The stories, and what is known of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from fixtures.conversations import build
from fixtures.conversations.story import Story, every

FACTS = json.loads(build.FACTS.read_text(encoding="utf-8"))


def test_the_facts_are_what_the_stories_say() -> None:
    assert build.facts() == FACTS, "run: python -m fixtures.conversations.build"


def test_there_are_enough_in_both_languages() -> None:
    counts = Counter((fact["expected"], fact["language"]) for fact in FACTS)
    assert counts["note", "en"] + counts["note", "zh"] >= 40
    assert counts["filtered", "en"] + counts["filtered", "zh"] >= 20
    assert min(counts.values()) >= 10


def test_every_tool_has_both_kinds() -> None:
    found = {(fact["source"], fact["expected"]) for fact in FACTS}
    tools = {fact["source"] for fact in FACTS}
    assert len(tools) == 6
    assert found == {(tool, kind) for tool in tools for kind in ("note", "filtered")}


@pytest.mark.parametrize("story", every(), ids=lambda story: story.name)
def test_a_question_is_no_copy_of_what_was_said(story: Story) -> None:
    if not story.is_worth_a_note:
        return
    said = {word for each in story.sections for word in each.text.lower().split()}
    asked = [word for word in story.facts["question"].lower().split() if len(word) > 5]
    assert sum(word in said for word in asked) <= len(asked) // 2


def test_the_same_stories_give_the_same_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        build.build(tmp_path / name)
    files = [sorted(p.relative_to(tmp_path / n) for p in (tmp_path / n).rglob("*.json*"))
             for n in ("one", "two")]  # fmt: skip
    assert files[0] == files[1]
    for path in files[0]:
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes()
