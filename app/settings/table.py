"""The table of settings: name, default, environment variables, kind, help.

Owns the list that parsing, ``config.json``, the HTTP API and the documentation read.
Must not hold a parsed value.
"""

from __future__ import annotations

from app.settings.finder import FINDER_OPTIONS, PREFIX
from app.settings.index import INDEX_SETTINGS
from app.settings.kinds import Kind, Setting
from app.settings.sources import NAMES as SOURCE_NAMES
from app.settings.sources import PREFIX as SOURCES
from app.settings.sources import SOURCE_FOLDERS

PROVIDERS = ("builtin", "openai", "ollama")
LANGUAGE_MODELS = ("none", "openai", "ollama")

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
        "Address to listen on; any other than this machine's own needs an API token.",
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
        "When set, every request but /api/health must carry it, or one made by crystal tokens.",
        Kind.SECRET,
    ),
    Setting(
        "server.requests_per_minute",
        "0",
        ("CRYSTAL_REQUESTS_PER_MINUTE",),
        "Requests that one caller may make in a minute; 0 sets no limit.",
        Kind.INTEGER,
        0,
        10_000_000,
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
        "llm.provider",
        "none",
        ("CRYSTAL_LLM_PROVIDER",),
        "Language model that may distil conversations when asked to: none, openai (any compatible "
        "server) or ollama.",
        Kind.CHOICE,
        choices=LANGUAGE_MODELS,
        over_http=True,
    ),
    Setting(
        "llm.model",
        "",
        ("CRYSTAL_LLM_MODEL",),
        "Name of the language model; empty means the provider's default.",
        over_http=True,
    ),
    Setting(
        "llm.base_url",
        "",
        ("CRYSTAL_LLM_BASE_URL",),
        "Address of the language model; empty means the provider's usual one. A new address drops "
        "the stored key.",
        over_http=True,
    ),
    Setting(
        "llm.api_key",
        "",
        ("CRYSTAL_LLM_API_KEY",),
        "Key of the language model's provider.",
        Kind.SECRET,
        over_http=True,
    ),
    Setting(
        "llm.timeout",
        "120",
        ("CRYSTAL_LLM_TIMEOUT",),
        "Seconds that one call to the language model may take, retries included.",
        Kind.NUMBER,
        0.1,
        3600,
    ),
    Setting(
        "llm.retries",
        "2",
        ("CRYSTAL_LLM_RETRIES",),
        "How often a failed call, or an answer of another form than asked for, is tried again.",
        Kind.INTEGER,
        0,
        10,
    ),
    Setting(
        "llm.max_input_chars",
        "32000",
        ("CRYSTAL_LLM_MAX_INPUT_CHARS",),
        "Characters of a conversation that are sent to the language model; the middle is left out.",
        Kind.INTEGER,
        1000,
        2_000_000,
    ),
    Setting(
        "search.ranker",
        "chatcrystal",
        ("CRYSTAL_SEARCH_RANKER",),
        "Ranker of a search that names none.",
        over_http=True,
    ),
    Setting(
        "search.second_space",
        "true",
        ("CRYSTAL_SEARCH_SECOND_SPACE",),
        "Whether hybrid weighs a second model too, when the extra quality is installed; its "
        "vectors are made behind.",
        Kind.CHOICE,
        choices=("true", "false"),
    ),
    *INDEX_SETTINGS,
    Setting(
        "vault.left_out",
        "node_modules",
        ("CRYSTAL_VAULT_LEFT_OUT",),
        "Folders that an import of a vault leaves out, by name or by path from the vault's top.",
        Kind.LIST,
    ),
    Setting(
        f"{SOURCES}enabled",
        ",".join(SOURCE_NAMES),
        ("CRYSTAL_SOURCES",),
        "Tools whose conversations are imported.",
        Kind.LIST,
    ),
    *(Setting(f"{SOURCES}{each.name}", "", each.environment, each.help) for each in SOURCE_FOLDERS),
    *(
        Setting(
            f"{PREFIX}{option.name}",
            option.default,
            (option.environment,),
            f"Of the ranker finder. {option.help}",
            Kind.INTEGER if option.is_whole else Kind.NUMBER,
            option.minimum,
            option.maximum,
        )
        for option in FINDER_OPTIONS
    ),
)

BY_NAME: dict[str, Setting] = {setting.name: setting for setting in SETTINGS}
