"""A way to the Hub of a test."""

from collections.abc import Iterator

import pytest

from hub_server import HubServer
from slipstream.hub.connection import Connection, connect


@pytest.fixture
def way(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    """A connection to the test's Hub, without a token."""
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    with connect() as connection:
        yield connection
