"""One page of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items of a list of ``total``, from ``offset`` on."""

    items: tuple[Item, ...]
    total: int
    offset: int
    limit: int
