"""Late loading: the one place where parts of the command line are loaded when they are needed.

Loading the server's parts takes over a second, which no command that does without them waits for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def loaded(target: str) -> Any:
    """Return an attribute of a module of ours, named as ``module:attribute``."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
