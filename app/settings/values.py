"""Parsed settings: frozen values, secrets masked.

Owns the reading of text by the table. Must not read files or the environment.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.errors import ConfigurationError
from app.settings.kinds import Kind, Setting
from app.settings.table import SETTINGS


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A text that never shows itself; ``reveal`` is the one way to it."""

    _text: str

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret('***')" if self._text else "Secret('')"

    __str__ = __repr__

    def reveal(self) -> str:
        """Return the text, to be sent to whom it belongs and nowhere else."""
        return self._text


Value = str | int | float | tuple[str, ...] | Secret


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How the HTTP server listens and whom it serves."""

    host: str
    port: int
    threads: int
    api_token: Secret
    requests_per_minute: int
    allowed_hosts: tuple[str, ...]
    allowed_origins: tuple[str, ...]
    frontend: str


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Which provider embeds, and within which bounds; ``timeout`` in seconds."""

    provider: str
    model: str
    base_url: str
    api_key: Secret
    timeout: float
    retries: int
    batch_size: int
    max_chars: int
    query_cache: int


@dataclass(frozen=True, slots=True)
class LanguageModelSettings:
    """Which language model may be asked, and within which bounds; ``timeout`` in seconds."""

    provider: str
    model: str
    base_url: str
    api_key: Secret
    timeout: float
    retries: int
    max_input_chars: int


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """Which tools' conversations are imported, and where each keeps them; empty: as usual."""

    enabled: tuple[str, ...]
    home: str
    claude_code: str
    codex: str
    cursor: str
    copilot: str
    trae: str
    generic: str


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Where and how vectors are searched."""

    backend: str
    precision: str
    snapshots: bool
    hnsw_links: int
    hnsw_ef_construction: int
    hnsw_ef_search: int
    pgvector_hnsw: bool
    milvus_uri: str
    milvus_token: Secret


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a process."""

    data_dir: Path
    # It may hold a password.
    database_url: str = field(repr=False)
    log_level: str
    search_ranker: str
    search_second_space: bool
    server: ServerSettings
    embedding: EmbeddingSettings
    llm: LanguageModelSettings
    sources: SourceSettings
    index: IndexSettings
    vault_left_out: tuple[str, ...]
    # Options of the ranker by their names.
    finder: Mapping[str, float]


def folder_of(text: str) -> Path:
    """Read the data folder, in which ``~`` stands for a home folder.

    Raises:
        ConfigurationError: nobody knows that home folder.
    """
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ConfigurationError(
            f"Setting data_dir names a home folder that is not known: {text!r}"
        ) from error


def parse_one(setting: Setting, text: str) -> Value:
    """Read one setting's text.

    Raises:
        ConfigurationError: the text is not of the setting's kind, or out of its range.
    """
    if setting.kind is Kind.SECRET:
        return Secret(text)
    if setting.kind is Kind.LIST:
        return tuple(item.strip() for item in text.split(",") if item.strip())
    if setting.kind is Kind.CHOICE and text not in setting.choices:
        raise ConfigurationError(
            f"Setting {setting.name} must be one of {', '.join(setting.choices)}, not {text!r}"
        )
    if setting.kind in (Kind.INTEGER, Kind.NUMBER):
        return _parse_number(setting, text)
    return text


def _parse_number(setting: Setting, text: str) -> int | float:
    try:
        number = int(text) if setting.kind is Kind.INTEGER else float(text)
    except ValueError:
        number = math.nan
    if not setting.minimum <= number <= setting.maximum:
        raise ConfigurationError(
            f"Setting {setting.name} must be a {setting.kind.value} from {setting.minimum:g} "
            f"to {setting.maximum:g}, not {text!r}"
        )
    return number


def parse(stored: Mapping[str, str], environment: Mapping[str, str]) -> Settings:
    """Read every setting: the environment first, then the stored text, then the default.

    Raises:
        ConfigurationError: a value cannot be read.
    """
    values = {
        setting.name: parse_one(setting, _text_of(setting, stored, environment))
        for setting in SETTINGS
    }
    return _assemble(values)


def _text_of(setting: Setting, stored: Mapping[str, str], environment: Mapping[str, str]) -> str:
    for variable in setting.environment:
        if environment.get(variable):
            return environment[variable]
    return stored.get(setting.name, setting.default)


def _switched(values: Mapping[str, Value]) -> dict[str, Value]:
    """Turn the texts true and false into what they say."""
    switches = {"true": True, "false": False}
    return {
        name: switches.get(value, value) if isinstance(value, str) else value
        for name, value in values.items()
    }


def _assemble(values: Mapping[str, Value]) -> Settings:
    def group(prefix: str) -> dict[str, Value]:
        start = f"{prefix}."
        return {
            name.removeprefix(start): value
            for name, value in values.items()
            if name.startswith(start)
        }

    return Settings(
        data_dir=folder_of(str(values["data_dir"])),
        database_url=str(values["database_url"]),
        log_level=str(values["log.level"]),
        search_ranker=str(values["search.ranker"]),
        search_second_space=values["search.second_space"] == "true",
        server=ServerSettings(**group("server")),  # type: ignore[arg-type]
        embedding=EmbeddingSettings(**group("embedding")),  # type: ignore[arg-type]
        llm=LanguageModelSettings(**group("llm")),  # type: ignore[arg-type]
        sources=SourceSettings(**group("sources")),  # type: ignore[arg-type]
        index=IndexSettings(**_switched(group("index"))),  # type: ignore[arg-type]
        vault_left_out=values["vault.left_out"],  # type: ignore[arg-type]
        finder=group("finder"),  # type: ignore[arg-type]
    )
