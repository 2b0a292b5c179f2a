"""The queue of downloads: kept across restarts and crashes, run one after another."""

import copy
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from downloading import MIB, REPO, item_of, repo_of, sent, served, wait_until
from hub_server import HubFile, HubServer, Made, Repo
from slipstream.errors import SlipstreamError
from slipstream.hub.downloads.leftovers import leftovers
from slipstream.hub.downloads.orders import Item, Order, Pairing
from slipstream.hub.downloads.queue import Downloads, Entry
from slipstream.hub.downloads.records import Record, Records
from slipstream.hub.files import RepoFile
from slipstream.paths import downloads_folder


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    other = Repo("a/b", [HubFile("b.gguf", Made(MIB, 2))])
    with served(monkeypatch, tmp_path, repo_of(8 * MIB), other) as server:
        yield server


@pytest.fixture
def queue(hub: HubServer) -> Iterator[Downloads]:
    downloads = Downloads()
    downloads.start()
    yield downloads
    downloads.close()


def order_of(hub: HubServer, repo: str = REPO) -> Order:
    return Order((item_of(hub.repos[repo]),))


def stages(downloads: Downloads) -> list[str]:
    return [entry.record.stage for entry in downloads.list()]


def only(downloads: Downloads) -> Entry:
    (entry,) = downloads.list()
    return entry


def test_orders_are_run_one_after_another(hub: HubServer, queue: Downloads) -> None:
    queue.add(order_of(hub))
    queue.add(order_of(hub, "a/b"))
    wait_until(lambda: stages(queue) == ["done", "done"])
    queue.remove_finished()
    assert queue.list() == ()
    assert not [path for path in downloads_folder().iterdir() if path.suffix == ".json"]


def test_pause_and_resume_act_at_once_and_nothing_comes_twice(
    hub: HubServer, queue: Downloads
) -> None:
    hub.sending.rate = 8 * MIB
    name = queue.add(order_of(hub))
    wait_until(lambda: bool((p := only(queue).progress) and p.done > 2 * MIB))
    started = time.monotonic()
    queue.pause(name)
    wait_until(lambda: only(queue).record.stage == "paused" and only(queue).progress is None)
    assert time.monotonic() - started < 0.25
    hub.sending.rate = 0
    queue.resume(name)
    wait_until(lambda: only(queue).record.stage == "done")
    assert sent(hub) <= 10 * MIB


def test_cancel_deletes_what_arrived(hub: HubServer, queue: Downloads, tmp_path: Path) -> None:
    queue.limit.change(4 * MIB)
    name = queue.add(order_of(hub))
    wait_until(lambda: bool((p := only(queue).progress) and p.done > MIB))
    queue.cancel(name)
    wait_until(lambda: queue.list() == ())
    wait_until(lambda: not list(tmp_path.rglob("*.part")))


def test_a_failure_is_kept_and_can_be_tried_again(hub: HubServer, queue: Downloads) -> None:
    hub.repos[REPO].gated = "auto"
    name = queue.add(order_of(hub))
    wait_until(lambda: only(queue).record.stage == "failed")
    error = only(queue).record.error
    assert error is not None
    assert error.code == "gated"
    assert Records(downloads_folder()).all()[0].error is not None
    hub.repos[REPO].gated = False
    queue.resume(name)
    wait_until(lambda: only(queue).record.stage == "done")


def test_the_order_of_orders_can_be_changed(hub: HubServer) -> None:
    downloads = Downloads()
    first, second, third = (downloads.add(order_of(hub)) for _ in range(3))
    downloads.move(third, before=first)
    downloads.move(first, before=None)
    assert [entry.record.id for entry in downloads.list()] == [third, second, first]
    downloads.move(first, before=second)
    assert [entry.record.id for entry in downloads.list()] == [third, first, second]


def test_what_a_killed_process_ran_is_interrupted_and_goes_on(hub: HubServer) -> None:
    hub.sending.rate = 4 * MIB
    waiting = Downloads()
    waiting.add(order_of(hub))
    code = (
        "import time\n"
        "from slipstream.hub.downloads.queue import Downloads\n"
        "Downloads().start()\ntime.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], env=dict(os.environ))
    wait_until(lambda: sent(hub) > 2 * MIB)
    assert only(waiting).elsewhere
    with pytest.raises(SlipstreamError) as failure:
        waiting.pause(only(waiting).record.id)
    assert failure.value.code == "download_elsewhere"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert only(waiting).interrupted
    hub.sending.rate = 0
    waiting.start()
    wait_until(lambda: only(waiting).record.stage == "done")
    waiting.close()
    assert sent(hub) < 16 * MIB


def test_a_program_that_ends_goes_on_the_next_time(hub: HubServer) -> None:
    first = Downloads()
    first.limit.change(4 * MIB)
    first.start()
    first.add(order_of(hub))
    wait_until(lambda: sent(hub) > MIB)
    first.close()
    assert stages(first) == ["waiting"]
    second = Downloads()
    second.start()
    wait_until(lambda: only(second).record.stage == "done")
    second.close()


def test_records_are_read_back_as_they_were(hub: HubServer, tmp_path: Path) -> None:
    records = Records(tmp_path)
    order = Order((item_of(hub.repos[REPO]), item_of(hub.repos["a/b"])), tmp_path / "models")
    record = records.add(order)
    error = SlipstreamError("offline", "No net.", facts={"host": "x"}, action="Look.")
    records.set_stage(record.id, "failed", error)
    (read,) = records.all()
    assert read.order == order
    assert read.error is not None
    assert read.error.to_json() == error.to_json()
    assert read.stage == "failed"


JUNK = [b"", b"{}", b"[]", b"\xff", b'{"version": 1}', b'{"version": 9}', b"[" * 100_000]


@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
def test_a_torn_record_is_left_out(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / "one.json").write_bytes(junk)
    records = Records(tmp_path)
    assert records.all() == []
    assert isinstance(records.add(Order(())), Record)


NOT_RECORDS: dict[str, tuple[object, ...]] = {
    "position": ("x", None, True, float("inf"), float("nan"), 10**4000),
    "stage": ("lost", None, []),
    "items": ([], {}, None, "x", [5]),
    "items/0/repo": ("\0", "name", "a/../b", None, 5),
    "items/0/revision": ("..", "", "\u00b2", 5, "a" * 5000),
    "items/0/ref": (None, 5, "\ud800"),
    "items/0/files": ([], None, [{}], "x"),
    "items/0/files/0/path": ("/etc/x", "../x", "x\ud800", float("inf")),
    "items/0/files/0/bytes": (-1, 0.5, True, "5", float("inf"), 1 << 63),
    "items/0/files/0/blob": (True, -1, "", "../x", "a" * 5000),
    "items/0/files/0/sha256": (True, "", "../x"),
    "folder": ("\0", "\ud800", float("inf"), True, []),
    "pairing": ("x", {}, []),
    "pairing/path": ("other.gguf", None, []),
    "pairing/bases": ("x", [5], None),
    "pairing/chosen": (5, None),
    "error": ("x", {}, []),
    "error/message": (5, None, "\ud800"),
    "error/facts": ([], "x", {"host": []}),
}


@pytest.mark.parametrize("where", NOT_RECORDS)
def test_a_record_that_no_order_can_have_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    records = Records(tmp_path)
    file = RepoFile("x-Q8_0.gguf", 5, "a" * 64, "a" * 64)
    order = Order((Item("a/b", "c" * 40, "main", (file,)),), tmp_path, Pairing("a/b", file.path))
    good = records.add(order, "paused")
    error = SlipstreamError("offline", "No net.", facts={"host": "x"}, action="Look.")
    records.set_stage(good.id, "failed", error)
    written = json.loads((tmp_path / f"{good.id}.json").read_text())
    for number, value in enumerate(NOT_RECORDS[where]):
        damaged = copy.deepcopy(written)
        *folders, last = where.split("/")
        inside: Any = damaged
        for part in folders:
            inside = inside[int(part) if part.isdigit() else part]
        inside[last] = value
        (tmp_path / f"damaged{number}.json").write_text(json.dumps(damaged))
        assert [leftover.record.id for leftover in leftovers(records)] == [good.id], value
    assert records.add(order).position == 2


def test_an_order_whose_folder_cannot_be_is_still_listed(tmp_path: Path) -> None:
    records = Records(tmp_path)
    file = RepoFile("x-Q8_0.gguf", 5, "a" * 64, "a" * 64)
    records.add(Order((Item("a/b", "c" * 40, "main", (file,)),), Path("/" + "a" * 5000)))
    assert [leftover.done for leftover in leftovers(records)] == [0]


def test_a_folder_that_comes_and_goes_is_read_as_it_is(tmp_path: Path) -> None:
    """On a drive that is pulled out and put back, it can go between two system calls."""
    folder, aside = tmp_path / "downloads", tmp_path / "aside"
    folder.mkdir()
    records, end = Records(folder), threading.Event()

    def come_and_go() -> None:
        while not end.is_set():
            folder.rename(aside)
            folder.touch()
            folder.unlink()
            aside.rename(folder)

    swaps = threading.Thread(target=come_and_go)
    swaps.start()
    try:
        assert all(records.all() == [] for _ in range(600))
    finally:
        end.set()
        swaps.join()


def test_a_record_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    records = Records(tmp_path)
    (tmp_path / "one.json").mkdir()
    with pytest.raises(OSError, match="irectory"):
        records.save(Record("one", Order(())))
    assert [path.name for path in tmp_path.iterdir()] == ["one.json"]
