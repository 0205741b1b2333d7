"""Errors of the application as the command line's one error.

Owns the mapping. Whoever calls the application does so inside ``reported``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.errors import CrystalError
from cli.failures import Failure


@contextmanager
def reported() -> Iterator[None]:
    """Turn errors of the application that a block raises into failures of the command.

    Raises:
        Failure: the application refused.
    """
    try:
        yield
    except CrystalError as error:
        raise Failure(error.message, error.code) from error
