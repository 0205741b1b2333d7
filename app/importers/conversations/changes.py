"""The journal in which VS Code writes a session: its first state, then what changed.

Owns the three kinds of lines: 0 the whole (``v``), 1 a value at a path (``k``), 2 values behind a
list (after its first ``i``, where that is given). What does not fit is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_WHOLE, _SET, _APPEND = 0, 1, 2

MOST_GAP = 1_000
"""Places by which a path may lie behind the end of a list."""


def replayed(lines: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the session that a journal comes to, empty when it has no first state."""
    session: dict[str, Any] = {}
    for line in lines:
        kind, path, value = line.get("kind"), line.get("k"), line.get("v")
        if kind == _WHOLE and isinstance(value, dict):
            session = value
        elif kind == _SET and isinstance(path, list) and path:
            _put(session, path, value)
        elif kind == _APPEND and isinstance(path, list) and path:
            _append(session, path, value, line.get("i"))
    return session


def _put(session: dict[str, Any], path: list[Any], value: Any) -> None:
    holder = _holder(session, path)
    key = path[-1]
    if isinstance(holder, dict) and isinstance(key, str):
        holder[key] = value
    elif isinstance(holder, list) and _is_place(key):
        if key < len(holder):
            holder[key] = value
        elif key <= len(holder) + MOST_GAP:
            holder.extend([None] * (key - len(holder)))
            holder.append(value)


def _append(session: dict[str, Any], path: list[Any], values: Any, start: Any) -> None:
    target = _at(_holder(session, path), path[-1])
    if not isinstance(target, list):
        target = []
        _put(session, path, target)
    if _is_place(start):
        del target[start:]
    if isinstance(values, list):
        target.extend(values)


def _holder(session: dict[str, Any], path: list[Any]) -> Any:
    """Return what holds the last key of a path."""
    found: Any = session
    for key in path[:-1]:
        found = _at(found, key)
    return found


def _at(holder: Any, key: Any) -> Any:
    if isinstance(holder, dict) and isinstance(key, str):
        return holder.get(key)
    if isinstance(holder, list) and _is_place(key) and key < len(holder):
        return holder[key]
    return None


def _is_place(key: Any) -> bool:
    return isinstance(key, int) and not isinstance(key, bool) and key >= 0
