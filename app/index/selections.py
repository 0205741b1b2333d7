"""Which vectors of an index the filters asked for last let pass.

Owns how many are kept. An index never changes, so they hold for as long as it does; a change makes
another index, which begins without any.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from weakref import ref

from app.index.core import Ids, Mask

SELECTIONS = 8
"""So many are kept, each as many bytes as there are vectors."""

Selected = Sequence[Mask | None]
"""A mask for each segment, None where all may be found."""


class Selections:
    """The masks of the filters that were asked for last; safe among threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[ref[Ids], Selected]] = OrderedDict()
        self._lock = Lock()

    def of(self, allowed: Ids, select: Callable[[], Selected]) -> Selected:
        """Return the masks for some allowed ids.

        They are kept for the very array, as long as somebody has it, and only if nobody can write
        into it: two arrays are not compared, and the same one is the same filter.
        """
        if allowed.flags.writeable:
            return select()
        place = id(allowed)
        with self._lock:
            array, known = self._kept.get(place, (None, None))
            # Another array may lie where one lay that is gone.
            if array is not None and known is not None and array() is allowed:
                self._kept.move_to_end(place)
                return known
        selected = select()
        with self._lock:
            for gone in [each for each, (array, _) in self._kept.items() if array() is None]:
                del self._kept[gone]
            self._kept[place] = ref(allowed), selected
            self._kept.move_to_end(place)
            if len(self._kept) > SELECTIONS:
                self._kept.popitem(last=False)
        return selected
