"""``DATA_DIR/models.json``: at which address each model was asked last.

Owns the file. After a change of model the one before is asked for queries until the new one is
complete, also by a process that starts meanwhile. Keys are not in it.
"""

from __future__ import annotations

import json
from pathlib import Path

from app.settings.store import replace_file

FILE_NAME = "models.json"


def known(folder: Path, provider: str, model: str, variant: int = 0) -> str | None:
    """Return the address of a provider's model, empty for the provider's own, None if unknown."""
    return _read(folder).get(_key(provider, model, variant))


def remember(folder: Path, provider: str, model: str, address: str, variant: int = 0) -> None:
    """Note at which address a model is asked from now on.

    Raises:
        OSError: the file cannot be written.
    """
    addresses = _read(folder)
    key = _key(provider, model, variant)
    if addresses.get(key) != address:
        content = json.dumps(addresses | {key: address}, ensure_ascii=False, indent=2)
        replace_file(folder / FILE_NAME, content)


def _key(provider: str, model: str, variant: int) -> str:
    return f"{provider}/{model}#{variant}" if variant else f"{provider}/{model}"


def _read(folder: Path) -> dict[str, str]:
    """Return what is noted; a file that cannot be read notes nothing."""
    try:
        content = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {str(key): value for key, value in content.items() if isinstance(value, str)}
