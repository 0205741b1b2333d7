"""Settings of the tools whose conversations are imported: where each keeps them.

Owns their names, variables and help. Must not know the tools' files.
"""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "sources."
NAMES = ("claude-code", "codex", "cursor", "copilot", "trae", "generic")


@dataclass(frozen=True, slots=True)
class SourceOption:
    """One setting; its default is empty."""

    name: str
    environment: tuple[str, ...]
    help: str


SOURCE_FOLDERS: tuple[SourceOption, ...] = (
    SourceOption(
        "home",
        ("CRYSTAL_SOURCES_HOME",),
        "Home folder in which the tools are looked for; empty means your own.",
    ),
    SourceOption(
        "claude_code",
        ("CRYSTAL_CLAUDE_CODE_DIR", "CLAUDE_PROJECTS_DIR"),
        "Folder of Claude Code's projects; empty means .claude/projects in the home folder.",
    ),
    SourceOption(
        "codex",
        ("CRYSTAL_CODEX_DIR", "CODEX_SESSIONS_DIR"),
        "Folder of Codex's sessions; empty means .codex/sessions in the home folder.",
    ),
    SourceOption(
        "cursor",
        ("CRYSTAL_CURSOR_DIR", "CURSOR_DATA_DIR"),
        "Folder User of Cursor's data; empty means its usual place.",
    ),
    SourceOption(
        "copilot",
        ("CRYSTAL_COPILOT_DIR", "COPILOT_DATA_DIR"),
        "Folder User of the data of VS Code, in which Copilot keeps its chats; empty means its "
        "usual place.",
    ),
    SourceOption(
        "trae",
        ("CRYSTAL_TRAE_DIR", "TRAE_DATA_DIR"),
        "Folder User of Trae's data; empty means its usual place.",
    ),
    SourceOption(
        "generic",
        ("CRYSTAL_GENERIC_DIR",),
        "File, or folder of files, of JSON Lines in the generic form; empty means none.",
    ),
)
