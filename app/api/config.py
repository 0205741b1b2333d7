"""Routes of the configuration.

Keys are never shown, and paths and folders cannot be set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.api import answers, bodies
from app.api.bodies import Field
from app.api.envelope import Reply
from app.api.routing import Route
from app.api.services import services
from app.db import conversations, spaces
from app.embedding.registry import PROVIDERS
from app.embedding.scale import lengths_of, means_of
from app.errors import CrystalError, InvalidParameter
from app.ranking.registry import BY_NAME as RANKERS
from app.settings.table import LANGUAGE_MODELS

CLAUDE_CODE = "claude-code"

_EMBEDDING = {
    "provider": "embedding.provider",
    "baseURL": "embedding.base_url",
    "apiKey": "embedding.api_key",
    "model": "embedding.model",
}
_MODEL = {
    "provider": "llm.provider",
    "baseURL": "llm.base_url",
    "apiKey": "llm.api_key",
    "model": "llm.model",
}
_SEARCH = {"ranker": "search.ranker"}
_GROUPS = {"embedding": _EMBEDDING, "llm": _MODEL, "search": _SEARCH}


def _provider_schema(names: Iterable[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "provider": {"enum": list(names)},
            "baseURL": {"type": "string", "anyOf": [{"format": "uri"}, {"maxLength": 0}]},
            "apiKey": {"type": "string", "pattern": "^[ -~]*$"},
            "model": bodies.TEXT,
        },
        "additionalProperties": False,
    }


_EMBEDDING_SCHEMA = _provider_schema(PROVIDERS)
_MODEL_SCHEMA = _provider_schema(LANGUAGE_MODELS)
_SEARCH_SCHEMA = {
    "type": "object",
    "properties": {"ranker": {"enum": list(RANKERS)}},
    "additionalProperties": False,
}


def _group(name: str, value: Any) -> dict[str, str]:
    """Read one group of settings into dotted names."""
    known = _GROUPS[name]
    if not isinstance(value, dict) or not set(value) <= set(known):
        raise InvalidParameter(name, f"must be an object with some of {', '.join(known)}")
    read = {known[key]: bodies.any_text(f"{name}.{key}", text) for key, text in value.items()}
    key = read.get(f"{name}.api_key", "")
    if not (key.isascii() and key.isprintable()):
        raise InvalidParameter(f"{name}.apiKey", "holds a character that no HTTP header can carry")
    ranker = read.get("search.ranker", "")
    if ranker and ranker not in RANKERS:
        raise InvalidParameter("search.ranker", f"must be one of {', '.join(RANKERS)}")
    return read


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidParameter(name, "must be true or false")
    return value


TESTABLE = (
    Field("embedding", "Embedding provider: provider, baseURL, apiKey, model.", _group,
          _EMBEDDING_SCHEMA),
)  # fmt: skip
CHANGEABLE = (
    *TESTABLE,
    Field("llm", "Language model: provider, baseURL, apiKey, model.", _group, _MODEL_SCHEMA),
    Field("search", "Search: ranker.", _group, _SEARCH_SCHEMA),
    Field("confirm", "Change it even if notes must be embedded anew.", _flag,
          {"type": "boolean"}),
)  # fmt: skip


def show_config() -> Any:
    """Show the configuration, keys left out."""
    parts = services()
    active = parts.active.current
    with parts.database.read() as connection:
        stored = conversations.sources(connection)
        space = spaces.get(connection, active.space_id)
    embedding, spec = active.settings.embedding, active.embedder.spec
    model = active.settings.llm
    return {
        "llm": {
            "provider": model.provider,
            "baseURL": model.base_url,
            "model": model.model,
            "hasApiKey": bool(model.api_key),
        },
        "embedding": {
            "provider": embedding.provider,
            "baseURL": embedding.base_url,
            "model": spec.model,
            "hasApiKey": bool(embedding.api_key),
        },
        **_sources(stored),
        "search": {"ranker": active.settings.search_ranker, "rankers": list(RANKERS)},
        "space": {
            "provider": space.spec.provider,
            "model": space.spec.model,
            "dimension": space.spec.dimension,
            "border": space.spec.border,
            "hasMeans": space.spec.means is not None,
            "meanLengths": lengths_of(means_of(space.spec)),
            "maxChars": space.spec.max_chars,
        },
    }


def _sources(stored: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Return the tools found on this machine, then those that only stored conversations name."""
    scanner = services().scanner
    found = scanner.sources()
    names = {source.name for source in found}
    claude = (source.folder for source in found if source.name == CLAUDE_CODE)
    return {
        "sources": [
            *(_source(each.name, each.title, each.folder, each.conversations) for each in found),
            *(_source(name, name, "", count) for name, count in stored if name not in names),
        ],
        "enabledSources": list(scanner.enabled()),
        "claudeProjectsDir": next(claude, ""),
    }


def _source(name: str, title: str, folder: str, count: int) -> dict[str, Any]:
    return {"name": name, "displayName": title, "dataDir": folder, "conversationCount": count}


def change_config(body: Mapping[str, Any]) -> Any:
    """Change the embedding provider or the default ranker."""
    changes = {key: text for group in _GROUPS for key, text in body.get(group, {}).items()}
    if not changes:
        raise InvalidParameter("embedding", "or llm or search must name a setting to change")
    outcome = services().reconfigurer.change(changes, is_confirmed=body.get("confirm", False))
    if outcome.requires_confirmation:
        return {"requiresConfirm": True, "warnings": list(outcome.warnings)}
    beside = {"warnings": list(outcome.warnings)} if outcome.warnings else {}
    return Reply(show_config(), beside=beside)


def try_config(body: Mapping[str, Any]) -> Any:
    """Try the embedding provider, as configured or as the body says."""
    try:
        probe = services().reconfigurer.test(body.get("embedding", {}))
    except InvalidParameter:
        raise
    except CrystalError as error:
        return {
            "connected": False,
            "error": error.message,
            "embedding": {
                "ok": False,
                "connected": False,
                "error": error.message,
                "code": error.code,
            },
        }
    return {
        "connected": True,
        "embedding": {
            "ok": True,
            "connected": True,
            "provider": probe.provider,
            "model": probe.model,
            "dimension": probe.dimension,
        },
    }


ROUTES = (
    Route("GET", "/api/config", show_config, answer=answers.CONFIG),
    Route(
        "POST",
        "/api/config",
        change_config,
        body=CHANGEABLE,
        answer=answers.CHANGED_CONFIG,
        needs_one_of=("embedding", "llm", "search"),
    ),
    Route("POST", "/api/config/test", try_config, body=TESTABLE, answer=answers.TRIED_CONFIG),
)
