"""What goes wrong around the queue of downloads: its notes, a slow keyring, a mistake of ours."""

import errno
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from downloading import MIB, item_of, repo_of, served, wait_until
from hub_server import HubFile, HubServer, Made, Repo
from slipstream.errors import SlipstreamError
from slipstream.hub.connection import Connection, connect
from slipstream.hub.downloads.orders import Order
from slipstream.hub.downloads.queue import Downloads
from slipstream.hub.downloads.records import Record, Records
from slipstream.paths import downloads_folder


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    other = Repo("a/b", [HubFile("b.gguf", Made(MIB, 2))])
    with served(monkeypatch, tmp_path, repo_of(2 * MIB), other) as server:
        yield server


class OnFullDisk(Records):
    """Records on a disk that has no space left while ``full``."""

    full = False

    def save(self, record: Record) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(record.id))
        super().save(record)


def orders(hub: HubServer) -> tuple[Order, ...]:
    return tuple(Order((item_of(repo),)) for repo in hub.repos.values())


def told(downloads: Downloads) -> list[str]:
    """The stage of every order, or the code of its failure."""
    entries = [entry.record for entry in downloads.list()]
    return [record.error.code if record.error else record.stage for record in entries]


def test_a_disk_too_full_for_notes_is_told_and_the_model_is_there_all_the_same(
    hub: HubServer,
) -> None:
    records = OnFullDisk(downloads_folder())
    downloads = Downloads(records)
    name = downloads.add(orders(hub)[0])
    records.full = True
    downloads.start()
    wait_until(lambda: told(downloads) == ["disk_full"])
    with pytest.raises(SlipstreamError, match="cannot be noted"):
        downloads.add(orders(hub)[1])
    with pytest.raises(SlipstreamError, match=r"The disk with .* is full"):
        downloads.move(name, before=None)
    records.full = False
    before = len(hub.requests)
    downloads.resume(name)
    wait_until(lambda: told(downloads) == ["done"])
    downloads.close()
    assert len(hub.requests) == before


def test_a_pause_that_cannot_be_noted_is_a_pause(hub: HubServer) -> None:
    hub.sending.rate = MIB
    records = OnFullDisk(downloads_folder())
    downloads = Downloads(records)
    name, _ = (downloads.add(order) for order in orders(hub))
    downloads.start()
    wait_until(lambda: bool((p := downloads.list()[0].progress) and p.done))
    records.full = True
    downloads.pause(name)
    wait_until(lambda: told(downloads)[0] == "disk_full")
    hub.sending.rate = 0
    wait_until(lambda: told(downloads) == ["disk_full", "disk_full"])  # the second has arrived
    downloads.close()


def test_what_is_done_cannot_be_paused(hub: HubServer) -> None:
    downloads = Downloads()
    downloads.start()
    name = downloads.add(orders(hub)[1])
    wait_until(lambda: told(downloads) == ["done"])
    downloads.pause(name)
    assert told(downloads) == ["done"]
    downloads.close()
    assert told(downloads) == ["done"]


def test_nobody_waits_for_a_connection_that_takes_long_to_open(hub: HubServer) -> None:
    opening, go_on = threading.Event(), threading.Event()

    def slowly() -> Connection:
        opening.set()
        go_on.wait()
        return connect()

    downloads = Downloads(open_way=slowly)
    name = downloads.add(orders(hub)[1])
    downloads.start()
    opening.wait()
    downloads.pause(name)
    wait_until(lambda: told(downloads) == ["paused"], 1)
    opening.clear()
    downloads.resume(name)
    opening.wait()
    started = time.monotonic()
    downloads.close()
    assert time.monotonic() - started < 1
    go_on.set()
    assert told(downloads) == ["waiting"]
    second = Downloads()
    second.start()
    wait_until(lambda: told(second) == ["done"])
    second.close()


def test_a_mistake_of_ours_does_not_keep_the_other_downloads(hub: HubServer) -> None:
    calls: list[int] = []

    def once_wrong() -> Connection:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("a bug")
        return connect()

    downloads = Downloads(open_way=once_wrong)
    first, _ = (downloads.add(order) for order in orders(hub))
    downloads.start()
    wait_until(lambda: told(downloads) == ["went_wrong", "done"])
    downloads.resume(first)
    wait_until(lambda: told(downloads) == ["done", "done"])
    downloads.close()


def test_the_list_does_not_grow_for_ever(hub: HubServer) -> None:
    records = Records(downloads_folder())
    old = [records.add(orders(hub)[0], "done") for _ in range(21)]
    downloads = Downloads()
    downloads.start()
    newest = downloads.add(orders(hub)[1])
    wait_until(lambda: len(downloads.list()) == 20)
    kept = [entry.record.id for entry in downloads.list()]
    assert kept == [*(record.id for record in old[2:]), newest]
    downloads.close()
