"""Where tools keep their data on this machine.

Owns the folders that operating systems give to programs. Reads no setting by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Places:
    """A home folder, the variables of a process, and the name of the operating system."""

    home: Path
    variables: Mapping[str, str]
    platform: str = sys.platform

    def own(self, variable: str, usual: str) -> Path:
        """Return the folder that a tool's own variable names, else one below the home folder."""
        named = self.variables.get(variable)
        return Path(named) if named else self.home / usual

    def user_data(self, program: str) -> Path:
        """Return the folder of a program that keeps its data as VS Code does."""
        if self.platform == "darwin":
            base = self.home / "Library" / "Application Support"
        elif self.platform == "win32":
            named = self.variables.get("APPDATA")
            base = Path(named) if named else self.home / "AppData" / "Roaming"
        else:
            base = self.own("XDG_CONFIG_HOME", ".config")
        return base / program / "User"
