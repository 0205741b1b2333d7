"""Ids numbered from 0, so that arrays over them need no look-up.

Owns the numbering: it only grows, so what an older state of the index numbered stays right.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from app.lexical.segment import NONE, Ids, Ordinals, Places


def _no_ids() -> Ids:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Numbering:
    """Ids by ordinal, each once (n,)."""

    ids: Ids = field(default_factory=_no_ids)

    def __len__(self) -> int:
        return len(self.ids)

    def with_ids(self, ids: Ids) -> Numbering:
        """Return the numbering with those ids behind it that are not in it yet."""
        fresh = np.unique(ids[self.ordinals(ids) == NONE])
        return Numbering(np.concatenate([self.ids, fresh])) if len(fresh) else self

    def ordinals(self, ids: Ids) -> Ordinals:
        """Return the ordinals of ids (n,), NONE for those that are not here."""
        result = np.full(len(ids), NONE, dtype=np.int32)
        if len(self.ids):
            places = np.searchsorted(self.ids, ids, sorter=self._order)
            places[places == len(self.ids)] = 0
            found = self._order[places]
            is_here = self.ids[found] == ids
            result[is_here] = found[is_here]
        return result

    @cached_property
    def _order(self) -> Places:
        return np.argsort(self.ids, kind="stable")
