"""A note as a page of Markdown with front matter.

Owns the layout. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.db.columns import read_json, read_texts
from app.db.whole_tables import Row
from app.maintenance.export.names import file_stem, single_line, wiki_link
from app.sync.records import note_key

_FENCE = 3
_BACKTICKS = re.compile("`+")
_LANGUAGE = re.compile(r"[\w+#.-]+")
# JSON is YAML, except for these, which YAML wants escaped.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def page(note: Row, relations: Sequence[Row]) -> str:
    """Return the page of a note; ``relations`` are those that leave it."""
    sections = [_front_matter(note), f"# {single_line(note['title'])}".rstrip()]
    sections += [note["summary"]]
    sections += _section("Conclusions", "\n".join(_conclusions(note)))
    sections += _section("Snippets", "\n\n".join(_snippets(note)))
    sections += [note["body"] or ""]
    sections += _section("Relations", "\n".join(map(_relation, relations)))
    return "\n\n".join(section.strip("\n") for section in sections if section.strip()) + "\n"


def _section(heading: str, text: str) -> list[str]:
    return [f"## {heading}", text] if text else []


def _front_matter(note: Row) -> str:
    """Return the facts of a note, every value as JSON, which every reader of YAML reads."""
    facts: dict[str, Any] = {
        "title": note["title"],
        "aliases": read_texts(note["aliases"]),
        "tags": note["tags"],
        "created": note["created_at"],
        "updated": note["updated_at"],
        "project": note["project_name"],
        "source": note["source"],
        "external_id": note_key(note["external_id"], note["conversation_id"]),
    }
    lines = [f"{name}: {_yaml(value)}" for name, value in facts.items()]
    return "\n".join(["---", *lines, "---"])


def _yaml(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _conclusions(note: Row) -> Iterator[str]:
    for conclusion in _items(note["key_conclusions"]):
        text = conclusion if isinstance(conclusion, str) else _json(conclusion)
        yield "- " + "\n".join(_indented(text.strip()))


def _indented(text: str) -> Iterator[str]:
    """Yield the lines of a list's item, all below its first."""
    first, *others = text.split("\n")
    yield first
    for line in others:
        yield f"  {line}" if line else ""


def _snippets(note: Row) -> Iterator[str]:
    for snippet in _items(note["code_snippets"]):
        if not isinstance(snippet, Mapping):
            yield _fenced("json", _json(snippet))
            continue
        description, language, code = (
            value if isinstance(value := snippet.get(name), str) else ""
            for name in ("description", "language", "code")
        )
        if description.strip():
            yield description.strip()
        if code.strip():
            yield _fenced(language, code)


def _fenced(language: str, code: str) -> str:
    longest = max(map(len, _BACKTICKS.findall(code)), default=0)
    fence = "`" * max(_FENCE, longest + 1)
    word = _LANGUAGE.match(language.strip())
    end = "" if code.endswith("\n") else "\n"
    return f"{fence}{word[0] if word else ''}\n{code}{end}{fence}"


def _items(column: str | None) -> list[Any]:
    """Return what a JSON column lists; a value that is no list stands alone."""
    value = read_json(column)
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _relation(relation: Row) -> str:
    stem = file_stem(relation["title"], relation["slug"], relation["target_note_id"])
    line = f"- {relation['relation_type']} {wiki_link(stem, relation['title'])}"
    if relation["confidence"] is not None:
        line += f" ({relation['confidence']:g})"
    description = single_line(relation["description"] or "")
    return f"{line}: {description}" if description else line
