"""Throughput, memory and resumption of downloads, beside curl, from the test Hub on loopback.

::

    PYTHONPATH=tests python benchmarks/download.py [--bytes 1000000000]
"""

import argparse
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

import psutil

from hub_server import HubFile, HubServer, Made, Repo
from slipstream.cancel import CancelToken
from slipstream.hub.connection import connect
from slipstream.hub.downloads.orders import Item, Order
from slipstream.hub.downloads.progress import Progress, Watch
from slipstream.hub.downloads.sets import download
from slipstream.hub.listing import read_listing

REPO = "owner/name"


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__)
    wanted.add_argument("--bytes", type=int, default=1_000_000_000)
    wanted.add_argument("--passes", type=int, default=3)
    arguments = wanted.parse_args()
    size = arguments.bytes
    with tempfile.TemporaryDirectory() as folder, hub_in_its_own_process(size) as (endpoint, sent):
        os.environ["HF_ENDPOINT"] = endpoint
        home = Path(folder)
        for _ in range(arguments.passes):
            _curl(endpoint, home, size)
            _ours(home, size)
        _killed(home, size, sent)


def _ours(home: Path, size: int) -> None:
    os.environ["HF_HUB_CACHE"] = str(home / "cache")
    before = psutil.Process().memory_info().rss
    most = before

    def watch(_progress: Progress) -> None:
        nonlocal most
        most = max(most, psutil.Process().memory_info().rss)

    seconds = _download(watch)
    grown = (most - before) / 1e6
    print(f"ours  {size / seconds / 1e6:8.0f} MB/s  {seconds:6.2f} s  memory +{grown:.0f} MB")
    for thread in threading.enumerate():
        if thread.name == "flush":
            thread.join()
    shutil.rmtree(home / "cache")


def _curl(endpoint: str, home: Path, size: int) -> None:
    if not shutil.which("curl"):
        print("curl is not installed: nothing to compare with.")
        return
    target = home / "curl.gguf"
    url = f"{endpoint}/{REPO}/resolve/main/model.gguf"
    started = time.monotonic()
    subprocess.run(["curl", "-sSfL", "--noproxy", "*", "-o", str(target), url], check=True)
    seconds = time.monotonic() - started
    print(f"curl  {size / seconds / 1e6:8.0f} MB/s  {seconds:6.2f} s")
    os.sync()  # ours waits for the disk, too; memory that was just freed is cheaper to get
    target.unlink()


def _killed(home: Path, size: int, sent: "Synchronized[int]") -> None:
    """Kill a download in the middle, go on, and count what came twice."""
    os.environ["HF_HUB_CACHE"] = str(home / "killed")
    before = sent.value
    child = subprocess.Popen([sys.executable, __file__, "--child"])
    while sent.value - before < size // 2:
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    child.wait()
    time.sleep(0.5)
    parts = list((home / "killed").rglob("*.part"))
    started = time.monotonic()
    seen: list[int] = []
    _download(lambda progress: seen.append(progress.done))
    print(
        f"killed at about {size // 2 / 1e6:.0f} MB ({len(parts)} part), went on from "
        f"{seen[0] / 1e6:.0f} MB in {time.monotonic() - started:.2f} s, "
        f"sent in all {sent.value - before:,} bytes for a file of {size:,}"
    )


def _download(watch: Watch) -> float:
    """Download everything; the seconds that it took, without the listing."""
    with connect() as connection:
        listing = read_listing(REPO, connection, CancelToken())
        order = Order((Item(REPO, listing.revision, listing.ref, listing.files),))
        return download(order, connection, CancelToken(), watch).seconds


@contextmanager
def hub_in_its_own_process(size: int) -> Iterator[tuple[str, "Synchronized[int]"]]:
    endpoint: multiprocessing.Queue[str] = multiprocessing.Queue()
    sent = multiprocessing.Value("q", 0)
    server = multiprocessing.Process(target=_serve, args=(size, endpoint, sent), daemon=True)
    server.start()
    try:
        yield endpoint.get(), sent
    finally:
        server.terminate()
        server.join()


def _serve(size: int, endpoint: "multiprocessing.Queue[str]", sent: "Synchronized[int]") -> None:
    with HubServer(Repo(REPO, [HubFile("model.gguf", Made(size))])) as hub:
        hub.repos[REPO].files[0].sha256  # noqa: B018 - computed once, before the clock runs
        endpoint.put(hub.endpoint)
        while True:
            time.sleep(0.005)
            sent.value = sum(request.sent for request in hub.requests)


if __name__ == "__main__":
    if "--child" in sys.argv:
        _download(lambda _progress: None)
    else:
        main()
