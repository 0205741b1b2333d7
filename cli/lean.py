"""Less to read: data with fewer fields and shorter texts, for those who pay by the token. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

ELLIPSIS = "…"


def shortened(data: Any, longest: int | None) -> Any:
    """Return data whose texts have at most ``longest`` characters; None leaves them whole."""
    if longest is None:
        return data
    if isinstance(data, str):
        return data if len(data) <= longest else data[: max(longest - 1, 0)] + ELLIPSIS[:longest]
    if isinstance(data, list):
        return [shortened(item, longest) for item in data]
    if isinstance(data, Mapping):
        return {name: shortened(value, longest) for name, value in data.items()}
    return data


def with_fields(data: Any, names: Collection[str] | None) -> Any:
    """Return a record, or every row of a list or page, with the named fields alone.

    Names that a record lacks are left out; None keeps all.
    """
    if names is None:
        return data
    if isinstance(data, list):
        return [with_fields(row, names) for row in data]
    if isinstance(data, Mapping) and isinstance(data.get("items"), list):
        return {**data, "items": with_fields(data["items"], names)}
    if isinstance(data, Mapping):
        return {name: data[name] for name in names if name in data}
    return data


def names_of(text: str | None) -> tuple[str, ...] | None:
    """Read names separated by commas; None when there are none."""
    names = tuple(dict.fromkeys(part.strip() for part in (text or "").split(",") if part.strip()))
    return names or None
