"""Names of exported files and folders that every system can hold, and links to them.

Owns what a name may be made of. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

LONGEST_NAME = 80
LONGEST_NAME_BYTES = 180
"""Most systems end a name at 255 bytes; Han characters take three each."""

# Windows takes these for devices, whatever their extension.
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])\Z")
_FORBIDDEN = re.compile(r'[<>:"/\\|?*#^\[\]]')
_LINK_SIGNS = str.maketrans("[]|", "()/")


def file_stem(title: str, slug: str | None, note_id: int) -> str:
    """Return the name of a note's file without its end; the id keeps it apart from all others."""
    words = _words(slug or "") or _words(title) or "note"
    return f"{words}-{note_id}"


def wiki_link(stem: str, title: str) -> str:
    """Return a wiki link to a note's file that shows the note's title."""
    shown = single_line(title).translate(_LINK_SIGNS)
    return f"[[{stem}|{shown}]]" if shown else f"[[{stem}]]"


def single_line(text: str) -> str:
    """Return a text with every run of white space as one space."""
    return " ".join(text.split())


def project_folders(projects: Iterable[str]) -> dict[str, str]:
    """Return the name of each project's folder, empty for the project without a name.

    Projects whose names differ only where some system sees no difference share a folder.
    """
    names: dict[str, str] = {}
    by_fold: dict[str, str] = {}
    for project in projects:
        name = _folder_name(project)
        names[project] = by_fold.setdefault(name.casefold(), name)
    return names


def _folder_name(project: str) -> str:
    text = unicodedata.normalize("NFC", project)
    visible = "".join(" " if character.isspace() else character for character in text)
    printable = "".join(
        character for character in visible if unicodedata.category(character) not in _INVISIBLE
    )
    # A leading dot hides, or climbs up; Windows drops dots and blanks at the end.
    name = _cut(single_line(_FORBIDDEN.sub("-", printable)).lstrip(". ")).rstrip(". ")
    is_reserved = _RESERVED.match(name.partition(".")[0].rstrip().lower())
    return f"_{name}" if is_reserved else name


_INVISIBLE = ("Cc", "Cf", "Cs")


def _words(text: str) -> str:
    """Return letters, digits and marks in lower case, anything else between them as one hyphen."""
    lowered = unicodedata.normalize("NFC", text).lower()
    kept = "".join(character if _is_word(character) else " " for character in lowered)
    return _cut("-".join(kept.split())).strip("-")


def _is_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def _cut(name: str) -> str:
    return name[:LONGEST_NAME].encode("utf-8")[:LONGEST_NAME_BYTES].decode("utf-8", "ignore")
