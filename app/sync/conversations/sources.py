"""The sources that this machine's settings name.

Owns how a setting, a tool's own variable and the operating system say where a tool keeps its data.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from app.domain.imports import SourceStatus
from app.errors import ConfigurationError, InvalidParameter
from app.importers.conversations.base import Source
from app.importers.conversations.places import Places
from app.importers.conversations.registry import SOURCES
from app.settings import environment
from app.settings.values import SourceSettings, folder_of


def sources_of(settings: SourceSettings, names: Iterable[str] = ()) -> list[Source]:
    """Return sources in the order of the table: those named, else all that are enabled.

    One that has no folder, because no setting names it, is only refused when it was named.

    Raises:
        InvalidParameter: a name is that of no source, or of one without a folder.
        ConfigurationError: the setting ``sources.enabled`` has such a name.
    """
    wanted = list(names)
    for name in wanted:
        if name not in SOURCES:
            raise InvalidParameter("source", f"must be one of {', '.join(SOURCES)}, not {name!r}")
    for name in settings.enabled:
        if name not in SOURCES:
            raise ConfigurationError(
                f"Setting sources.enabled has {name!r}, which is none of {', '.join(SOURCES)}"
            )
    chosen = []
    for name, kind in SOURCES.items():
        if name in (wanted or settings.enabled):
            folder = _folder(kind, settings)
            if folder is not None:
                chosen.append(kind(folder))
            elif wanted:
                raise InvalidParameter("source", f"{name} has no folder: set {kind.setting}")
    return chosen


def _folder(kind: type[Source], settings: SourceSettings) -> Path | None:
    named: str = getattr(settings, kind.setting.partition(".")[2])
    if named:
        return folder_of(named)
    if settings.home:
        return kind.usual_folder(Places(folder_of(settings.home), {}))
    return kind.usual_folder(Places(Path.home(), environment.current()))


def detected(sources: Iterable[Source]) -> list[SourceStatus]:
    """Return those sources whose folders exist and have conversations."""
    found = []
    for source in sources:
        count = source.count() if source.folder.exists() else 0
        if count:
            found.append(SourceStatus(source.name, source.title, str(source.folder), count))
    return found
