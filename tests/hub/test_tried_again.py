"""What the network broke off is tried again by itself: soon, then seldom, then not any more."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from downloading import HURRIED, MIB, REPO, item_of, repo_of, served, wait_until
from hub_server import HubFile, HubServer, Made, Repo
from slipstream.hub.downloads.orders import Order
from slipstream.hub.downloads.queue import Downloads, Entry
from slipstream.hub.downloads.records import Records
from slipstream.paths import downloads_folder

TRIES = HURRIED.tries
"""Refusals in a row after which a download counts as broken off."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    other = Repo("a/b", [HubFile("b.gguf", Made(MIB, 2))])
    with served(monkeypatch, tmp_path, repo_of(2 * MIB), other) as server:
        yield server


@contextmanager
def running(hub: HubServer, *waits: float, repo: str = REPO) -> Iterator[tuple[Downloads, str]]:
    """A queue with one order, which is tried again after so many seconds."""
    downloads = Downloads(patience=HURRIED, waits=waits)
    name = downloads.add(Order((item_of(hub.repos[repo]),)))
    downloads.start()
    yield downloads, name
    downloads.close()


def entry(downloads: Downloads) -> Entry:
    return downloads.list()[0]


def stage(downloads: Downloads) -> str:
    return entry(downloads).record.stage


def waits(downloads: Downloads) -> bool:
    return entry(downloads).again is not None


def test_what_the_network_broke_off_is_tried_again_by_itself(hub: HubServer) -> None:
    hub.faults.resolve += [503] * TRIES
    with running(hub, 1.0) as (downloads, _):
        wait_until(lambda: waits(downloads))
        before = entry(downloads)
        assert before.record.stage == "waiting"
        assert before.record.error is not None
        assert before.record.error.code == "server_error"
        wait_until(lambda: (entry(downloads).again or 1.0) < (before.again or 0.0) - 0.2)
        wait_until(lambda: stage(downloads) == "done")
        assert entry(downloads).record.error is None


def test_without_a_connection_it_waits_too(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    address = hub.endpoint
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with running(hub, 0.1) as (downloads, _):
        wait_until(lambda: waits(downloads))
        monkeypatch.setenv("HF_ENDPOINT", address)
        wait_until(lambda: stage(downloads) == "done")


def test_after_the_last_time_it_has_failed_and_can_be_tried_by_hand(hub: HubServer) -> None:
    hub.faults.resolve += [503] * TRIES * 3
    with running(hub, 0.1, 0.1) as (downloads, name):
        wait_until(lambda: stage(downloads) == "failed")
        assert hub.faults.resolve == []
        assert not waits(downloads)
        downloads.resume(name)
        wait_until(lambda: stage(downloads) == "done")


def test_what_arrives_meanwhile_begins_the_waits_anew(hub: HubServer) -> None:
    hub.faults.resolve += [503] * TRIES
    with running(hub, 2.0, 600.0) as (downloads, _):
        wait_until(lambda: waits(downloads))
        hub.sending.cut_after = MIB + MIB // 2
        hub.faults.cdn += [200, *[503] * TRIES]
        wait_until(lambda: not waits(downloads))
        wait_until(lambda: waits(downloads))
        assert (entry(downloads).again or 600.0) < 3


@pytest.mark.parametrize("way", ["pause", "cancel"])
def test_nothing_is_tried_again_that_was_stopped(hub: HubServer, way: str) -> None:
    hub.faults.resolve += [503] * TRIES
    with running(hub, 0.3) as (downloads, name):
        wait_until(lambda: waits(downloads))
        getattr(downloads, way)(name)
        asked = len(hub.requests)
        with pytest.raises(AssertionError, match="never happened"):
            wait_until(lambda: len(hub.requests) > asked, seconds=3)
        assert [one.record.stage for one in downloads.list()] == ["paused"] * (way == "pause")


def test_nobody_has_to_wait_who_wants_it_now(hub: HubServer) -> None:
    hub.faults.resolve += [503] * TRIES
    with running(hub, 600.0) as (downloads, name):
        wait_until(lambda: waits(downloads))
        downloads.resume(name)
        wait_until(lambda: stage(downloads) == "done")


def test_the_others_go_on_meanwhile_and_a_new_start_does_not_wait(hub: HubServer) -> None:
    hub.faults.resolve += [503] * TRIES
    with running(hub, 600.0) as (downloads, _):
        downloads.add(Order((item_of(hub.repos["a/b"]),)))
        wait_until(lambda: [one.record.stage for one in downloads.list()] == ["waiting", "done"])
    again = Downloads()
    again.start()
    wait_until(lambda: {one.stage for one in Records(downloads_folder()).all()} == {"done"})
    again.close()


def test_what_no_waiting_mends_is_told_also_after_a_try(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.faults.resolve += [503] * TRIES
    with running(hub, 0.2, 600.0) as (downloads, _):
        wait_until(lambda: waits(downloads))
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        wait_until(lambda: stage(downloads) == "failed")
        error = entry(downloads).record.error
        assert error is not None
        assert error.code == "offline_mode"


def test_what_no_waiting_mends_is_told_at_once(hub: HubServer) -> None:
    hub.repos[REPO].gated = "auto"
    with running(hub, 600.0) as (downloads, _):
        wait_until(lambda: stage(downloads) == "failed")
