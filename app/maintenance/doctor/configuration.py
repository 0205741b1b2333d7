"""The check of ``config.json``, and the settings of a machine whose file cannot be read."""

from __future__ import annotations

from pathlib import Path

from app.errors import ConfigurationError
from app.maintenance.doctor.checks import Check, Patient
from app.settings import environment, store
from app.settings.values import Settings, parse

CONFIGURATION = "configuration"
OWNER_ONLY = 0o600
_OTHERS = 0o077


def settings_of_this_machine() -> Settings:
    """Return the settings; of a file that cannot be read, what the environment says.

    Raises:
        ConfigurationError: a variable cannot be read.
    """
    try:
        return store.load()
    except ConfigurationError:
        return parse({}, environment.current())


def examine(folder: Path) -> Check:
    """Tell whether the settings file can be read, and by its owner only."""
    path = folder / store.FILE_NAME
    try:
        parse(store.read(folder), {})
    except ConfigurationError as error:
        return Check(CONFIGURATION, False, 1, error.message)
    if _is_open(path):
        return Check(CONFIGURATION, False, 1, f"Other users can read {path}, which may hold keys")
    return Check(CONFIGURATION, True)


def mend(patient: Patient) -> int:
    """Keep others from the settings file."""
    path = patient.folder / store.FILE_NAME
    if not _is_open(path):
        return 0
    try:
        path.chmod(OWNER_ONLY)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be changed: {error.strerror}") from error
    return 1


def _is_open(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & _OTHERS)
    except OSError:
        return False
