"""What an import of a folder has come to so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.domain.vaults import LeftOut, Moved


@dataclass(slots=True)
class Tally:
    """Paths by what became of their files; see ``VaultReport``."""

    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: list[Moved] = field(default_factory=list)
    unchanged: int = 0
    kept: list[str] = field(default_factory=list)
    refused: list[LeftOut] = field(default_factory=list)
    without_text: list[str] = field(default_factory=list)
    warnings: list[LeftOut] = field(default_factory=list)
