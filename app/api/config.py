"""Routes of the configuration.

Keys are never shown, and paths and folders cannot be set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.api import bodies
from app.api.bodies import Field
from app.api.envelope import Reply
from app.api.routing import Route
from app.api.services import services
from app.db import conversations, spaces
from app.errors import CrystalError, InvalidParameter
from app.ranking.registry import BY_NAME as RANKERS

_EMBEDDING = {
    "provider": "embedding.provider",
    "baseURL": "embedding.base_url",
    "apiKey": "embedding.api_key",
    "model": "embedding.model",
}
_SEARCH = {"ranker": "search.ranker"}
_GROUPS = {"embedding": _EMBEDDING, "search": _SEARCH}


def _group(name: str, value: Any) -> dict[str, str]:
    """Read one group of settings into dotted names."""
    known = _GROUPS[name]
    if not isinstance(value, dict) or not set(value) <= set(known):
        raise InvalidParameter(name, f"must be an object with some of {', '.join(known)}")
    read = {known[key]: bodies.any_text(f"{name}.{key}", text) for key, text in value.items()}
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
          {"type": "object"}),
)  # fmt: skip
CHANGEABLE = (
    *TESTABLE,
    Field("search", "Search: ranker.", _group, {"type": "object"}),
    Field("confirm", "Change it even if notes must be embedded anew.", _flag,
          {"type": "boolean"}),
)  # fmt: skip


def show_config() -> Any:
    """Show the configuration, keys left out."""
    parts = services()
    active = parts.active.current
    with parts.database.read() as connection:
        sources = conversations.sources(connection)
        space = spaces.get(connection, active.space_id)
    embedding, spec = active.settings.embedding, active.embedder.spec
    return {
        "llm": {"provider": "", "baseURL": "", "model": "", "hasApiKey": False},
        "embedding": {
            "provider": embedding.provider,
            "baseURL": embedding.base_url,
            "model": spec.model,
            "hasApiKey": bool(embedding.api_key),
        },
        "sources": [
            {"name": name, "displayName": name, "dataDir": "", "conversationCount": count}
            for name, count in sources
        ],
        "enabledSources": [name for name, _ in sources],
        "claudeProjectsDir": "",
        "search": {"ranker": active.settings.search_ranker},
        "space": {
            "provider": space.spec.provider,
            "model": space.spec.model,
            "dimension": space.spec.dimension,
            "border": space.spec.border,
            "hasMeans": space.spec.means is not None,
            "maxChars": space.spec.max_chars,
        },
    }


def change_config(body: Mapping[str, Any]) -> Any:
    """Change the embedding provider or the default ranker."""
    changes = {**body.get("embedding", {}), **body.get("search", {})}
    if not changes:
        raise InvalidParameter("embedding", "or search must name a setting to change")
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
    Route("GET", "/api/config", show_config),
    Route("POST", "/api/config", change_config, body=CHANGEABLE),
    Route("POST", "/api/config/test", try_config, body=TESTABLE),
)
