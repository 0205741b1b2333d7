"""The MCP server of one session: tools, resources, and the two transports.

Owns the use of the SDK. Standard output belongs to the protocol; nothing else may be printed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import unquote

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp_types import ToolAnnotations
from pydantic import ValidationError

from cli.failures import Failure
from cli.mcp.notes import as_markdown
from cli.mcp.tools import TOOLS, Tools
from cli.session import Session

INSTRUCTIONS = (
    "Notes distilled from earlier conversations with AI coding tools, in English and Chinese. "
    "Search them before solving a problem anew; write a note when something was learned."
)
NAME = "chatcrystal"
"""The original's name, which clients may have rules for."""


class _Server(MCPServer[Any]):
    """The SDK's server, which tells agents what is wrong with an argument in a sentence."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(_faults(error.__cause__)) from error.__cause__
            raise


def _faults(error: ValidationError) -> str:
    return "; ".join(
        f'Argument "{".".join(map(str, fault["loc"]))}": {fault["msg"]}'
        for fault in error.errors(include_url=False, include_input=False)
    )


def create(session: Session, version: str) -> MCPServer[Any]:
    """Return the server over a session; nothing is called yet."""
    server = _Server(NAME, version=version, instructions=INSTRUCTIONS, log_level="WARNING")
    tools = Tools(session)
    for row in TOOLS:
        name = row.method.__name__
        server.add_tool(
            _reported(getattr(tools, name), ToolError),
            name=name,
            annotations=ToolAnnotations(
                read_only_hint=not row.writes, destructive_hint=False, open_world_hint=False
            ),
            structured_output=False,
        )
    _add_resources(server, session, tools)
    return server


def _add_resources(server: MCPServer[Any], session: Session, tools: Tools) -> None:
    def note(note_id: str) -> str:
        """One note as Markdown, by its id, title or slug."""
        return as_markdown(session.get(f"/api/notes/{tools.id_of(unquote(note_id))}"))

    def tags() -> str:
        """Every tag with the number of its notes."""
        rows = session.get("/api/tags")
        return "\n".join(f"- {row['name']} ({row['count']})" for row in rows)

    kind = "text/markdown"
    server.resource("crystal://notes/{note_id}", mime_type=kind)(_reported(note, ResourceError))
    server.resource("crystal://tags", mime_type=kind)(_reported(tags, ResourceError))


def _reported(call: Callable[..., str], kind: type[Exception]) -> Callable[..., str]:
    """Turn what a server refused into an error whose sentence the agent reads."""

    @wraps(call)
    def run(*values: Any, **named: Any) -> str:
        try:
            return call(*values, **named)
        except Failure as failure:
            raise kind(failure.text) from failure

    return run


def serve_stdio(session: Session, version: str) -> None:
    """Speak over standard input and output until the client leaves."""
    create(session, version).run("stdio")


def serve_http(session: Session, version: str, port: int) -> None:
    """Answer at ``http://127.0.0.1:PORT/mcp`` until interrupted.

    Only this machine can connect, and the SDK refuses foreign Host and Origin headers.
    """
    create(session, version).run("streamable-http", host="127.0.0.1", port=port)
