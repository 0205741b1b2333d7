"""Notes as people name them: an id, a path, a title, a slug, or the end of one.

Owns when the server is asked what a name means. The original knows ids alone.
"""

from __future__ import annotations

import re
from typing import Any

import click

from cli.failures import Failure
from cli.session import Session

_ID = re.compile(r"\s*\+?([0-9]{1,18})\s*", re.ASCII)


class NoteReference(click.types.StringParamType):
    """A note by anything that it may be called."""

    name = "note"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read a reference, which must show something."""
        text = str(value).strip()
        if not text:
            self.fail("a blank name means no note.", param, ctx)
        return text


NOTE = NoteReference()


def note_id_of(session: Session, reference: str) -> int:
    """Return the id of the note that a reference means.

    Digits that mean no note here are handed on as an id: the command says what is wrong with it,
    and a server that does not know references takes it.

    Raises:
        Failure: Several notes may be meant, or none is.
    """
    digits = _ID.fullmatch(reference)
    wanted = digits[1] if digits else reference
    try:
        return int(session.get("/api/notes/resolve", [("ref", wanted)])["id"])
    except Failure as failure:
        if digits and failure.status is not None and failure.code != "ambiguous_reference":
            return int(digits[1])
        raise
