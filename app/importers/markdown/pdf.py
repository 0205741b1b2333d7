"""The text layer of a PDF, by the library of the extra ``pdf``.

Owns the one place that loads it, and the bounds: a document made to exhaust the reader costs no
more than they allow.
"""

from __future__ import annotations

import io
import logging
import time
from importlib.util import find_spec

from app.text import clean

MOST_PAGES = 1_000
LONGEST_TEXT = 1_000_000
"""Characters that are read."""

SECONDS = 20.0
"""How long one document may take before the pages read so far are all."""

ABSENT = "they are found by their names alone; to read them: pip install 'chatcrystal-search[pdf]'"


class UnreadablePdf(ValueError):
    """The document cannot be read; its text says why."""


def is_readable() -> bool:
    """Tell whether the library is installed."""
    return find_spec("pypdf") is not None


def read_pdf(data: bytes) -> str:
    """Return the text of a document, its pages apart; empty when it has only pictures.

    Raises:
        UnreadablePdf: it is damaged or encrypted.
    """
    from pypdf import PdfReader  # noqa: PLC0415 - an extra

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    ends = time.monotonic() + SECONDS
    pages: list[str] = []
    try:
        for number, page in enumerate(PdfReader(io.BytesIO(data)).pages):
            if number == MOST_PAGES or time.monotonic() > ends:
                break
            pages.append(clean(page.extract_text() or "").strip())
            if sum(map(len, pages)) > LONGEST_TEXT:
                break
    except Exception as error:  # edge: damaged documents raise whatever the library's parts do
        raise UnreadablePdf("it is damaged or encrypted") from error
    return "\n\n".join(filter(None, pages))[:LONGEST_TEXT]
