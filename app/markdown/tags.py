"""Inline tags of a Markdown text: ``#topic`` and nested ones, ``#topic/part``.

Owns what counts as a tag within prose. Normalising is in ``names``.
"""

from __future__ import annotations

import re
from itertools import islice

from app.markdown.names import tag

LONGEST_TAG = 200
MOST_TAGS = 1_000

_EMOJI = "\U0001f300-\U0001faff\u2600-\u27bf"
_TAG = re.compile(
    rf"(?<!\]\()(?<![^\s({{（【《「『“‘，。；：、！？,;])#([\w/{_EMOJI}-]{{1,{LONGEST_TAG}}})(?![\w/-])"
)
_NOT_ONLY_DIGITS = re.compile(r"[^\d/_-]")


def tags_of(masked: str) -> tuple[str, ...]:
    """Return the tags of a text whose code and links are blanked out, each once, in their order.

    A tag follows white space or opening punctuation, and is not of digits alone.
    """
    if "#" not in masked:
        return ()
    found = (tag(match[1]).strip("/") for match in islice(_TAG.finditer(masked), MOST_TAGS))
    return tuple(dict.fromkeys(each for each in found if _NOT_ONLY_DIGITS.search(each)))
