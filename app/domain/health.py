"""How a provider does, as far as the calls of this process tell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Health:
    """Calls in a row that failed, and for how many seconds nobody asks it any more."""

    failures: int = 0
    rest: float = 0.0

    @property
    def is_up(self) -> bool:
        """Tell whether the last call was answered, or none was made yet."""
        return self.failures == 0
