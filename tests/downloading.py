"""What tests of downloads share: orders from the test Hub, and a child process that downloads."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hub_server import HubFile, HubServer, Made, Repo, Request
from hub_server.answers import Answer, Call
from slipstream.cancel import CancelToken
from slipstream.hub.connection import connect
from slipstream.hub.downloads.job import Patience
from slipstream.hub.downloads.limit import SpeedLimit
from slipstream.hub.downloads.orders import Downloaded, Item, Order
from slipstream.hub.downloads.progress import Progress
from slipstream.hub.downloads.sets import download
from slipstream.hub.files import RepoFile

REPO = "owner/name"
MIB = 1 << 20
HURRIED = Patience(silence=0.4, tries=4, first=0.02, longest=0.1)


def repo_of(size: int, **options: object) -> Repo:
    """A repository with one file of a size."""
    return Repo(REPO, [HubFile("model-Q8_0.gguf", Made(size), **options)])  # type: ignore[arg-type]


@contextmanager
def served(monkeypatch: pytest.MonkeyPatch, folder: Path, *repos: Repo) -> Iterator[HubServer]:
    """A Hub with some repositories, and an empty cache below a folder; no download is left."""
    with HubServer(*repos) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        monkeypatch.setenv("HF_HUB_CACHE", str(folder / "cache"))
        monkeypatch.delenv("HF_TOKEN", raising=False)
        yield server
    join_flushes()


def join_flushes() -> None:
    """Wait until everything that was downloaded is on the disk."""
    for thread in threading.enumerate():
        if thread.name == "flush":
            thread.join()


def item_of(repo: Repo) -> Item:
    """All files of a repository, as its listing tells."""
    return Item(
        repo.id,
        repo.commit,
        "main",
        tuple(
            RepoFile(file.path, file.size, file.sha256 if file.is_large else None, file.etag)
            for file in repo.files
        ),
    )


def get(
    hub: HubServer,
    *,
    order: Order | None = None,
    folder: Path | None = None,
    cancel: CancelToken | None = None,
    watch: Callable[[Progress], None] = lambda _progress: None,
    limit: SpeedLimit | None = None,
    patience: Patience = HURRIED,
) -> Downloaded:
    """Download everything that a test Hub has, or an order."""
    order = order or Order(tuple(item_of(repo) for repo in hub.repos.values()), folder)
    with connect() as connection:
        return download(order, connection, cancel or CancelToken(), watch, limit, patience)


def child(**environment: str) -> "subprocess.Popen[bytes]":
    """Another process that downloads everything ``REPO`` has, into the cache."""
    code = (
        "import sys; from slipstream.cancel import CancelToken\n"
        "from slipstream.hub.connection import connect\n"
        "from slipstream.hub.downloads.orders import Item, Order\n"
        "from slipstream.hub.downloads.sets import download\n"
        "from slipstream.hub.listing import read_listing\n"
        "from slipstream.errors import SlipstreamError\n"
        "with connect() as way:\n"
        f"    listing = read_listing({REPO!r}, way, CancelToken())\n"
        "    item = Item(listing.repo, listing.revision, listing.ref, listing.files)\n"
        "    try: download(Order((item,)), way, CancelToken(), lambda progress: None)\n"
        "    except SlipstreamError as error: print(error.code, error.facts); sys.exit(3)\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, **environment}, stdout=subprocess.PIPE
    )


def changed(hub: HubServer, listener: str, change: Callable[[Answer], Answer]) -> None:
    """Let a test Hub's answers be changed before they are sent, all of one listener."""
    answer = hub.answer

    def other(call: Call) -> Answer:
        return change(answer(call)) if call.listener == listener else answer(call)

    hub.answer = other  # type: ignore[method-assign]


def asked_cdn(hub: HubServer) -> list[Request]:
    """What the CDN was asked."""
    return [request for request in hub.requests if request.listener == "cdn"]


def sent(hub: HubServer) -> int:
    """Bytes of files that the Hub sent."""
    return sum(request.sent for request in asked_cdn(hub) if request.status in (200, 206))


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    """Wait until something is true; fail if it never is."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)
