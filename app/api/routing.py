"""Routes: a rule, its parameters and body, and the handler behind them.

Owns the table of routes that Flask and the documentation are fed from.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flask import Flask, Response, request
from werkzeug.routing import BaseConverter

from app.api import bodies, parameters
from app.api.bodies import Field
from app.api.envelope import Reply, success
from app.api.parameters import Parameter
from app.api.query import read_query
from app.api.schemas import Schema
from app.errors import CrystalError, NotFound, RequestError

JSON = "application/json"

LARGEST_ID = 10**18 - 1
"""Databases count further, but nobody has stored that many rows."""

Handler = Callable[..., Any]


class IdConverter(BaseConverter):
    """A path part of ASCII digits; anything else is another address, and so not found.

    The pattern alone decides: what ``to_python`` refuses would still count as an address that
    other methods have.
    """

    regex = f"[0-9]{{1,{len(str(LARGEST_ID))}}}"

    def to_python(self, value: str) -> int:
        """Read the digits."""
        return int(value)


class TextConverter(BaseConverter):
    """The rest of a path, slashes included, as the id of a conversation may have them.

    No id has a NUL: databases cannot store it.
    """

    regex = "[^\\x00]+"
    part_isolating = False


@dataclass(frozen=True, slots=True)
class Route:
    """One route of the API.

    ``answer`` is the schema of the data of a success, None where there is none; ``beside`` those
    of what may stand beside it. A body has at least one of ``needs_one_of``, where these are
    named. ``errors`` are those that not every route of its kind has.
    """

    method: str
    rule: str
    handler: Handler
    parameters: tuple[Parameter, ...] = ()
    body: tuple[Field, ...] | None = None
    answer: Schema | None = None
    status: int = 200
    beside: Mapping[str, Schema] = field(default_factory=dict)
    media_type: str = JSON
    is_enveloped: bool = True
    takes_lines: bool = False
    needs_one_of: tuple[str, ...] = ()
    errors: tuple[type[CrystalError], ...] = ()

    @property
    def help(self) -> str:
        """The first line of the handler's docstring."""
        return (inspect.getdoc(self.handler) or "").partition("\n")[0]

    @property
    def description(self) -> str:
        """The handler's whole docstring."""
        return inspect.getdoc(self.handler) or ""

    def respond(self, **path: Any) -> Response:
        """Read what the request says, call the handler, wrap what it returns.

        A handler takes the parts of the path, then the parameters and the body's fields as
        mappings, when the route has such.
        """
        arguments: list[Any] = []
        if self.parameters:
            values = read_query(request.query_string)
            arguments.append(parameters.read_all(self.parameters, values))
        if self.body is not None:
            arguments.append(bodies.read_fields(self.body, bodies.read_json_object(request)))
        result = self.handler(*path.values(), *arguments)
        if isinstance(result, Response):
            return result
        return success(result if isinstance(result, Reply) else Reply(result))


def register(app: Flask, routes: Sequence[Route]) -> None:
    """Hand the routes to Flask."""
    app.url_map.converters |= {"id": IdConverter, "text": TextConverter}
    app.before_request(_check_address)
    for route in routes:
        app.add_url_rule(
            route.rule,
            endpoint=f"{route.method} {route.rule}",
            view_func=route.respond,
            methods=[route.method],
        )


def _check_address() -> None:
    """Refuse what the decoding of the path would hide: bytes that are no text, doubled slashes."""
    try:
        request.environ.get("PATH_INFO", "").encode("latin-1").decode("utf-8")
    except UnicodeDecodeError as error:
        raise RequestError("The address is not a valid URL: its bytes are no UTF-8") from error
    # The server folds slashes at the start into one, and tells what came only here.
    if request.environ.get("REQUEST_URI", "").startswith("//"):
        raise NotFound("Not Found")
