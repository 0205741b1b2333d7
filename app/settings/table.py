"""The table of settings: name, default, environment variables, kind, help.

Owns the list that parsing, ``config.json``, the HTTP API and the documentation read.
Must not hold a parsed value.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """How the text of a setting is read."""

    TEXT = "text"
    SECRET = "secret"
    INTEGER = "whole number"
    NUMBER = "number"
    LIST = "comma-separated list"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table.

    ``environment`` lists variables, the first one that is set wins. ``over_http`` says whether
    POST /api/config may change it: never paths, folders or addresses of this machine.
    """

    name: str
    default: str
    environment: tuple[str, ...]
    help: str
    kind: Kind = Kind.TEXT
    minimum: float = 0
    maximum: float = float("inf")
    choices: tuple[str, ...] = ()
    over_http: bool = False


PROVIDERS = ("builtin", "openai", "ollama")

SETTINGS: tuple[Setting, ...] = (
    Setting(
        "data_dir",
        "~/.chatcrystal-search",
        ("CRYSTAL_DATA_DIR", "DATA_DIR"),
        "Folder of the database, the settings file and the log.",
    ),
    Setting(
        "database_url",
        "",
        ("CRYSTAL_DATABASE_URL",),
        "SQLAlchemy URL of the database; empty means crystal.db in the data folder.",
    ),
    Setting(
        "server.host",
        "127.0.0.1",
        ("CRYSTAL_HOST",),
        "Address to listen on; any other than this machine's own needs server.api_token.",
    ),
    Setting(
        "server.port",
        "3721",
        ("CRYSTAL_PORT", "PORT"),
        "Port to listen on; 0 takes a free one.",
        Kind.INTEGER,
        0,
        65535,
    ),
    Setting(
        "server.threads",
        "16",
        ("CRYSTAL_THREADS",),
        "Requests served at once.",
        Kind.INTEGER,
        1,
        256,
    ),
    Setting(
        "server.api_token",
        "",
        ("CRYSTAL_API_TOKEN",),
        "When set, every request but /api/health must carry it as a bearer token.",
        Kind.SECRET,
    ),
    Setting(
        "server.allowed_hosts",
        "localhost,127.0.0.1,[::1]",
        ("CRYSTAL_ALLOWED_HOSTS",),
        "Names that the Host header may carry.",
        Kind.LIST,
    ),
    Setting(
        "server.allowed_origins",
        "http://localhost:*,http://127.0.0.1:*,http://[::1]:*",
        ("CRYSTAL_ALLOWED_ORIGINS",),
        "Origins whose pages may call the API; :* stands for any port.",
        Kind.LIST,
    ),
    Setting(
        "server.frontend",
        "",
        ("CRYSTAL_FRONTEND",),
        "Folder of a built single-page app to serve beside the API.",
    ),
    Setting(
        "log.level",
        "INFO",
        ("CRYSTAL_LOG_LEVEL",),
        "Least severity that is logged.",
        Kind.CHOICE,
        choices=("DEBUG", "INFO", "WARNING", "ERROR"),
    ),
    Setting(
        "embedding.provider",
        "builtin",
        ("CRYSTAL_EMBEDDING_PROVIDER", "EMBEDDING_PROVIDER"),
        "Who makes the vectors: builtin (offline), openai (any compatible server) or ollama.",
        Kind.CHOICE,
        choices=PROVIDERS,
        over_http=True,
    ),
    Setting(
        "embedding.model",
        "",
        ("CRYSTAL_EMBEDDING_MODEL", "EMBEDDING_MODEL"),
        "Model name; empty means the provider's default.",
        over_http=True,
    ),
    Setting(
        "embedding.base_url",
        "",
        ("CRYSTAL_EMBEDDING_BASE_URL", "EMBEDDING_BASE_URL"),
        "Address of the provider; empty means its usual one. A new address drops the stored key.",
        over_http=True,
    ),
    Setting(
        "embedding.api_key",
        "",
        ("CRYSTAL_EMBEDDING_API_KEY", "EMBEDDING_API_KEY"),
        "Key of the provider.",
        Kind.SECRET,
        over_http=True,
    ),
    Setting(
        "embedding.timeout",
        "10",
        ("CRYSTAL_EMBEDDING_TIMEOUT",),
        "Seconds that one call to the provider may take, retries included.",
        Kind.NUMBER,
        0.1,
        600,
    ),
    Setting(
        "embedding.retries",
        "2",
        ("CRYSTAL_EMBEDDING_RETRIES",),
        "How often a failed call is tried again within the timeout.",
        Kind.INTEGER,
        0,
        10,
    ),
    Setting(
        "embedding.batch_size",
        "32",
        ("CRYSTAL_EMBEDDING_BATCH_SIZE",),
        "Texts sent to the provider in one call.",
        Kind.INTEGER,
        1,
        2048,
    ),
    Setting(
        "embedding.max_chars",
        "0",
        ("CRYSTAL_EMBEDDING_MAX_CHARS",),
        "Longest text that the model takes, in characters; 0 means the provider's own limit.",
        Kind.INTEGER,
        0,
        1_000_000,
    ),
    Setting(
        "embedding.query_cache",
        "1024",
        ("CRYSTAL_EMBEDDING_QUERY_CACHE",),
        "Query vectors kept in memory.",
        Kind.INTEGER,
        0,
        1_000_000,
    ),
    Setting(
        "search.ranker",
        "chatcrystal",
        ("CRYSTAL_SEARCH_RANKER",),
        "Ranker of a search that names none.",
        over_http=True,
    ),
)

BY_NAME: dict[str, Setting] = {setting.name: setting for setting in SETTINGS}
