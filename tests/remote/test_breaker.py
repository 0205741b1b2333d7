"""The circuit breaker: by its own clock, and before a provider that is down."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.domain.health import Health
from app.domain.notes import NoteDraft
from app.domain.search import SearchRequest
from app.errors import ProviderError, ProviderRejected, ProviderTimeout, ProviderUnreachable
from app.remote import breaker as breaker_module
from app.remote.breaker import FAILURES, FIRST_REST, LONGEST_REST, WASTED_SECONDS, Breaker
from tests.support.application import opened, stub_values
from tests.support.provider import StubProvider, status

DOWN = ProviderUnreachable("It cannot be reached")
LONG = WASTED_SECONDS / FAILURES


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def is_open(breaker: Breaker) -> bool:
    try:
        breaker.check()
    except ProviderError:
        return True
    return False


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(clock)


def test_it_opens_after_failures_in_a_row_alone(breaker: Breaker) -> None:
    for _ in range(FAILURES - 1):
        breaker.failed(DOWN, LONG)
    breaker.succeeded()
    breaker.failed(DOWN, LONG)
    assert not is_open(breaker)
    for _ in range(FAILURES - 1):
        breaker.failed(DOWN, LONG)
    assert is_open(breaker)


def test_it_says_what_was_wrong_and_when_it_looks_again(breaker: Breaker) -> None:
    for _ in range(FAILURES):
        breaker.failed(ProviderTimeout("Nothing came"), LONG)
    with pytest.raises(ProviderTimeout, match=r"Nothing came .*left alone for 5 s"):
        breaker.check()


def test_after_a_rest_one_caller_tries_and_the_others_wait(breaker: Breaker, clock: Clock) -> None:
    for _ in range(FAILURES):
        breaker.failed(DOWN, LONG)
    clock.now += FIRST_REST
    assert not is_open(breaker)
    assert is_open(breaker)
    breaker.succeeded()
    assert not is_open(breaker)


def test_rests_grow_up_to_the_longest(breaker: Breaker, clock: Clock) -> None:
    for _ in range(FAILURES):
        breaker.failed(DOWN, LONG)
    breaker.failed(DOWN, LONG)
    clock.now += FIRST_REST
    assert is_open(breaker)
    clock.now += FIRST_REST
    assert not is_open(breaker)
    for _ in range(100):
        breaker.failed(DOWN, LONG)
    clock.now += LONGEST_REST
    assert not is_open(breaker)


def test_a_provider_that_fails_at_once_is_asked_every_time(breaker: Breaker) -> None:
    for _ in range(100):
        breaker.failed(DOWN, 0.001)
    assert not is_open(breaker)


def test_words_answer_at_once_while_the_provider_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What would take ten seconds of waiting.
    monkeypatch.setattr(breaker_module, "WASTED_SECONDS", 0.0)
    with StubProvider() as stub, opened(tmp_path, stub_values(stub)) as application:
        application.writer.create_note(NoteDraft("Redis pool", "Every worker held a connection."))
        stub.behave(status(503))
        request = SearchRequest("redis", "hybrid")
        answers = [application.searcher.search(request) for _ in range(FAILURES + 2)]
        assert all([found.title for found in answer.found] == ["Redis pool"] for answer in answers)
        assert "left alone" in answers[-1].warnings[0]
        asked = len(stub.requests)
        with pytest.raises(ProviderRejected, match="left alone"):
            application.searcher.search(SearchRequest("redis", "vector"))
        assert len(stub.requests) == asked


def test_its_state_can_be_asked_for(clock: Clock) -> None:
    breaker = Breaker(clock)
    assert breaker.health() == Health()
    breaker.failed(DOWN, LONG)
    assert (breaker.health().is_up, breaker.health().rest) == (False, 0.0)
    for _ in range(FAILURES - 1):
        breaker.failed(DOWN, LONG)
    assert breaker.health() == Health(FAILURES, FIRST_REST)
    clock.now += 2.0
    assert breaker.health().rest == FIRST_REST - 2.0
    breaker.succeeded()
    assert breaker.health() == Health()
