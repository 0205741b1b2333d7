"""LIKE that means the same on every database, and comparisons of stored times.

Owns pattern escaping and the fold of case. Must not know which columns are searched.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, func
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

_ESCAPE = "\\"


class _Like(FunctionElement[bool]):
    """LIKE without case for ASCII letters and, unless told, without an escape character."""

    inherit_cache = True


class _LiteralLike(_Like):
    """The same, with a backslash as escape character."""

    inherit_cache = True


@compiles(_Like)
def _compile_sqlite(element: _Like, compiler: SQLCompiler, **options: Any) -> str:
    column, pattern = (compiler.process(clause, **options) for clause in element.clauses)
    escape = f" ESCAPE '{_ESCAPE}'" if isinstance(element, _LiteralLike) else ""
    return f"{column} LIKE {pattern}{escape}"


@compiles(_Like, "postgresql")
def _compile_postgresql(element: _Like, compiler: SQLCompiler, **options: Any) -> str:
    column, pattern = (compiler.process(clause, **options) for clause in element.clauses)
    escape = f"E'\\{_ESCAPE}'" if isinstance(element, _LiteralLike) else "''"
    return f'{column} ILIKE {pattern} COLLATE "C" ESCAPE {escape}'


def contains(column: ColumnElement[Any], text: str, *, literal: bool) -> ColumnElement[bool]:
    """Tell whether the column holds the text; ``%`` and ``_`` are wildcards unless literal."""
    if literal:
        for character in (_ESCAPE, "%", "_"):
            text = text.replace(character, _ESCAPE + character)
        return _LiteralLike(column, f"%{text}%")
    return _Like(column, f"%{text}%")


def starts_with(column: ColumnElement[Any], prefix: str) -> ColumnElement[bool]:
    """Tell whether the column begins with exactly this text."""
    return func.substr(column, 1, len(prefix)) == prefix


def stored_time(column: ColumnElement[Any]) -> ColumnElement[str]:
    """Bring a stored time to ``YYYY-MM-DD HH:MM:SS``; some rows hold ISO 8601 with a T."""
    return func.replace(func.substr(column, 1, 19), "T", " ")
