"""Which paths of a folder are ignored: hidden ones, those named in the settings, and by rule.

Owns the names of the files of rules and what goes before what. Rules are those of ``.gitignore``;
deeper files go before higher ones, ``.crystalignore`` before ``.gitignore``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

RULE_FILES = (".gitignore", ".crystalignore")
"""In the order in which they are read; what is read later goes before."""

LARGEST_RULES = 1_000_000
"""Bytes of a file of rules."""

MOST_RULES = 10_000


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one file; ``folder`` is where it lies, empty or with a final ``/``."""

    folder: str
    spec: GitIgnoreSpec


def parse_rules(folder: str, text: str) -> Rules:
    """Read a file of rules; a line that is no rule counts as absent."""
    lines = text.splitlines()[:MOST_RULES]
    try:
        return Rules(folder, GitIgnoreSpec.from_lines(lines))
    except ValueError:
        return Rules(folder, GitIgnoreSpec.from_lines(filter(_is_rule, lines)))


def _is_rule(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def is_ignored(path: str, rules: Sequence[Rules]) -> bool:
    """Tell whether rules ignore a path, which ends in ``/`` when it is a folder's.

    ``rules`` come from the top of the tree down; the last that speaks of the path decides.
    """
    for each in reversed(rules):
        found = each.spec.check_file(path.removeprefix(each.folder)).include
        if found is not None:
            return found
    return False


def is_left_out(path: str, names: Sequence[str]) -> bool:
    """Tell whether a folder is named: by its own name, or by its path from the top."""
    own = path.rpartition("/")[2]
    return any(path == name.strip("/") if "/" in name else own == name for name in names)
