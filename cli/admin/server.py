"""The HTTP server of this process, from its socket to its end.

Owns the order in which it starts and stops: a busy port is noticed before the database is
touched.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from socket import socket as Socket
from types import FrameType
from typing import NoReturn, cast

from flask import Flask
from waitress.server import BaseWSGIServer, create_server
from waitress.task import ThreadedTaskDispatcher

from app import factory
from app.errors import CrystalError
from app.factory import Application
from app.settings.values import Settings
from cli.admin import pidfile
from cli.admin.faults import reported
from cli.admin.listening import is_loopback, listening, url_of
from cli.admin.logs import log_to_stderr
from cli.admin.refusals import LARGEST_BODY, LARGEST_HEAD, EnvelopeChannel
from cli.failures import Failure

REQUEST_SECONDS = 3
"""How long a stop waits for requests at work."""

WORK_SECONDS = 1.0
"""How long it waits for work in the background then; notes that are not done stay pending."""

_log = logging.getLogger(__name__)


def run(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; requests at work are finished, for a few seconds at most.

    Args:
        announce: Called with the URL once requests are answered.

    Raises:
        Failure: It cannot listen, another server serves the data, or the application refuses.
    """
    with ExitStack() as parts:
        parts.enter_context(_ending_on_signals())
        _refuse_twin(settings)
        file = parts.enter_context(pidfile.held(settings.data_dir))
        with reported():
            has_tokens = is_loopback(settings.server.host) or factory.knows_tokens(settings)
        socket = parts.enter_context(listening(settings.server, has_tokens=has_tokens))
        port: int = socket.getsockname()[1]
        url = url_of(settings.server.host, port)
        file.record(port, url)
        log_to_stderr(settings.log_level, settings.data_dir)
        factory.tune_memory()
        with reported():
            application = factory.build(settings)
            parts.callback(application.close, WORK_SECONDS)
            server = _server(application.flask(), socket, settings.server.threads)
        threading.Thread(target=_warm, args=[application], name="warming", daemon=True).start()
        _log.info("listening", extra={"url": url})
        announce(url)
        server.run()
        _log.info("stopped")


def _refuse_twin(settings: Settings) -> None:
    """Say who has the port, when it is a server of the same data.

    Raises:
        Failure: such a server runs.
    """
    for other in pidfile.running(settings.data_dir):
        if other.port == settings.server.port:
            raise Failure(
                f"A server of {settings.data_dir} is running already at {other.url} "
                f"(pid {other.pid})",
                "already_running",
            )


class _Dispatcher(ThreadedTaskDispatcher):
    """The threads that answer requests, with less patience at the end."""

    def shutdown(self, cancel_pending: bool = True, timeout: int = REQUEST_SECONDS) -> bool:
        """Wait for requests at work, then drop them."""
        return super().shutdown(cancel_pending, timeout)


def _server(application: Flask, socket: Socket, threads: int) -> BaseWSGIServer:
    dispatcher = _Dispatcher()
    dispatcher.set_thread_count(threads)
    server = create_server(
        application,
        _dispatcher=dispatcher,
        sockets=[socket],
        threads=threads,
        max_request_body_size=LARGEST_BODY,
        max_request_header_size=LARGEST_HEAD,
        ident="chatcrystal-search",
        log_socket_errors=False,
    )
    # One socket makes one server; of several, another class would take care.
    single = cast("BaseWSGIServer", server)
    single.channel_class = EnvelopeChannel
    return single


def _warm(application: Application) -> None:
    """Load model and index beside the first requests, which wait only for what they need."""
    try:
        application.warm()
    except CrystalError as error:
        _log.warning("not warmed: %s", error.message)
    except Exception:  # edge: the end of a thread, whose faults nobody else would see
        _log.exception("not warmed")


@contextmanager
def _ending_on_signals() -> Iterator[None]:
    """Leave the block in an orderly way on SIGTERM or SIGINT; a second one ends at once."""
    with ExitStack() as undo:
        for number in (signal.SIGTERM, signal.SIGINT):
            undo.callback(signal.signal, number, signal.signal(number, _end))
        yield


def _end(number: int, frame: FrameType | None) -> NoReturn:
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_DFL)
    raise SystemExit(0)
