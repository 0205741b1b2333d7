"""The front matter of a Markdown text: facts in YAML between two lines of ``---``.

Owns which facts are read, and under which names. Must not trust them: what is no fact of the
expected shape is left out, and no text makes reading slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import yaml

from app.markdown import names
from app.markdown.sections import start_of_body
from app.text import clean, is_blank

LONGEST = 32 * 1024
"""Characters of front matter that are read."""

MOST_FACTS = 100
MOST_VALUES = 1_000
"""Aliases or tags that are read of one text."""

_MARK_LINE = re.compile(r"\A\ufeff?---[ \t]*\r?\n|\r?\n?---[ \t]*(?:\r?\n)?\Z")
_NOTHING = ("", "~", "null", "Null", "NULL")
_FACT = re.compile(r"^([A-Za-z][\w -]{0,60}):([^\n]*(?:\n(?:[ \t]|-[ \t])[^\n]*)*)", re.MULTILINE)
_BRACKETS = re.compile(r"[\[\]{}]")
_NESTING = re.compile(r"[-?:][ \t]+(?=[-?])")
_DEEPEST = 100
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_UNREADABLE = (yaml.YAMLError, RecursionError, ValueError)
_COMMAS = re.compile(r"[,，、]")
_WIKI_BRACKETS = re.compile(r"\A\[\[|\]\]\Z")

_CREATED = ("created", "created_at", "date created", "creation_date", "date", "ctime")
_UPDATED = (
    "updated",
    "updated_at",
    "modified",
    "last_modified",
    "date modified",
    "lastmod",
    "mtime",
)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the front matter of a text says; times are UTC, ``YYYY-MM-DD HH:MM:SS``.

    ``problem`` says why it could not be read as YAML; facts that stand alone on their lines are
    read all the same.
    """

    title: str | None = None
    summary: str | None = None
    project: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    created_at: str | None = None
    updated_at: str | None = None
    problem: str | None = None


def read_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Return what the front matter says, and the text behind it."""
    start = start_of_body(text)
    written = _MARK_LINE.sub("", text[:start])
    body = text[start:].removeprefix("\ufeff")
    if is_blank(written):
        return FrontMatter(), body
    facts, problem = _facts(written)
    return _front_matter(facts, problem), body


def _facts(written: str) -> tuple[Mapping[str, Any], str | None]:
    if len(written) > LONGEST:
        return {}, f"the front matter is longer than {LONGEST} characters"
    try:
        found = _yaml(written)
    except _UNREADABLE:
        return _fact_by_fact(written), "the front matter is no valid YAML"
    if not isinstance(found, Mapping):
        return {}, "the front matter has no names and values"
    return _named(found), None


def _yaml(written: str) -> Any:
    if _depth(written) > _DEEPEST:
        raise ValueError("nested too deeply")
    # Every scalar stays as it is written: a version is no number, a "no" no truth value.
    return yaml.load(clean(written), Loader=_LOADER)


def _depth(written: str) -> int:
    """Return about how deep values lie in one another; a loader may have no bound of its own."""
    depth = deepest = 0
    for mark in _BRACKETS.findall(written):
        depth = depth + 1 if mark in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    in_line = max((len(_NESTING.findall(line)) for line in written.splitlines()), default=0)
    return deepest + in_line


def _named(found: Mapping[Any, Any]) -> dict[str, Any]:
    return {_name(key): value for key, value in found.items() if isinstance(key, str)}


def _fact_by_fact(written: str) -> dict[str, Any]:
    """Read what is valid by itself; of the rest, what stands behind a name as it is written."""
    facts: dict[str, Any] = {}
    for match in islice(_FACT.finditer(written), MOST_FACTS):
        try:
            found = _yaml(match[0])
        except _UNREADABLE:
            found = {match[1]: match[2].strip().strip("\"'")}
        if isinstance(found, Mapping):
            facts |= _named(found)
    return facts


def _name(written: str) -> str:
    return written.strip().lower()


def _front_matter(facts: Mapping[str, Any], problem: str | None) -> FrontMatter:
    tags = _texts(facts, ("tags", "tag"), _split_tags)
    normal = dict.fromkeys(_tag(each) for each in tags)
    return FrontMatter(
        title=_text(facts, ("title",)),
        summary=_text(facts, ("summary", "description", "abstract")),
        project=_text(facts, ("project",)),
        aliases=tuple(dict.fromkeys(_texts(facts, ("aliases", "alias"), _split_at_commas))),
        tags=tuple(tag for tag in normal if tag),
        created_at=_moment(_text(facts, _CREATED)),
        updated_at=_moment(_text(facts, _UPDATED)),
        problem=problem,
    )


def _tag(text: str) -> str:
    return names.tag(text).strip("/")


def _text(facts: Mapping[str, Any], wanted: tuple[str, ...]) -> str | None:
    """Return the first of some facts that is a text with something to see."""
    for name in wanted:
        value = facts.get(name)
        if isinstance(value, str) and value.strip() not in _NOTHING:
            return " ".join(clean(value).split())
    return None


def _texts(
    facts: Mapping[str, Any], wanted: tuple[str, ...], split: Callable[[str], list[str]]
) -> list[str]:
    """Return a fact that is a list of texts, or one text that lists them."""
    value: Any = next((facts[name] for name in wanted if facts.get(name) not in (None, "")), [])
    written = split(value) if isinstance(value, str) else value
    if not isinstance(written, list):
        return []
    # An unquoted wiki link is a list within a list.
    texts = [each for each in written[:MOST_VALUES] if isinstance(each, str)]
    cleaned = (" ".join(_WIKI_BRACKETS.sub("", clean(each)).split()) for each in texts)
    return [each for each in cleaned if each not in _NOTHING]


def _split_at_commas(text: str) -> list[str]:
    return _COMMAS.split(text)


def _split_tags(text: str) -> list[str]:
    return _COMMAS.split(text) if _COMMAS.search(text) else text.split()


def _moment(text: str | None) -> str | None:
    """Read a date or time; without a zone it is UTC."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text.strip().replace("/", "-"))
        aware = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return aware.strftime("%Y-%m-%d %H:%M:%S") if aware.year >= 1000 else None
