"""Masks secrets in texts: tokens, private keys, passwords in addresses and in assignments.

Owns where a secret begins and ends; by which rules it is known, ``secret_rules`` says. What stands
around a secret stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.importers.conversations.secret_rules import applicable, keyword_module, likeness_module

MASK = "[MASKED]"

Extent = tuple[int, int]

_SHORTEST_GROUP = 8
"""A shorter group of a rule is only a prefix of the secret, such as ``ghp``."""

_AROUND = " \t\r\n\"'=:"
"""What rules match around a secret to know where it ends."""

_END_OF_TOKEN = re.compile(r"[\s\"'<>]|[^\x00-\x7f]")
"""Some rules match up to the end of a line."""

_KEY_MARK = re.compile(
    r"-----(?P<end>BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----|Private-Lines: [0-9]+"
)
_KEY_RUN = re.compile(
    r"(?:(?<=\\[nrt])|(?<![A-Za-z0-9+/=\\]))(?:[A-Za-z0-9+/=]{16,}(?:\s|\\[nrt]|$){0,4})+"
)
_LINE_ENDS = re.compile(r"(?:\s|\\[nrt])+\Z")
_LONGEST_KEY = 20_000

_KEYWORD = re.compile(
    r"(?:api|auth|service|account|db|database|priv|private|client)_?key"
    r"|password|passwd|(?:db|database|key)_?pass|pwd|secret|contrase(?:ñ|n)a"
)
_HAS_KEYWORD = re.compile(
    r"key|passw(?:or)?d|(?:db|database|key)_?pass|pwd|secret|contrase(?:ñ|n)a"
)
"""Where a keyword is: the same without what may stand before it, and so much faster."""

_QUOTES = re.compile("['\"`]")
_BEFORE, _AFTER = 120, 240
"""Characters around a keyword in which its value is looked for."""

_SHORTEST_VALUE = 4


def masked(text: str) -> tuple[str, int]:
    """Return a text without its secrets, and how many were masked."""
    extents = _joined([*_keys(text), *_tokens(text), *_assigned(text)])
    if not extents:
        return text, 0
    parts, place = [], 0
    for start, end in extents:
        parts += [text[place:start], MASK]
        place = end
    return "".join([*parts, text[place:]]), len(extents)


def _joined(extents: list[Extent]) -> list[Extent]:
    joined: list[Extent] = []
    for start, end in sorted(extents):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _tokens(text: str) -> Iterator[Extent]:
    for rule in applicable(text):
        for match in rule.pattern.finditer(text):
            yield _secret_in(match)


def _secret_in(match: re.Match[str]) -> Extent:
    """Return the longest group that is long enough to be the secret, else all of the match."""
    if "secret" in match.re.groupindex:
        return match.span("secret")
    groups = [match.span(number) for number in range(1, match.re.groups + 1)]
    longest = max(groups, key=lambda span: span[1] - span[0], default=(0, 0))
    start, end = longest if longest[1] - longest[0] >= _SHORTEST_GROUP else match.span()
    found = match.string[start:end]
    start += len(found) - len(found.lstrip(_AROUND))
    beyond = _END_OF_TOKEN.search(match.string, start, end)
    return start, beyond.start() if beyond else start + len(found.strip(_AROUND))


def _keys(text: str) -> Iterator[Extent]:
    """Yield the bodies of private keys, also of those whose beginning or end is cut off."""
    if "PRIVATE KEY" not in text and "Private-Lines" not in text:
        return
    place = 0
    for mark in _KEY_MARK.finditer(text):
        if mark["end"] == "END":
            runs = _KEY_RUN.finditer(text, max(place, mark.start() - _LONGEST_KEY), mark.start())
            for run in runs:
                if run.end() >= mark.start() - 2:
                    yield run.start(), _end_of_run(text, *run.span())
        else:
            following = _KEY_MARK.search(text, mark.end())
            limit = min(following.start() if following else len(text), mark.end() + _LONGEST_KEY)
            yield from _body(text, mark.end(), limit, is_closed=following is not None)
        place = mark.end()


def _body(text: str, start: int, limit: int, *, is_closed: bool) -> Iterator[Extent]:
    runs = [run.span() for run in _KEY_RUN.finditer(text, start, limit)]
    if is_closed and runs:
        yield runs[0][0], _end_of_run(text, *runs[-1])
        return
    place = start
    for first, last in runs:
        if first - place > _SHORTEST_GROUP:
            return
        yield first, _end_of_run(text, first, last)
        place = last


def _end_of_run(text: str, start: int, end: int) -> int:
    return start + len(_LINE_ENDS.sub("", text[start:end]))


def _assigned(text: str) -> Iterator[Extent]:
    """Yield quoted values that names such as ``password`` are given or compared with."""
    done = 0
    lower = text.lower()
    if len(lower) != len(text):
        lower = text
    for keyword in _HAS_KEYWORD.finditer(lower):
        if keyword.start() < done:
            continue
        start = max(text.rfind("\n", 0, keyword.start()) + 1, keyword.start() - _BEFORE, done)
        line_end = text.find("\n", keyword.end())
        end = min(len(text) if line_end < 0 else line_end, keyword.end() + _AFTER)
        if _QUOTES.search(text, start, end):
            yield from _values(text[start:end], start)
        done = end


def _values(line: str, offset: int) -> Iterator[Extent]:
    for pattern, group in keyword_module().QUOTES_REQUIRED_DENYLIST_REGEX_TO_GROUP.items():
        for match in pattern.finditer(line):
            if _is_secret(match[group], line):
                yield offset + match.start(group), offset + match.end(group)


def _is_secret(value: str, line: str) -> bool:
    """Tell whether a value is no sentence, name or placeholder."""
    if len(value) < _SHORTEST_VALUE or not value.isascii() or any(map(str.isspace, value)):
        return False
    if _KEYWORD.fullmatch(value.lower()):
        return False
    likeness = likeness_module()
    return not (
        likeness.is_sequential_string(value)
        or likeness.is_templated_secret(value)
        or likeness.is_prefixed_with_dollar_sign(value)
        or likeness.is_not_alphanumeric_string(value)
        or likeness.is_indirect_reference(line)
    )
