"""The queue of downloads: it survives restarts and crashes, and runs one order after another."""

import logging
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

from slipstream.cancel import Cancelled, CancelToken, run_apart
from slipstream.errors import SlipstreamError
from slipstream.hub.connection import Connection, connect
from slipstream.hub.downloads.failures import download_elsewhere, not_noted, went_wrong
from slipstream.hub.downloads.job import Patience
from slipstream.hub.downloads.later import WAITS, Later
from slipstream.hub.downloads.limit import SpeedLimit
from slipstream.hub.downloads.orders import Order
from slipstream.hub.downloads.progress import Progress
from slipstream.hub.downloads.records import Record, Records, Stage
from slipstream.hub.downloads.run import noted, run
from slipstream.hub.downloads.sets import discard
from slipstream.paths import downloads_folder

_LOOK = 2.0
"""Seconds between two looks at what other processes may have left."""
_KEPT = 20
"""Orders that are done and stay in the list; the models themselves are in the library."""
_log = logging.getLogger(__name__)
_FOR_EVER = float("inf")


@dataclass(frozen=True)
class Entry:
    """One order, as a window shows it.

    Attributes:
        record: what is kept of it.
        progress: how far it is; None unless this process runs it.
        elsewhere: another process runs it.
        interrupted: the process that ran it is gone; it goes on when its turn comes.
        again: seconds until it is tried again by itself, after the network broke it off.
    """

    record: Record
    progress: Progress | None = None
    elsewhere: bool = False
    interrupted: bool = False
    again: float | None = None


@dataclass(eq=False)
class _Running:
    """The order that this process is at."""

    name: str
    cancel: CancelToken = field(default_factory=CancelToken)
    progress: Progress | None = None
    again: bool = False
    """It has ended, and is tried again by itself."""
    then: Callable[[], None] = lambda: None
    """What to do when it has ended."""

    def watch(self, progress: Progress) -> None:
        self.progress = progress

    @property
    def done(self) -> int:
        """Bytes that have arrived."""
        return self.progress.done if self.progress else 0


class Downloads:
    """The queue of this process. Its methods return at once and may be called from any thread.

    Attributes:
        limit: of speed, for all orders; may be changed while they run.
    """

    def __init__(
        self,
        records: Records | None = None,
        open_way: Callable[[], Connection] = connect,
        patience: Patience | None = None,
        waits: Sequence[float] = WAITS,
    ) -> None:
        """Look at what is kept; nothing runs before ``start``.

        Args:
            records: where orders are kept; the app's own folder if None.
            open_way: makes the connection of one order.
            patience: with the network, within one try of an order.
            waits: seconds before each further try of an order that the network broke off.
        """
        self.limit = SpeedLimit()
        self._records = records or Records(downloads_folder())
        self._connect, self._patience = open_way, patience
        self._later = Later(waits)
        self._lock = threading.RLock()
        self._news = threading.Event()
        self._closing = False
        self._running: _Running | None = None
        self._errors: dict[str, SlipstreamError] = {}
        self._thread = threading.Thread(target=self._work, name="downloads", daemon=True)

    def start(self) -> None:
        """Run what waits, and what was interrupted."""
        self._thread.start()

    def close(self) -> None:
        """Stop; what runs goes on at the next start."""
        with self._lock:
            self._closing = True
            if self._running and not self._running.cancel.cancelled:
                self._stop(self._running.name, self._go_on_later)
        self._news.set()
        if self._thread.ident is not None:
            self._thread.join(2)

    def list(self) -> tuple[Entry, ...]:
        """Every order, in the order in which they are run."""
        return tuple(self._entry(record) for record in self._records.all())

    def add(self, order: Order) -> str:
        """Put an order behind all others; its id.

        Raises: SlipstreamError ``not_saved``.
        """
        try:
            record = self._records.add(order)
        except OSError as error:
            raise not_noted(error, downloads_folder()) from error
        self._news.set()
        return record.id

    def pause(self, name: str) -> None:
        """Stop an order; what arrived is kept.

        Raises: SlipstreamError ``download_elsewhere``, ``disk_full``, ``cannot_write``.
        """
        self._stop(name, lambda name: self._set(name, "paused", ("waiting", "running")))

    def resume(self, name: str) -> None:
        """Let an order that is paused, broken off or failed wait for its turn.

        Raises: SlipstreamError ``disk_full``, ``cannot_write``.
        """
        with self._lock:
            if self._running and self._running.name == name:  # it is just ending
                self._running.then = lambda: self._resume(name)
                return
        self._resume(name)

    def cancel(self, name: str, *, keep_parts: bool = False) -> None:
        """Forget an order, and delete what is not complete of it.

        Raises: SlipstreamError ``download_elsewhere``.
        """

        def forget(name: str) -> None:
            record = self._records.read(name)
            self._records.remove(name)
            if record is not None and not keep_parts:
                discard(record.order)

        self._stop(name, forget)

    def move(self, name: str, before: str | None) -> None:
        """Run an order before another one; after all others, if that is None.

        Raises: SlipstreamError ``disk_full``, ``cannot_write``.
        """
        others = [record for record in self._records.all() if record.id != name]
        after = next((i for i, record in enumerate(others) if record.id == before), len(others))
        low = others[after - 1].position if after else others[0].position - 2 if others else 0.0
        high = others[after].position if after < len(others) else low + 2
        middle = (low + high) / 2
        with noted():
            self._records.change(name, lambda record: replace(record, position=middle))
        self._news.set()

    def remove_finished(self) -> None:
        """Forget the orders that are done."""
        for record in self._records.all():
            if record.stage == "done":
                self._records.remove(record.id)

    def _entry(self, record: Record) -> Entry:
        with self._lock:
            if self._running and self._running.name == record.id:
                return Entry(record, self._running.progress)
        if record.id in self._errors:
            return Entry(replace(record, stage="failed", error=self._errors[record.id]))
        if record.stage == "waiting":
            return Entry(record, again=self._later.seconds(record.id))
        if record.stage != "running":
            return Entry(record)
        elsewhere = self._records.is_held(record.id)
        return Entry(record, elsewhere=elsewhere, interrupted=not elsewhere)

    def _resume(self, name: str) -> None:
        self._later.forget(name)
        if self._errors.pop(name, None) is not None:
            self._set(name, "waiting", get_args(Stage))
        else:
            self._set(name, "waiting", ("paused", "failed"))

    def _go_on_later(self, name: str) -> None:
        stopped: tuple[Stage] = ("paused",)
        self._set(name, "waiting", stopped)

    def _set(self, name: str, stage: Stage, now: Collection[Stage]) -> None:
        """Let an order be in another stage, if it is in one of those that it is expected in.

        Raises: SlipstreamError ``disk_full``, ``cannot_write``.
        """
        record = self._records.read(name)
        if record is not None and record.stage in now:
            with noted():
                self._records.set_stage(name, stage)
        self._news.set()

    def _stop(self, name: str, then: Callable[[str], None]) -> None:
        """Do something with an order as soon as it does not run."""
        with self._lock:
            if self._running and self._running.name == name:
                self._running.then = lambda: then(name)
                self._running.cancel.cancel()
                return
            if self._records.is_held(name):
                raise download_elsewhere()
            then(name)

    def _work(self) -> None:
        while not self._closing:
            self._news.clear()
            if not any(self._try(record.id) for record in self._records.all()):
                self._news.wait(_LOOK)

    def _try(self, name: str) -> bool:
        """Run an order if it is its turn; whether it was run."""
        with self._lock:
            record = None if self._closing or name in self._errors else self._records.read(name)
            if record is None or record.stage not in ("waiting", "running"):
                return False
            if self._later.seconds(name):
                return False
            running = self._running = _Running(name)
        try:
            # a keyring may take its time to answer, and nobody has to wait for it
            with run_apart(self._connect, running.cancel, lambda: _FOR_EVER) as connection:
                self._run(record, running, connection)
            self._drop_old()
        except Cancelled:
            pass
        except SlipstreamError as error:
            if error.code == "download_elsewhere":
                return False
            if not running.again:
                self._errors[name] = error
        except Exception as error:  # noqa: BLE001 - one order does not keep the others
            _log.exception("a bug in a download")
            self._errors[name] = went_wrong(error)
        finally:
            with self._lock:
                self._running = None
                self._after(running)
        return True

    def _run(self, record: Record, running: _Running, connection: Connection) -> None:
        def again(error: SlipstreamError) -> bool:
            running.again = self._later.note(record.id, error, running.done)
            return running.again

        run(
            record,
            self._records,
            connection,
            running.cancel,
            running.watch,
            self.limit,
            self._patience,
            again,
        )
        self._later.forget(record.id)

    def _drop_old(self) -> None:
        done = [record.id for record in self._records.all() if record.stage == "done"]
        for name in done[:-_KEPT]:
            self._records.remove(name)

    def _after(self, ended: _Running) -> None:
        """Do what was to be done with an order as soon as it does not run."""
        try:
            ended.then()
        except SlipstreamError as error:  # else it would be run again
            self._errors[ended.name] = error
