"""``crystal mcp``: the notes as tools for agents."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec

import click

from cli.failures import FAILED, Failure
from cli.loading import loaded
from cli.options import Whole, with_session
from cli.session import Session

DEFAULT_PORT = 3722
_DISTRIBUTION = "chatcrystal-search"


@click.command()
@click.option("--http", is_flag=True, help="Speak streamable HTTP instead of standard input.")
@click.option(
    "-p",
    "--port",
    type=Whole(1, 65_535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port of this machine, with --http.",
)
@with_session
def mcp(session: Session, http: bool, port: int) -> None:
    """Offer the notes to agents by the Model Context Protocol.

    Clients start this command themselves and speak to it over standard input and output.
    """
    if find_spec("mcp") is None:
        raise Failure(
            "crystal mcp needs the MCP SDK: pip install 'chatcrystal-search[mcp]'", FAILED
        )
    if http:
        session.output.say(f"MCP at http://127.0.0.1:{port}/mcp; stop with Ctrl-C.")
        loaded("cli.mcp.server:serve_http")(session, version(_DISTRIBUTION), port)
    else:
        loaded("cli.mcp.server:serve_stdio")(session, version(_DISTRIBUTION))
