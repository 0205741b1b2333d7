"""What a calibration of a space is told: labelled queries, and the scale that it may set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.spaces import SpaceMeans


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """A query with its class and the notes that answer it: external id, path or id to grade.

    Without a grade above 0 no answer exists.
    """

    text: str
    group: str
    grades: Mapping[str, int]

    @property
    def has_answer(self) -> bool:
        """Tell whether a note answers it."""
        return any(grade > 0 for grade in self.grades.values())


@dataclass(frozen=True, slots=True)
class Scale:
    """How the cosines of a space are read: the border of relevance, and the means, if any."""

    border: float
    means: SpaceMeans | None = None
