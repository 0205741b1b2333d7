"""The check of who may look into the data folder: its owner, and nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from app.errors import ConfigurationError
from app.index.snapshot import FOLDER_OF_OWNER
from app.maintenance.doctor.checks import Check, Patient, counted, found
from app.maintenance.doctor.configuration import OWNER_ONLY
from app.settings import store

PERMISSIONS = "permissions"
_OTHERS = 0o077
_HELD = ("*.db", "*.db-*", "*.db.*", "*.json", "*.log", "*.pid")
"""Files of the data folder that hold notes, addresses or keys."""


def examine(patient: Patient) -> Check:
    """Count files that others can read, and the folder if they can look into it."""
    exposed = list(_open_to_others(patient))
    names = ", ".join(path.name for path in exposed[:3])
    message = f"Other users can get at {counted(len(exposed), 'file or folder', 'files')}: {names}"
    return found(PERMISSIONS, len(exposed), message)


def close(patient: Patient) -> int:
    """Keep others out."""
    exposed = list(_open_to_others(patient))
    for path in exposed:
        try:
            path.chmod(FOLDER_OF_OWNER if path.is_dir() else OWNER_ONLY)
        except OSError as error:
            raise ConfigurationError(f"{path} cannot be changed: {error.strerror}") from error
    return len(exposed)


def _open_to_others(patient: Patient) -> Iterator[Path]:
    paths = {patient.folder, *(path for held in _HELD for path in patient.folder.glob(held))}
    if patient.database.path is not None:
        paths.add(patient.database.path)
    # That file has a check of its own.
    paths.discard(patient.folder / store.FILE_NAME)
    for path in sorted(paths):
        try:
            is_open = bool(path.stat().st_mode & _OTHERS)
        except OSError:
            continue
        if is_open:
            yield path
