"""The imported data directory, opened once for all cases: they only read."""

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.support.golden import golden_application


@pytest.fixture(scope="session")
def golden_server() -> Iterator[Flask]:
    """The HTTP application over the imported directory."""
    with golden_application() as application:
        yield application.flask()
