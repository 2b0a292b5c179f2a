"""How smooth the window stays while it downloads and a reply streams in.

The same heartbeat as in ui_stream.py, without a download, with one at 100 MB/s (a gigabit line),
and with one as fast as loopback allows. Prints one JSON document per line.

    PYTHONPATH=tests python benchmarks/ui_download.py [--tokens 5000]
"""

import argparse
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from download import REPO, hub_in_its_own_process
from slipstream.cancel import Cancelled, CancelToken
from slipstream.hub.connection import connect
from slipstream.hub.downloads.limit import SpeedLimit
from slipstream.hub.downloads.orders import Item, Order
from slipstream.hub.downloads.sets import download
from slipstream.hub.listing import read_listing
from ui_stream import measure

SIZE = 1_000_000_000
GIGABIT = 100_000_000


def main() -> None:
    wanted = argparse.ArgumentParser(description=__doc__)
    wanted.add_argument("--tokens", type=int, default=5000)
    tokens = wanted.parse_args().tokens
    with tempfile.TemporaryDirectory() as folder, hub_in_its_own_process(SIZE) as (endpoint, _):
        os.environ["HF_ENDPOINT"] = endpoint
        for name, rate in (("none", None), ("100 MB/s", GIGABIT), ("unlimited", 0)):
            with _downloading(Path(folder), rate):
                print(json.dumps({"download": name, **measure("mixed", tokens, 500, 0)}))


@contextmanager
def _downloading(folder: Path, rate: int | None) -> Iterator[None]:
    """Download again and again in another thread; bytes per second, 0 is no limit."""
    if rate is None:
        yield
        return
    cancel = CancelToken()
    thread = threading.Thread(target=_download, args=(folder, SpeedLimit(rate or None), cancel))
    thread.start()
    try:
        yield
    finally:
        cancel.cancel()
        thread.join()


def _download(folder: Path, limit: SpeedLimit, cancel: CancelToken) -> None:
    with connect() as connection:
        listing = read_listing(REPO, connection, CancelToken())
        items = (Item(REPO, listing.revision, listing.ref, listing.files),)
        try:
            while True:
                place = folder / "files"
                download(Order(items, place), connection, cancel, lambda _: None, limit)
                shutil.rmtree(place)
        except Cancelled:
            pass


if __name__ == "__main__":
    main()
