"""The MCP server: tools and resources for agents, over the same HTTP client as the commands.

Imports the official SDK, which the extra ``mcp`` brings; only ``cli.commands.mcp`` loads this.
"""
