"""A download with its progress on stderr."""

import contextlib
import time
from collections.abc import Iterator

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from slipstream.cancel import CancelToken
from slipstream.cli import output
from slipstream.hub.connection import connect
from slipstream.hub.downloads.limit import SpeedLimit
from slipstream.hub.downloads.orders import Downloaded, Order
from slipstream.hub.downloads.progress import Progress as State
from slipstream.hub.downloads.progress import Watch
from slipstream.hub.downloads.queue import run
from slipstream.hub.downloads.records import Records
from slipstream.paths import downloads_folder, printable
from slipstream.words import size

_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


def transfer(order: Order, rate: float | None, cancel: CancelToken) -> Downloaded:
    """Download what is missing of an order. What is interrupted goes on the next time, also in the
    window.

    Args:
        order: what to get.
        rate: bytes per second at most; None for as fast as it goes.
        cancel: ends it; what arrived is kept.

    Raises: Cancelled; OSError; SlipstreamError: what ``connect`` and ``run`` raise.
    """
    records = Records(downloads_folder())
    record = records.for_order(order)
    with connect() as connection, _watched() as watch:
        done = run(record, records, connection, cancel, watch, SpeedLimit(rate))
    records.remove(record.id)
    return done


@contextlib.contextmanager
def _watched() -> Iterator[Watch]:
    """Shows how far it is: a bar on a terminal, else a line from time to time."""
    if not output.errors.is_terminal or output.errors.is_dumb_terminal:
        yield _in_lines()
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=output.errors,
        transient=True,
    ) as bar:
        task = bar.add_task("")

        def watch(state: State) -> None:
            words = output.harmless(_doing(state))
            bar.update(task, completed=state.done, total=state.total, description=words)

        yield watch


def _in_lines() -> Watch:
    """Says from time to time how far it is."""
    told = time.monotonic()

    def watch(state: State) -> None:
        nonlocal told
        if time.monotonic() - told >= _EVERY:
            told = time.monotonic()
            output.say(f"{size(state.done)} of {size(state.total)}: {_doing(state)}")

    return watch


def _doing(state: State) -> str:
    """What is done at this moment, in a few words."""
    current = state.current
    if current is None:
        return ""
    name = printable(current.path.rpartition("/")[2])
    if current.state == "checking":
        return f"Checking {name}"
    if current.state == "waiting":
        seconds = f"{current.seconds:.0f} s, " if current.seconds else ""
        return f"Waiting {seconds}{current.why}"
    return name
