"""Routes of memories for agents, with the original's names and shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from app.api import answers, bodies
from app.api.bodies import SNIPPETS, TAG_NAMES, TEXT, TEXTS, VISIBLE_TEXT, Field
from app.api.routing import Route
from app.api.services import services
from app.domain.memory import (
    AGENTS,
    MODES_OF_RECALL,
    MODES_OF_WRITING,
    OUTCOME_TYPES,
    SCOPES,
    TASK_KINDS,
    Memory,
    RecallRequest,
    TaskContext,
    Writeback,
)
from app.errors import InvalidParameter

MOST_MEMORIES = 50


def _choice(choices: Sequence[str]) -> Callable[[str, Any], str]:
    def read(name: str, value: Any) -> str:
        if value not in choices:
            raise InvalidParameter(name, f"must be one of {', '.join(choices)}")
        return str(value)

    return read


def _limit(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidParameter(name, f"must be a whole number from 0 to {MOST_MEMORIES}")
    return min(value, MOST_MEMORIES)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidParameter(name, "must be true or false")
    return value


def _object(table: Sequence[Field]) -> Callable[[str, Any], dict[str, Any]]:
    """Read an object inside the body; its fields are named with it in errors."""

    def read(name: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise InvalidParameter(name, "must be an object")
        try:
            return bodies.read_fields(table, value)
        except InvalidParameter as error:
            problem = error.message.partition('" ')[2]
            raise InvalidParameter(f"{name}.{error.parameter}", problem) from error

    return read


def _schema(table: Sequence[Field]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: field.schema for field in table},
        "required": [field.name for field in table if field.is_required],
        "additionalProperties": False,
    }


def _words(choices: Sequence[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(choices)}


def _text(name: str, help: str) -> Field:
    return Field(name, help, bodies.any_text, TEXT)


def _texts(name: str, help: str) -> Field:
    return Field(name, help, bodies.any_texts, TEXTS)


_TASK = (
    Field("goal", "What the agent is asked to do.", bodies.visible_text, VISIBLE_TEXT, True),
    Field("task_kind", "Kind of work.", _choice(TASK_KINDS), _words(TASK_KINDS), True),
    _text("project_key", "Key of the project, if it is known."),
    _text("project_dir", "Folder of the project; the key is made from its git remote or path."),
    _text("cwd", "Folder that the agent works in."),
    _text("branch", "Branch that is checked out."),
    _texts("files_touched", "Files that are or will be touched."),
    _texts("error_signatures", "Errors that are met."),
    Field("source_agent", "Which tool asks.", _choice(AGENTS), _words(AGENTS)),
)
_RECALLED_TASK = (*_TASK, _texts("related_files", "Files that have to do with it."))
_COUNT = {"type": "integer", "minimum": 0, "maximum": MOST_MEMORIES}
_RECALL_OPTIONS = (
    Field("project_limit", "Memories of the project, 5 by default.", _limit, _COUNT),
    Field("global_limit", "Memories for all projects, 3 by default.", _limit, _COUNT),
    Field("include_relations", "Whether relations are followed.", _flag, {"type": "boolean"}),
)
_MEMORY = (
    _text("title", "Title of the note; the goal of the task by default."),
    Field("summary", "What was learned or decided.", bodies.visible_text, VISIBLE_TEXT, True),
    Field("outcome_type", "Kind of result.", _choice(OUTCOME_TYPES), _words(OUTCOME_TYPES), True),
    _texts("pitfalls", "Traps to avoid."),
    _text("root_cause", "What was behind the problem."),
    _text("resolution", "What solved it."),
    _texts("reusable_patterns", "What helps elsewhere too."),
    _texts("decisions", "What was decided."),
    _texts("key_conclusions", "What to remember."),
    Field("code_snippets", "Code: language, code, description.", bodies.snippets, SNIPPETS),
    _texts("files_touched", "Files that it is about."),
    _texts("error_signatures", "Errors that should bring it back."),
    Field("tags", "Tags of the note.", bodies.tag_names, TAG_NAMES),
)
RECALL = (
    Field("mode", "Whether work or an error begins the task; task by default.",
          _choice(MODES_OF_RECALL), _words(MODES_OF_RECALL)),
    Field("task", "What the agent is at.", _object(_RECALLED_TASK), _schema(_RECALLED_TASK), True),
    Field("options", "How much to recall.", _object(_RECALL_OPTIONS), _schema(_RECALL_OPTIONS)),
)  # fmt: skip
WRITE = (
    Field("mode", "Whether an agent writes by itself, or a person asked for it.",
          _choice(MODES_OF_WRITING), _words(MODES_OF_WRITING), True),
    Field("source_run_key", "Key of the run; the same key never writes twice. Required with auto.",
          bodies.visible_text, VISIBLE_TEXT),
    Field("scope", "Who it is for, the project by default; global only with manual.",
          _choice(SCOPES), _words(SCOPES)),
    Field("task", "What the agent was at; it may be the one that it recalled for.",
          _object(_RECALLED_TASK), _schema(_RECALLED_TASK), True),
    Field("memory", "What is to be kept.", _object(_MEMORY), _schema(_MEMORY), True),
)  # fmt: skip


def recall(body: Mapping[str, Any]) -> Any:
    """Recall what helps with a task: memories of its project, then those for all projects."""
    request = RecallRequest(
        mode=body.get("mode", "task"),
        task=TaskContext(**body["task"]),
        **body.get("options", {}),
    )
    found = asdict(services().knowledge.recaller.recall(request))
    if found["project_key"] is None:
        # Absent rather than null, as in the original.
        del found["project_key"]
    return found


def write_back(body: Mapping[str, Any]) -> Any:
    """Keep what was learned from a task; what is known already is added to, never doubled."""
    is_auto = body["mode"] == "auto"
    if is_auto and "source_run_key" not in body:
        raise InvalidParameter("source_run_key", "is required when mode=auto")
    if is_auto and body.get("scope") == "global":
        raise InvalidParameter("scope", "may be global only when mode=manual")
    request = Writeback(
        mode=body["mode"],
        task=TaskContext(**body["task"]),
        memory=Memory(**body["memory"]),
        scope=body.get("scope", "project"),
        source_run_key=body.get("source_run_key"),
    )
    parts = services().knowledge
    written = parts.memories.write(request)
    if written.note_id is not None:
        parts.background.relate({written.note_id: f"Relations of note {written.note_id}"})
    return asdict(written)


ROUTES = (
    Route("POST", "/api/memory/recall", recall, body=RECALL, answer=answers.RECALLED),
    Route("POST", "/api/memory/writeback", write_back, body=WRITE, answer=answers.WRITTEN),
)
