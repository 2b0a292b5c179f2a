"""A repository's card is read as Markdown, at the commit that was listed."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub_server import HubFile, HubServer, Repo
from slipstream.cancel import Cancelled, CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.card import _FRONT_MATTER, LONGEST, read_card
from slipstream.hub.connection import Connection
from slipstream.hub.listing import read_listing

NEVER = CancelToken()
MODEL = HubFile("model-Q8_0.gguf", b"GGUF")


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer(
        Repo("owner/name", [MODEL], licence="mit", card="# A model\n\nIt answers.")
    ) as hub:
        yield hub


def card(hub: HubServer, way: Connection, readme: bytes | None = None) -> str:
    """What is read of a repository with this README."""
    if readme is not None:
        hub.repos["owner/name"] = Repo("owner/name", [MODEL, HubFile("README.md", readme)])
    return read_card(read_listing("owner/name", way, NEVER), way, NEVER)


def test_the_text_without_what_is_for_programs(hub: HubServer, way: Connection) -> None:
    assert card(hub, way) == "# A model\n\nIt answers.\n"


def test_a_repository_without_a_card_costs_no_request(hub: HubServer, way: Connection) -> None:
    hub.repos["owner/name"] = Repo("owner/name", [MODEL])
    assert card(hub, way) == ""
    assert hub.asked("/resolve/") == []


@pytest.mark.parametrize(
    ("readme", "text"),
    [
        (b"", ""),
        (b"# Only text\n---\nand a line\n", "# Only text\n---\nand a line\n"),
        (b"---\nlicense: mit\n---\n", ""),
        (b"---\n---\ntext", "text"),
        (b"---\r\nlicense: mit\r\n---\r\n\r\ntext\r\n", "text\r\n"),
        (b"---\nlicense: mit\nnever ended", "---\nlicense: mit\nnever ended"),
        ("---\na: ü\n---\nGrüße 模型".encode(), "Grüße 模型"),
        (b"\xff\xfe no text", "\ufffd\ufffd no text"),
    ],
)
def test_any_card(hub: HubServer, way: Connection, readme: bytes, text: str) -> None:
    assert card(hub, way, readme) == text


def test_a_card_without_end_is_cut(hub: HubServer, way: Connection) -> None:
    text = card(hub, way, b"---\na: b\n---\n" + b"text " * 200_000)
    assert LONGEST - 100 < len(text) < LONGEST
    assert sum(request.sent for request in hub.asked("/resolve/")) <= LONGEST


def test_it_is_that_of_the_commit_that_was_listed(hub: HubServer, way: Connection) -> None:
    card(hub, way, b"old")
    listing = read_listing("owner/name", way, NEVER)
    hub.repos["owner/name"].push(HubFile("README.md", b"new"))
    assert read_card(listing, way, NEVER) == "old"
    assert card(hub, way) == "new"


def test_what_the_hub_refuses_is_told(hub: HubServer, way: Connection) -> None:
    listing = read_listing("owner/name", way, NEVER)
    with pytest.raises(SlipstreamError) as caught:
        read_card(replace(listing, revision="0" * 40), way, NEVER)
    assert caught.value.code == "revision_not_found"
    hub.stop()
    with pytest.raises(SlipstreamError) as caught:
        read_card(listing, way, NEVER)
    assert caught.value.code == "offline"


def test_who_stops_it_is_obeyed(hub: HubServer, way: Connection) -> None:
    listing = read_listing("owner/name", way, NEVER)
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        read_card(listing, way, cancel)


@given(st.text(), st.text(alphabet="-a:\n ", max_size=200))
def test_text_is_never_lost_but_for_what_stands_between_two_lines(text: str, yaml: str) -> None:
    left = _FRONT_MATTER.sub("", yaml + text, count=1)
    assert (yaml + text).endswith(left)
    assert left == yaml + text or yaml.lstrip().startswith("---") or text.lstrip().startswith("---")
