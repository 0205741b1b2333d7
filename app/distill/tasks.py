"""What kind of work a conversation was, in the original's words.

Owns the two classifications.
"""

from __future__ import annotations

from app.distill.reading import Reading
from app.distill.turns import ASSISTANT, USER

_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "optimization",
        ("slow", "faster", "speed up", "optimiz", "optimis", "latency", "慢", "优化", "性能"),
    ),
    ("migration", ("migrat", "upgrade", "port to", "move from", "迁移", "升级")),
    ("refactor", ("refactor", "clean up", "restructure", "extract", "重构", "拆分", "整理")),
    ("config", ("configur", "settings", "set up", "install", "配置", "安装", "部署")),
    (
        "implement",
        ("implement", "add ", "build", "create", "support for", "实现", "新增", "开发", "增加"),
    ),
)


def task_kind_of(reading: Reading) -> str:
    """Return the kind of work: a failure is debugging, whatever else is asked."""
    asked = reading.said_by(USER)
    first = [each for each in asked if each.turn == reading.first_request]
    text = " ".join(each.text for each in first).lower()
    if reading.error_signatures or any(each.signals.problem > 1 for each in first):
        return "debug"
    for kind, cues in _KINDS:
        if any(cue in text for cue in cues):
            return kind
    return "debug" if any(each.signals.problem for each in first) else "investigate"


def outcome_type_of(reading: Reading) -> str | None:
    """Return what kind of result there is, None where there is none."""
    said = reading.said_by(ASSISTANT)
    outcomes = sum(each.signals.outcome > 0 for each in said)
    decisions = sum(each.signals.decision > 0 for each in said)
    lessons = sum(each.signals.lesson > 0 for each in said)
    has_problem = any(each.signals.problem for each in reading.said_by(USER))
    if (outcomes or reading.edits) and (has_problem or reading.edits):
        return "fix"
    if decisions:
        return "decision"
    if lessons and has_problem:
        return "pitfall"
    return "pattern" if outcomes or lessons or reading.codes else None
