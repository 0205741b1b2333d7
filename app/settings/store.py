"""``DATA_DIR/config.json``: settings that outlive a process.

Owns the file: its form, its mode (0600) and its atomic replacement. Must not parse values.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

from app.errors import ConfigurationError
from app.settings.environment import current
from app.settings.table import BY_NAME
from app.settings.values import Settings, folder_of, parse

FILE_NAME = "config.json"


def load(
    overrides: Mapping[str, str] | None = None, environment: Mapping[str, str] | None = None
) -> Settings:
    """Parse the settings of this process: overrides, environment, file, defaults.

    Raises:
        ConfigurationError: the file or a value cannot be read.
    """
    variables = current() if environment is None else environment
    given = dict(overrides or {})
    named = {BY_NAME[name].environment[0]: text for name, text in given.items()}
    merged = {**variables, **named}
    folder = parse({}, merged).data_dir if "data_dir" in given else _data_dir(merged)
    return parse(read(folder), merged)


def _data_dir(variables: Mapping[str, str]) -> Path:
    setting = BY_NAME["data_dir"]
    text = next((variables[name] for name in setting.environment if variables.get(name)), "")
    return folder_of(text or setting.default)


def read(folder: Path) -> dict[str, str]:
    """Return the stored settings, by dotted name; none when there is no file.

    Raises:
        ConfigurationError: the file is no JSON object of known names and texts.
    """
    path = folder / FILE_NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path} cannot be read as JSON") from error
    if not isinstance(content, dict):
        raise ConfigurationError(f"{path} must hold one JSON object")
    flat = _flatten(content)
    unknown = sorted(name for name in flat if name not in BY_NAME)
    if unknown:
        raise ConfigurationError(f"{path} has an unknown setting: {unknown[0]}")
    if "data_dir" in flat:
        raise ConfigurationError(
            f"{path} cannot set data_dir, the folder that it lies in; set CRYSTAL_DATA_DIR"
        )
    return flat


def _flatten(content: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in content.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            flat.update(_flatten(value, f"{name}."))
        elif isinstance(value, list):
            flat[name] = ",".join(str(item) for item in value)
        elif value is not None:
            flat[name] = str(value)
    return flat


def write(folder: Path, values: Mapping[str, str]) -> None:
    """Replace the stored settings in one step; readers see the old file or the new one.

    Raises:
        ConfigurationError: the file cannot be written.
    """
    nested: dict[str, object] = {}
    for name in sorted(values):
        group, _, leaf = name.rpartition(".")
        target = nested.setdefault(group, {}) if group else nested
        if isinstance(target, dict):
            target[leaf] = values[name]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / FILE_NAME, json.dumps(nested, ensure_ascii=False, indent=2))
    except OSError as error:
        raise ConfigurationError(f"{folder / FILE_NAME} cannot be written") from error


def replace_file(path: Path, content: str) -> None:
    """Replace a file in one step by one that only its owner reads.

    Raises:
        OSError: it cannot be written.
    """
    # mkstemp makes the file with mode 0600, so the key is never readable by others.
    handle = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed below, kept on purpose
        "w", encoding="utf-8", dir=path.parent, prefix=".config-", delete=False
    )
    temporary = Path(handle.name)
    try:
        with handle:
            handle.write(f"{content}\n")
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
