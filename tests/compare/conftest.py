"""What tests of comparisons share."""

from pathlib import Path

import pytest

from slipstream.hub.reference import resolve


@pytest.fixture
def demo() -> Path:
    """The demo model, with its head inside and its drafters beside it."""
    return resolve("demo")
