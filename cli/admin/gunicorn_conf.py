"""The configuration of gunicorn: ``gunicorn -c python:cli.admin.gunicorn_conf app.wsgi:app``.

Owns what must not be left to gunicorn's defaults. Its names are gunicorn's; its command line
overrides them. Must not open the database: this module is loaded before the workers are forked.
"""

from __future__ import annotations

from typing import Any

from app.settings import store
from cli.admin.listening import is_loopback
from cli.admin.logs import log_to_stderr

_SETTINGS = store.load()

bind = f"{_SETTINGS.server.host}:{_SETTINGS.server.port}"
workers = 4
worker_class = "gthread"
threads = _SETTINGS.server.threads

# A Chinese query of 450 characters is longer than gunicorn's limit of a line; ours is 4,000.
limit_request_line = 0

# Seconds. Beyond the longest silence of a worker, which loads model and index at its start.
timeout = 300
# As crystal serve gives requests at work.
graceful_timeout = 45
keepalive = 5

# Workers must not share connections, threads or the index, so each loads the application itself.
preload_app = False
# Requests are logged by the application, with what it knows of them.
accesslog = None
proc_name = "chatcrystal-search"
# It would lie in the home folder, one for all servers of a user.
control_socket_disable = True


def on_starting(server: Any) -> None:
    """Refuse an address that lets other machines in while the settings say that none may."""
    for address in server.cfg.address:
        is_open = isinstance(address, tuple) and not is_loopback(address[0])
        if is_open and is_loopback(_SETTINGS.server.host):
            raise SystemExit(
                f"Listening on {address[0]} lets other machines in: set CRYSTAL_HOST to it and "
                "make a token (crystal tokens create NAME)"
            )


def post_fork(server: Any, worker: Any) -> None:
    """Have a worker write its log as crystal serve does."""
    log_to_stderr(_SETTINGS.log_level)
