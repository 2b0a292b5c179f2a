"""A download with its progress on stderr."""

import contextlib
import time
from collections.abc import Iterator

from rich.progress import BarColumn, Progress, TextColumn

from slipstream.cancel import Cancelled, CancelToken
from slipstream.cli import output
from slipstream.errors import SlipstreamError
from slipstream.hub.connection import connect
from slipstream.hub.downloads.limit import SpeedLimit
from slipstream.hub.downloads.orders import Downloaded, Order
from slipstream.hub.downloads.progress import Progress as State
from slipstream.hub.downloads.progress import Watch
from slipstream.hub.downloads.records import Record, Records
from slipstream.hub.downloads.run import run
from slipstream.paths import downloads_folder
from slipstream.words import duration, several, size

_LOOK = 0.5
"""Seconds between two looks at whether another program is still at it."""
_EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


def transfer(order: Order, rate: float | None, cancel: CancelToken) -> Downloaded:
    """Download what is missing of an order. What is interrupted goes on the next time, also in the
    window.

    Args:
        order: what to get.
        rate: bytes per second at most; None for as fast as it goes.
        cancel: ends it; what arrived is kept.

    Raises: Cancelled; SlipstreamError: ``not_saved``, what ``connect`` and ``run`` raise.
    """
    records = Records(downloads_folder())
    try:
        record = records.for_order(order)
    except OSError as error:
        raise SlipstreamError(
            "not_saved",
            "The download cannot be noted, so it was not begun.",
            facts={"path": str(downloads_folder()), "reason": error.strerror or str(error)},
            action="Free some space there, or make it writable.",
        ) from error
    files = [file for item in order.items for file in item.files]
    total = sum(file.bytes for file in files)
    output.say(f"Downloading {several(len(files), 'file')}, {size(total)} ...")
    try:
        _wait_for_others(record, records, cancel)
        with connect() as connection, _watched(total) as watch:
            done = run(record, records, connection, cancel, watch, SpeedLimit(rate))
    except Cancelled:
        output.say("Stopped. What arrived is kept: the same command goes on from there.")
        raise
    records.remove(record.id)
    return done


def _wait_for_others(record: Record, records: Records, cancel: CancelToken) -> None:
    """Let another program that is at the same download finish, or end.

    Raises: Cancelled.
    """
    if records.is_held(record.id):
        output.say("Another program is at this download; waiting for it ...")
    while records.is_held(record.id):
        cancel.wait(_LOOK)
        cancel.raise_if_cancelled()


@contextlib.contextmanager
def _watched(total: int) -> Iterator[Watch]:
    """Shows how far it is: a bar on a terminal, else a line from time to time."""
    if not output.errors.is_terminal or output.errors.is_dumb_terminal:
        yield _in_lines()
        return
    columns = (
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:.0f} %", markup=False),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=output.errors, transient=True) as bar:
        task = bar.add_task("", total=total)

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
            output.say(_doing(state))

    return watch


def _doing(state: State) -> str:
    """What is done at this moment, in a few words that fit beside a bar."""
    far = f"{size(state.done)} of {size(state.total)}"
    current = state.current
    if current is not None and current.state == "checking":
        return f"{far}, checking"
    if current is not None and current.state == "waiting":
        seconds = f"{current.seconds:.0f} s: " if current.seconds else ""
        return f"{far}, waiting {seconds}{current.why}"
    if state.speed is None:
        return far
    left = state.seconds_left
    return f"{far}, {size(round(state.speed))}/s" + (f", {duration(left)} left" if left else "")
