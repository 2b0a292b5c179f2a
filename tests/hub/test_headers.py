"""Headers in repositories are read once, and are those of the Hub that is asked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gguf_files import DEMO_SMALL, write_target
from hub_server import HubFile, HubServer, Repo
from slipstream.cancel import CancelToken
from slipstream.hub.connection import connect
from slipstream.hub.headers import read_set, stored_set
from slipstream.hub.listing import read_listing
from slipstream.hub.repository import sort_files

NEVER = CancelToken()
TRUE = DEMO_SMALL.read_bytes()


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")


@pytest.fixture
def hub() -> Iterator[HubServer]:
    with HubServer(Repo("owner/name", [HubFile("model-Q8_0.gguf", TRUE)])) as server:
        yield server


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[HubServer]:
    """It lists what the Hub does, and sends something else."""
    other = write_target(tmp_path / "other.gguf").read_bytes().ljust(len(TRUE), b"\0")
    files = [HubFile("model-Q8_0.gguf", TRUE, sends=other[: len(TRUE)])]
    with HubServer(Repo("owner/name", files)) as server:
        yield server


def read(monkeypatch: pytest.MonkeyPatch, hub: HubServer, repo: str) -> tuple[str | None, bool]:
    """What the model there is called, and whether that was known before."""
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    with connect() as connection:
        listing = read_listing(repo, connection, NEVER)
        (target,) = sort_files(listing).targets
        known = stored_set(target)
        header = read_set(listing, target, connection, NEVER)
        assert known in (None, header)
        assert stored_set(target) == header
        return header.text("general.name"), known is not None


def test_a_header_is_read_once(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    name, known = read(monkeypatch, hub, "owner/name")
    assert not known
    asked = len(hub.asked("/resolve/"))
    assert read(monkeypatch, hub, "owner/name") == (name, True)
    assert len(hub.asked("/resolve/")) == asked


def test_a_mirror_that_lies_lies_for_itself_alone(
    hub: HubServer, mirror: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lie, _ = read(monkeypatch, mirror, "owner/name")
    truth, known = read(monkeypatch, hub, "owner/name")
    assert not known
    assert truth != lie


def test_the_same_file_elsewhere_on_the_hub_needs_no_reading(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repos["other/twin"] = Repo("other/twin", [HubFile("twin-Q8_0.gguf", TRUE)])
    name, _ = read(monkeypatch, hub, "owner/name")
    assert read(monkeypatch, hub, "other/twin") == (name, True)
    hub.repos["other/twin"].push(HubFile("README.md", b"# A card"))
    assert read(monkeypatch, hub, "other/twin") == (name, True)
