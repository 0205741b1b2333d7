"""A note as Markdown, for agents that read resources. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def as_markdown(note: Mapping[str, Any]) -> str:
    """Return a note as the API shows it, as one Markdown text."""
    return "\n\n".join(_parts(note)) + "\n"


def _parts(note: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {note['title']}"
    facts = {
        "Project": note.get("project_name"),
        "Tags": ", ".join(note.get("tags") or ()),
        "Created": note.get("created_at"),
    }
    yield "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)
    for text in (note.get("summary"), note.get("body")):
        if text:
            yield text
    conclusions = note.get("key_conclusions")
    if isinstance(conclusions, list) and conclusions:
        yield "## Conclusions\n\n" + "\n".join(f"- {text}" for text in conclusions)
    snippets = note.get("code_snippets")
    for snippet in snippets if isinstance(snippets, list) else ():
        if isinstance(snippet, Mapping):
            yield _snippet(snippet)


def _snippet(snippet: Mapping[str, Any]) -> str:
    code = str(snippet.get("code") or "")
    # A fence longer than any inside keeps the code whole.
    fence = "```"
    while fence in code:
        fence += "`"
    head = snippet.get("description") or "Code"
    return f"## {head}\n\n{fence}{snippet.get('language') or ''}\n{code}\n{fence}"
