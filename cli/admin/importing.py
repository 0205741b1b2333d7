"""``crystal import``: the group of everything that brings data in.

Each source is a command of its own; those that read this machine's files directly are in
``cli.admin``.
"""

from __future__ import annotations

import click

from cli.admin.import_chatcrystal import chatcrystal
from cli.commands.jsonl import jsonl
from cli.options import takes_options_anywhere


@click.group("import")
@takes_options_anywhere
def importing() -> None:
    """Bring in conversations and notes."""


importing.add_command(jsonl)
importing.add_command(chatcrystal)
