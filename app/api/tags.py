"""Routes of tags."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.api.routing import Route
from app.api.services import services
from app.db import tags


def list_tags() -> Any:
    """List tags with the number of their notes, most used first."""
    with services().database.read() as connection:
        return [asdict(tag) for tag in tags.counted(connection)]


ROUTES = (Route("GET", "/api/tags", list_tags),)
