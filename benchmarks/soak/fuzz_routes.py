"""Requests that schemathesis draws from the API's own description, and chains of them.

Owns the limit: whatever is asked in whatever order, no answer is a fault of ours.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import hypothesis
import schemathesis
from hypothesis import HealthCheck
from hypothesis.errors import Unsatisfiable
from hypothesis.stateful import run_state_machine_as_test
from schemathesis import GenerationMode

from app.api.application import ROUTES
from app.api.openapi import document
from benchmarks.soak.calls import LINES, Answer, Tally
from benchmarks.soak.fuzz import PART
from benchmarks.soak.outcome import Part, Row
from benchmarks.soak.processes import Place, Server

LEFT_OUT = "/api/queue/stream"
"""Its answer does not end."""

EXAMPLES = 5
CHAINS = 1
STEPS = 12
CONFIGURATION = "^/api/config"
"""What changes the provider would have every later request wait for nobody."""


@schemathesis.serializer(LINES)
def lines(_context: Any, value: Any) -> bytes:
    """Send what was made for a body of lines as one line."""
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


def run(folder: Path, settings: Mapping[str, str], tally: Tally, seconds: float, seed: int) -> Part:
    """Send requests to one server for some seconds; the routes take turns."""
    place = Place(folder, settings)
    place.make()
    alone, chained = Row(PART, "requests by the API's description"), Row(PART, "chains of them")
    deadline = time.monotonic() + seconds
    with Server(place, tally) as server:
        described: Any = schemathesis.openapi.from_dict(document(ROUTES))
        described.config.update(base_url=f"http://127.0.0.1:{server.port}")
        described = described.exclude(path=LEFT_OUT).exclude(path_regex=CONFIGURATION)
        operations = [each.ok() for each in described.get_all_operations()]
        random.Random(seed).shuffle(operations)
        while time.monotonic() < deadline - seconds / 2 or not alone.tried:
            _draw(operations[seed % len(operations)], alone, tally, seed)
            seed += 1
        while time.monotonic() < deadline or not chained.tried:
            _chain(described, chained, tally, seed)
            seed += 1
    return Part((alone, chained))


def _settings(**more: Any) -> hypothesis.settings:
    return hypothesis.settings(
        deadline=None, database=None, phases=[hypothesis.Phase.generate],
        suppress_health_check=list(HealthCheck), **more,
    )  # fmt: skip


def _draw(operation: Any, row: Row, tally: Tally, seed: int) -> None:
    """Send some requests to one route, right ones and wrong ones."""
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):

        @hypothesis.seed(seed)
        @_settings(max_examples=EXAMPLES)
        @hypothesis.given(operation.as_strategy(generation_mode=mode))
        def send(case: schemathesis.Case[Any]) -> None:
            _count(case, case.call(), row, tally)

        # A route without parameters cannot be asked wrongly.
        with suppress(Unsatisfiable):
            send()


def _chain(described: Any, row: Row, tally: Tally, seed: int) -> None:
    """Send requests that take up what earlier ones answered: an id that was made, and the like."""
    machine: Any = described.as_state_machine()

    class Chain(machine):  # type: ignore[misc]
        """Keeps what was answered, in the place of checks."""

        def validate_response(self, response: Any, case: Any, **more: Any) -> None:
            _count(case, response, row, tally)

    run = hypothesis.seed(seed)(Chain)
    run_state_machine_as_test(
        run, settings=_settings(max_examples=CHAINS, stateful_step_count=STEPS)
    )


def _count(case: Any, response: Any, row: Row, tally: Tally) -> None:
    answer = Answer(response.status_code, response.text[:200], response.elapsed)
    tally.add(f"{case.method} {case.path}", answer)
    is_ours = answer.status >= 500 and answer.status != 503
    row.add([f"{case.method} {case.path}: {answer.body}"] if is_ours else [])
