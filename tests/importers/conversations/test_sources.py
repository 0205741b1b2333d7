"""What each tool's files are read as."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.importers.conversations.base import last_part, path_of_address
from app.importers.conversations.gathering import instant_of
from app.importers.conversations.places import Places
from app.importers.conversations.registry import SOURCES
from app.importers.conversations.values import Losses
from fixtures.conversations import build
from fixtures.conversations.story import Story, every
from tests.support.conversations import Read, folder_of, read_all, said, write_lines

STORIES = {story.id: story for story in every()}


@pytest.fixture(scope="module")
def read(home: Path) -> dict[str, Read]:
    """All conversations of the home folder, by id."""
    found: dict[str, Read] = {}
    for name in SOURCES:
        losses = Losses()
        found |= read_all(name, folder_of(name, home), losses)
        assert losses == Losses(), name
    return found


def _everything(each: Read) -> Iterator[str]:
    for message in each.messages:
        yield message.content
        for use in message.tools:
            yield from (use.input, use.output)


def test_every_story_is_found(read: dict[str, Read]) -> None:
    assert read.keys() == STORIES.keys()


@pytest.mark.parametrize("story", STORIES.values(), ids=lambda story: story.name)
def test_a_story_is_read_as_it_was_written(read: dict[str, Read], story: Story) -> None:
    each = read[story.id]
    assert each.header.folder == _folder(story)
    assert [m.timestamp for m in each.messages] == sorted(m.timestamp for m in each.messages)
    told = [s for s in story.sections if s.kind in ("user", "assistant")]
    text = "\n".join(each.texts)
    place = 0
    for section in told:
        place = text.index(_request(section.text), place) + len(_request(section.text))
    everything = "\n".join(_everything(each))
    for name in ("errors", "files"):
        assert all(fact in everything for fact in story.facts.get(name, ()))


def _folder(story: Story) -> str:
    # Every third chat with Copilot is of a window without a folder.
    own = [each.id for each in every() if each.source == "copilot"]
    if story.source == "copilot" and own.index(story.id) % 3 == 2:
        return ""
    if story.source == "cursor" and "title" not in story.facts:
        return ""
    return story.project


def _request(text: str) -> str:
    return text.rpartition("## My request for Codex:")[2].strip()


@pytest.mark.parametrize("story", STORIES.values(), ids=lambda story: story.name)
def test_thoughts_and_tools_are_kept_apart(read: dict[str, Read], story: Story) -> None:
    each = read[story.id]
    thoughts = [s.text for s in story.sections if s.kind == "thinking"]
    assert [m.thinking for m in each.messages if m.thinking] == thoughts or not each.messages
    told = {s.text for s in story.sections if s.kind in ("user", "assistant")}
    if story.source == "generic":
        return
    uses = [use for message in each.messages for use in message.tools]
    wanted = [s for s in story.sections if s.kind == "tool"]
    assert [use.name.removeprefix("copilot_").lower() for use in uses] == [
        s.tool.lower() for s in wanted
    ]
    for use, section in zip(uses, wanted, strict=True):
        assert section.given in use.input
        shown = use.input if section.tool == "Edit" else use.output
        assert section.text in told or section.text[:1_000] in shown


@pytest.mark.parametrize("source", ["codex", "cursor", "copilot"])
def test_the_tools_own_name_for_a_session_is_taken(read: dict[str, Read], source: str) -> None:
    for story in STORIES.values():
        if story.source == source:
            expected = story.facts.get("title", "Untitled" if source == "codex" else None)
            assert read[story.id].header.name == expected


def test_branches_are_taken(read: dict[str, Read]) -> None:
    for story in STORIES.values():
        if story.source in ("claude-code", "codex"):
            assert read[story.id].header.branch == story.facts["branch"]


@pytest.mark.parametrize("name", SOURCES)
def test_counting_needs_no_reading(name: str, home: Path) -> None:
    count = SOURCES[name](folder_of(name, home)).count()
    stories = sum(story.source == name for story in STORIES.values())
    assert count == (1 if name == "generic" else stories)


@pytest.mark.parametrize("name", SOURCES)
def test_a_folder_that_is_not_there_has_nothing(name: str, tmp_path: Path) -> None:
    source = SOURCES[name](tmp_path / "nowhere")
    assert list(source.files()) == []
    assert source.count() == 0


@pytest.mark.parametrize(
    ("platform", "name", "folder"),
    [
        ("linux", "claude-code", ".claude/projects"),
        ("linux", "codex", ".codex/sessions"),
        ("linux", "cursor", ".config/Cursor/User"),
        ("linux", "copilot", ".config/Code/User"),
        ("linux", "trae", ".config/Trae/User"),
        ("darwin", "cursor", "Library/Application Support/Cursor/User"),
        ("darwin", "copilot", "Library/Application Support/Code/User"),
        ("win32", "trae", "AppData/Roaming/Trae/User"),
    ],
)
def test_tools_are_looked_for_in_their_usual_places(platform: str, name: str, folder: str) -> None:
    home = Path("/home/me")
    assert SOURCES[name].usual_folder(Places(home, {}, platform)) == home / folder


@pytest.mark.parametrize(
    ("platform", "variable", "name", "folder"),
    [
        ("linux", "CLAUDE_CONFIG_DIR", "claude-code", "/else/projects"),
        ("linux", "CODEX_HOME", "codex", "/else/sessions"),
        ("linux", "XDG_CONFIG_HOME", "cursor", "/else/Cursor/User"),
        ("win32", "APPDATA", "cursor", "/else/Cursor/User"),
    ],
)
def test_a_tools_own_variable_names_another_place(
    platform: str, variable: str, name: str, folder: str
) -> None:
    places = Places(Path("/home/me"), {variable: "/else"}, platform)
    assert SOURCES[name].usual_folder(places) == Path(folder)


def test_nobody_knows_where_generic_files_are() -> None:
    assert SOURCES["generic"].usual_folder(Places(Path("/home/me"), {})) is None


def test_lines_that_are_no_messages_are_noise(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "-work-shop" / "s.jsonl",
        [
            {"type": "summary", "summary": "Mend the shop", "leafUuid": "u0"},
            said("first"),
            said("caveat", number=1, isMeta=True),
            {"type": "system", "uuid": "x", "content": "done", "sessionId": "s"},
            {"type": "progress", "uuid": "y", "message": {"role": "user", "content": "50 %"}},
            {"type": "user", "message": {"role": "user", "content": "without an id"}},
            said("last", number=2, role="assistant"),
        ],
    )
    each = read_all("claude-code", tmp_path)["s"]
    assert each.texts == ["first", "last"]
    assert each.header.name == "Mend the shop"


def test_echoes_of_commands_and_reminders_are_stripped(tmp_path: Path) -> None:
    text = (
        "<command-name>/clear</command-name><system-reminder>do\nnot</system-reminder>"
        "Why <b>this</b>?<local-command-stdout></local-command-stdout>"
    )
    write_lines(tmp_path / "p" / "s.jsonl", [said(text)])
    assert read_all("claude-code", tmp_path)["s"].texts == ["Why <b>this</b>?"]


def test_agents_among_themselves_are_a_side_chain(tmp_path: Path) -> None:
    lines = [said("mine"), said("an agent's task", number=1, isSidechain=True)]
    write_lines(tmp_path / "p" / "s.jsonl", lines)
    write_lines(tmp_path / "p" / "agent-7.jsonl", lines)
    found = read_all("claude-code", tmp_path)
    assert list(found) == ["s"]
    assert [message.type for message in found["s"].messages] == ["user", "sidechain"]


def test_a_project_without_a_folder_is_named_by_its_file(tmp_path: Path) -> None:
    write_lines(tmp_path / "-home-me-shop" / "s.jsonl", [said("hello", cwd="")])
    header = read_all("claude-code", tmp_path)["s"].header
    assert (header.folder, header.project) == ("-home-me-shop", "shop")


def test_an_answer_belongs_to_the_tool_that_was_called(tmp_path: Path) -> None:
    calls = [{"type": "tool_use", "id": name, "name": name, "input": {"x": name}} for name in "ab"]
    answers = [{"type": "tool_result", "tool_use_id": name, "content": f"of {name}"}
               for name in "ba"]  # fmt: skip
    write_lines(
        tmp_path / "p" / "s.jsonl",
        [said("go"), said(calls, number=1, role="assistant"), said(answers, number=2)],
    )
    [_, called] = read_all("claude-code", tmp_path)["s"].messages
    assert [(use.name, use.input, use.output) for use in called.tools] == [
        ("a", "x: a", "of a"),
        ("b", "x: b", "of b"),
    ]


def test_what_codex_says_twice_is_kept_once(tmp_path: Path) -> None:
    def line(kind: str, **payload: object) -> dict[str, object]:
        return {"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}

    answer = [{"type": "output_text", "text": "Done."}]
    turn = [
        line("event_msg", type="user_message", message="Do it"),
        line("event_msg", type="agent_message", message="Done."),
        line("response_item", type="message", role="assistant", content=answer),
    ]
    write_lines(tmp_path / "rollout-2026-01-01T00-00-00-abc.jsonl", [*turn, *turn])
    assert read_all("codex", tmp_path)["abc"].texts == ["Do it", "Done.", "Do it", "Done."]


def test_conversations_of_the_generic_form_may_be_interleaved(tmp_path: Path) -> None:
    lines = [
        {"conversation_id": name, "role": "user", "content": f"{name}{number}", "timestamp": number}
        for number in range(1, 4)
        for name in "ab"
    ]
    write_lines(tmp_path / "x.jsonl", lines)
    found = read_all("generic", tmp_path / "x.jsonl")
    assert {name: each.texts for name, each in found.items()} == {
        "a": ["a1", "a2", "a3"],
        "b": ["b1", "b2", "b3"],
    }


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"),
        ("2026-01-02T03:04:05+08:00", "2026-01-01T19:04:05.000Z"),
        ("2026-01-02 03:04:05", "2026-01-02T03:04:05.000Z"),
        (1767323045678, "2026-01-02T03:04:05.678Z"),
        (1767323045, "2026-01-02T03:04:05.000Z"),
        ("yesterday", None),
        ("", None),
        (-5, None),
        (True, None),
        (10**30, None),
        (None, None),
    ],
)
def test_times_are_read_in_every_form(value: object, instant: str | None) -> None:
    assert instant_of(value) == instant


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("file:///home/me/%E9%A1%B9%E7%9B%AE", "/home/me/项目"),
        ("file:///c%3A/Users/me/shop", "c:/Users/me/shop"),
        ("vscode-remote://ssh-remote%2Bbox/srv/shop", "/srv/shop"),
        ("file://[broken", ""),
        ("", ""),
    ],
)
def test_addresses_of_folders_are_paths(address: str, path: str) -> None:
    assert path_of_address(address) == path


@pytest.mark.parametrize(
    ("folder", "name"),
    [("/home/me/shop", "shop"), ("/home/me/shop/", "shop"), ("C:\\x\\店", "店"), ("", "")],
)
def test_a_project_is_the_last_part_of_its_folder(folder: str, name: str) -> None:
    assert last_part(folder) == name


def test_the_files_are_as_they_were_after_reading(tmp_path: Path) -> None:
    build.build(tmp_path)
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in _paths(tmp_path)}
    for name in SOURCES:
        read_all(name, folder_of(name, tmp_path))
    after = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in _paths(tmp_path)}
    assert after == before


def _paths(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def test_a_chat_of_one_document_and_its_journal_are_the_same(home: Path) -> None:
    folder = folder_of("copilot", home)
    kinds = {found.path.suffix for found in SOURCES["copilot"](folder).files()}
    assert kinds == {".json", ".jsonl"}
    first = json.loads(next(folder.rglob("*.jsonl")).read_text("utf-8").splitlines()[0])
    assert len(first["v"]["requests"]) == 1
