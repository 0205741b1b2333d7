"""Writes the reference pages from the code: ``python -m docs.build_reference``.

Routes, settings, errors, rankers and commands each have one table in the code; these pages are
those tables in Markdown. A test fails when a page is not what this writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from app.api.application import ROUTES
from app.api.openapi import every_kind
from app.api.parameters import COUNTS_AS_AT_MOST, Parameter
from app.api.routing import Route
from app.ranking.registry import RANKERS
from app.settings.kinds import Kind, Setting
from app.settings.table import SETTINGS
from cli.main import crystal

FOLDER = Path(__file__).parent / "reference"
_NOTICE = "<!-- Written by python -m docs.build_reference; do not edit. -->\n\n"


def http() -> str:
    """Return the page of routes."""
    parts = ["# HTTP routes\n"]
    for route in sorted(ROUTES, key=lambda route: (route.rule, route.method)):
        parts += _route(route)
    return "\n".join(parts)


def _route(route: Route) -> Iterator[str]:
    path = re.sub("<[a-z]+:", "<", route.rule)
    yield f"## {route.method} `{path}`\n\n{route.help}\n"
    if route.parameters:
        yield "| parameter | type | default | meaning |\n|---|---|---|---|"
        for parameter in route.parameters:
            yield (
                f"| `{parameter.name}` | {_type(parameter)} | {_default(parameter)} "
                f"| {_cell(parameter.help)} |"
            )
        yield ""
    if route.body:
        yield "| body field | required | meaning |\n|---|---|---|"
        for field in route.body:
            yield f"| `{field.name}` | {'yes' if field.is_required else ''} | {_cell(field.help)} |"
        yield ""


def _type(parameter: Parameter) -> str:
    schema = parameter.schema
    if "enum" in schema:
        return " or ".join(f"`{word}`" for word in schema["enum"])
    if schema["type"] in ("integer", "number") and COUNTS_AS_AT_MOST not in schema:
        kind = "whole number" if schema["type"] == "integer" else "number"
        return f"{kind}, {schema['minimum']:g} to {schema['maximum']:g}"
    if schema["type"] == "integer":
        return f"whole number, 0 to {schema[COUNTS_AS_AT_MOST]}"
    if schema["type"] == "array":
        return "text, repeatable"
    return {"boolean": "`true` or `false`"}.get(schema["type"], "text")


def _default(parameter: Parameter) -> str:
    value = parameter.default
    if value is None or value == ():
        return ""
    if isinstance(value, tuple):
        value = ",".join(value)
    return f"`{json.dumps(value).strip(chr(34))}`"


def settings() -> str:
    """Return the page of settings."""
    rows = [_setting(setting) for setting in SETTINGS]
    head = "| setting | default | environment | kind | meaning |\n|---|---|---|---|---|"
    return "\n".join(["# Settings\n", head, *rows, ""])


def _setting(setting: Setting) -> str:
    kind = setting.kind.value
    if setting.kind is Kind.CHOICE:
        kind = " or ".join(f"`{word}`" for word in setting.choices)
    variables = ", ".join(f"`{name}`" for name in setting.environment)
    default = f"`{setting.default}`" if setting.default else ""
    return f"| `{setting.name}` | {default} | {variables} | {kind} | {_cell(setting.help)} |"


def error_codes() -> str:
    """Return the page of error codes."""
    found = {kind.code: kind for kind in every_kind()}
    rows = [
        f"| `{code}` | {kind.status} | {_cell((kind.__doc__ or '').splitlines()[0])} |"
        for code, kind in sorted(found.items(), key=lambda item: (item[1].status, item[0]))
    ]
    return "\n".join(["# Error codes\n", "| code | status | meaning |\n|---|---|---|", *rows, ""])


def rankers() -> str:
    """Return the page of rankers."""
    rows = [f"| `{ranker.name}` | {_cell(ranker.help)} |" for ranker in RANKERS]
    return "\n".join(["# Rankers\n", "| ranker | what it does |\n|---|---|", *rows, ""])


def commands() -> str:
    """Return the page of commands, as their help shows them."""
    return "\n".join(["# Commands\n", *_command(crystal, "crystal", None)])


def _command(command: click.Command, path: str, parent: click.Context | None) -> Iterator[str]:
    name = path.rpartition(" ")[2]
    context = click.Context(command, info_name=name, parent=parent, **command.context_settings)
    context.terminal_width = context.max_content_width = 88
    yield f"## `{path}`\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None and not child.hidden:
                yield from _command(child, f"{path} {name}", context)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


PAGES: dict[str, Callable[[], str]] = {
    "http.md": http,
    "settings.md": settings,
    "errors.md": error_codes,
    "rankers.md": rankers,
    "cli.md": commands,
}


def page(name: str) -> str:
    """Return the text of a page, as it must stand in its file."""
    return _NOTICE + PAGES[name]().rstrip() + "\n"


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(exist_ok=True)
    for name in PAGES:
        (FOLDER / name).write_text(page(name), encoding="utf-8")


if __name__ == "__main__":
    main()
