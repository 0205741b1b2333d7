"""How names of notes and tags are made comparable.

Owns the text rules of slugs, tags and paths. Pure; must not know which notes exist.
"""

from __future__ import annotations

import re
import unicodedata

from app.text import fold

MARKDOWN_SUFFIXES = (".md", ".markdown")
"""What a name may end in without being another name."""

LONGEST_KEY = 500
"""Characters; PostgreSQL's index takes 2,700 bytes."""

_SEPARATORS = re.compile(r"[\s-]+")
_MARKDOWN_END = re.compile(r"\.md\Z", re.IGNORECASE)


def slug(text: str) -> str:
    """Make the slug of a title or file name: lower-case letters and digits, joined by ``-``.

    A final ``.md`` is dropped, white space and ``-`` become one ``-``, anything else is dropped.
    The slug of a text without letters and digits is empty.
    """
    lowered = _MARKDOWN_END.sub("", text.strip()).lower()
    kept = "".join(each for each in lowered if each == "-" or each.isspace() or _is_word(each))
    return _SEPARATORS.sub("-", kept).strip("-")


def _is_word(character: str) -> bool:
    # Other numbers, such as fractions, are no digits.
    return character.isalpha() or unicodedata.category(character) == "Nd"


def tag(text: str) -> str:
    """Normalise a tag: lower case, without blanks around and without its ``#``."""
    return text.strip().lower().removeprefix("#").strip()


def stem(path: str) -> str:
    """Return the last part of a path, without the ending of a Markdown file."""
    return without_suffix(path.rpartition("/")[2])


def without_suffix(path: str) -> str:
    """Drop the ending of a Markdown file, if there is one."""
    for suffix in MARKDOWN_SUFFIXES:
        if path.lower().endswith(suffix):
            return path[: -len(suffix)]
    return path


def comparable(text: str) -> str:
    """Make titles, aliases and paths comparable: without case, blanks around, and composed."""
    return fold(text.strip())


def key(text: str) -> str:
    """Return what a name is looked up by: names that may mean the same note have the same key.

    Of a path only the last part counts, and of a long name the beginning. Equal keys do not make
    equal names.
    """
    name = unicodedata.normalize("NFKC", stem(text.strip()))
    return (slug(name) or comparable(name))[:LONGEST_KEY]
