"""The only module that reads or writes the process environment.

Owns the access to it. Must not know what any variable means beyond its name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def limit_native_threads() -> None:
    """Keep numpy and faiss on one thread each: with two, one query got 2 to 30 times slower."""
    for name in _THREAD_VARIABLES:
        os.environ.setdefault(name, "1")


def quieten_grpc() -> None:
    """Keep what a Milvus client's transport says to itself out of our standard error."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")


def current() -> Mapping[str, str]:
    """Return a copy of the environment, so that later changes do not reach parsed settings."""
    return dict(os.environ)
