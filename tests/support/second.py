"""Applications with the second model, and what is stored in its space."""

from __future__ import annotations

from app.factory import Application
from tests.support.application import stub_values
from tests.support.companions import Companion, companions
from tests.support.provider import StubProvider

SECOND = {"search.second_space": "true"}


def second_values(provider: StubProvider) -> dict[str, str]:
    """Settings of an application with the stub provider and, beside it, the real second model."""
    return stub_values(provider) | SECOND


def second_companions(application: Application) -> list[Companion]:
    """All companions in the second space, by note, then whole before field, then number."""
    assert application.second is not None
    return companions(application, application.second.space_id)


def fill_both(application: Application) -> None:
    """Make the companions of either space."""
    assert application.second_companions is not None
    application.companions.fill()
    application.second_companions.fill()
