"""``column IN (many whole numbers)`` as one bound parameter, whatever their number.

Owns the construct and its dialects. SQLAlchemy's own IN expands to a parameter a number, which
is built anew at every call and ends at the driver's limit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Integer, String, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class _IdValues(FunctionElement[int]):
    """The numbers of a JSON array, as a subquery of one column."""

    type = Integer()
    inherit_cache = True


@compiles(_IdValues)
def _compile_sqlite(element: _IdValues, compiler: SQLCompiler, **options: Any) -> str:
    return f"(SELECT value FROM json_each({compiler.process(element.clauses, **options)}))"


@compiles(_IdValues, "postgresql")
def _compile_postgresql(element: _IdValues, compiler: SQLCompiler, **options: Any) -> str:
    array = compiler.process(element.clauses, **options)
    return f"(SELECT value::bigint FROM json_array_elements_text(CAST({array} AS json)))"


BOUND = "ids"
"""Name of the parameter of statements that are built once, with ``in_bound_ids``."""


def in_bound_ids(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Tell for each row whether its column is among the ids that ``bound`` gives at execution.

    Statements on the way of every search are built once: building one anew takes as long as
    running it.
    """
    return column.op("IN", is_comparison=True)(_IdValues(bindparam(BOUND, type_=String)))


def bound(ids: Iterable[int]) -> dict[str, str]:
    """Return the parameters of a statement with ``in_bound_ids``."""
    return {BOUND: json.dumps(list(ids))}


def in_ids(column: ColumnElement[Any], ids: Iterable[int]) -> ColumnElement[bool]:
    """Tell for each row whether its column is among the ids."""
    array = bindparam(None, json.dumps(list(ids)), type_=String, unique=True)
    return column.op("IN", is_comparison=True)(_IdValues(array))
