"""The example notes that ship with the package, for ``crystal demo`` and for trying things out.

Owns where they are. Must not write.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.errors import ConfigurationError

# Relations come last: they name notes of the other files.
FILES = ("en.jsonl", "zh.jsonl", "links.jsonl")

_PACKAGE = Path(__file__).parent.parent
_SHIPPED = _PACKAGE / "_fixtures" / "notes"
_CHECKOUT = _PACKAGE.parent / "fixtures" / "notes"


def example_records() -> Iterator[dict[str, Any]]:
    """Yield the example conversations, notes and relations, ready to be imported in that order.

    Raises:
        ConfigurationError: the package came without them.
    """
    folder = _SHIPPED if _SHIPPED.is_dir() else _CHECKOUT
    for name in FILES:
        try:
            text = (folder / name).read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigurationError(f"The example notes are missing: {folder / name}") from error
        # Not splitlines: it would also split at separators inside the texts.
        yield from (json.loads(line) for line in text.split("\n") if line)
