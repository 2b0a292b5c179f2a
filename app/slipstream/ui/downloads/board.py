"""The one object of the window that owns the queue of downloads."""

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.ui.downloads.wishes import Wish, Wishes, add_once
from slipstream.ui.downloads.wording import ACTIVE, Phase, phase_of
from slipstream.ui.preferences import Preferences
from slipstream.ui.widgets.notice_bar import notice_of
from slipstream.ui.work import Job, Work

if TYPE_CHECKING:
    from slipstream.hub.downloads.orders import Order
    from slipstream.hub.downloads.queue import Downloads
    from slipstream.hub.downloads.standing import Standing

LIMIT = "download_limit"
"""The setting: megabytes per second at most, 0 for as fast as it goes."""
_MEGABYTE = 1_000_000
_ACTIVE_MS = 300
_WATCHED_MS = 2000  # what other programs do is not urgent

_log = logging.getLogger(__name__)


def _open_queue() -> "Downloads":
    """Called in a worker: the modules of the Hub take longer to import than the window."""
    from slipstream.hub.downloads.queue import Downloads

    return Downloads()


class DownloadBoard(QObject):
    """Every download, as it stands; what is asked of the queue is done in a worker, in order.

    Attributes:
        changed: ``standings`` or ``news`` are others.
        finished: the Standing of a download that was just completed, and the file to load.
        failed: the Standing of a download that just failed.
        ordered: an Order that is put into the list.
        ended_elsewhere: a download that was not done is not in the list any more: another program
            completed it, or it was given up.
        noticed: a Notice for the user.
        standings: every download, in the order in which they are run.
        news: ids of those that were finished and not looked at since, the oldest first.
    """

    changed = Signal()
    finished = Signal(object, object)
    failed = Signal(object)
    ordered = Signal(object)
    ended_elsewhere = Signal()
    noticed = Signal(object)

    def __init__(
        self,
        work: Work,
        preferences: Preferences,
        open_queue: Callable[[], "Downloads"] = _open_queue,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.standings: tuple[Standing, ...] = ()
        self.news: tuple[str, ...] = ()
        self._work, self._preferences, self._open = work, preferences, open_queue
        self._opening = threading.Lock()
        self._queue: Downloads | None = None
        self._closed = False
        self._looked = False
        self._job: Job | None = None
        self._wishes = Wishes()
        self._viewers: set[QObject] = set()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._turn)
        preferences.changed.connect(self._on_setting_changed)

    # What may be asked

    def start(self) -> None:
        """Open the queue: what waits and what was interrupted goes on."""
        self._turn()

    def add(self, order: "Order") -> None:
        """Download this; what is in the list already goes on."""
        self._wish(lambda queue: add_once(queue, order))
        self.ordered.emit(order)

    def pause(self, name: str) -> None:
        """Stop a download; what arrived is kept."""
        self._wish(lambda queue: queue.pause(name))

    def resume(self, name: str) -> None:
        """Let a download go on that is paused, or failed."""
        self._wish(lambda queue: queue.resume(name))

    def cancel(self, name: str, *, keep_parts: bool = False) -> None:
        """Take a download out of the list, and delete what is not complete of it or keep that."""
        self._wish(lambda queue: queue.cancel(name, keep_parts=keep_parts))

    def move(self, name: str, before: str | None) -> None:
        """Run a download before another one; after all others, if that is None."""
        self._wish(lambda queue: queue.move(name, before))

    def remove_finished(self) -> None:
        """Take those out of the list that are done."""
        self._wish(lambda queue: queue.remove_finished())

    @property
    def limit(self) -> int:
        """Megabytes per second at most; 0 for as fast as it goes."""
        return self._preferences.values.download_limit

    def set_limit(self, megabytes: int) -> None:
        """Download at most so many megabytes per second; 0 for as fast as it goes.

        Emits ``noticed`` if that cannot be kept.
        """
        try:
            self._preferences.set(LIMIT, megabytes)
        except SlipstreamError as error:
            self.noticed.emit(notice_of(error))

    def see_news(self) -> None:
        """The user has seen what was finished."""
        if self.news:
            self.news = ()
            self.changed.emit()

    def watch(self, viewer: QObject, *, on: bool) -> None:
        """Look from time to time as long as somebody shows the downloads."""
        if on:
            self._viewers.add(viewer)
            self._turn()
        else:
            self._viewers.discard(viewer)

    def shut_down(self) -> None:
        """The app ends; what was wished for is done, and what runs goes on at the next start."""
        self._timer.stop()
        with self._opening:
            self._closed = True
            queue, self._queue = self._queue, None
        if queue is None and self._wishes:
            queue = self._open()  # without starting it: the wishes are only noted
        if queue is not None:
            try:
                for error in self._wishes.fulfil(queue):
                    _log.warning("at the end: %s %s", error.message, error.facts)
            finally:
                queue.close()

    # How it is done

    def _wish(self, wish: Wish) -> None:
        self._wishes.append(wish)
        self._turn()

    def _turn(self) -> None:
        """Do what is wished for, then look; one worker at a time."""
        if self._job is not None or self._closed:
            return
        self._timer.stop()
        self._job = self._work.start(
            self._steps, on_values=self._on_values, on_done=self._on_done, on_error=self._on_error
        )

    def _steps(self, _cancel: CancelToken) -> Iterator["tuple[Standing, ...] | SlipstreamError"]:
        """In the worker: the wishes in their order, what could not be done, and how all stands."""
        from slipstream.hub.downloads.standing import standings

        queue = self._opened()
        if queue is None:
            return
        yield from self._wishes.fulfil(queue)
        yield standings(queue.list())

    def _opened(self) -> "Downloads | None":
        """The queue, opened when it is first needed; None once the app ends."""
        with self._opening:
            if self._queue is None and not self._closed:
                self._queue = self._open()
                self._apply_limit(self._queue)
                self._queue.start()
            return self._queue

    def _on_values(self, values: "list[tuple[Standing, ...] | SlipstreamError]") -> None:
        for value in values:
            if isinstance(value, SlipstreamError):
                self.noticed.emit(notice_of(value))
            else:
                self._take(value)

    def _on_done(self) -> None:
        self._job = None
        if self._wishes:
            self._turn()
        elif any(phase_of(one.entry) in ACTIVE for one in self.standings):
            self._timer.start(_ACTIVE_MS)
        elif self._viewers:
            self._timer.start(_WATCHED_MS)

    def _on_error(self, error: BaseException) -> None:
        self._job = None
        self._wishes.clear()  # done later, they would come as a surprise
        self.noticed.emit(notice_of(error))
        self._on_done()

    def _take(self, standings: "tuple[Standing, ...]") -> None:
        before = {one.id: one.entry.record.stage for one in self.standings}
        new = [one for one in standings if one.entry.record.stage != before.get(one.id)]
        differs = list(map(_visible, standings)) != list(map(_visible, self.standings))
        finished = [one for one in new if one.entry.record.stage == "done" and self._looked]
        failed = [one for one in new if one.entry.record.stage == "failed" and self._looked]
        there = {one.id for one in standings}
        gone = [one for one in self.standings if one.id not in there]
        self.news = tuple(name for name in self.news if name in there)
        self.news += tuple(one.id for one in finished)
        self.standings, self._looked = standings, True
        if differs:
            self.changed.emit()
        if any(phase_of(one.entry) is not Phase.DONE for one in gone):
            self.ended_elsewhere.emit()
        for one in finished:
            if one.target is not None:
                self.finished.emit(one, one.target)
        for one in failed:
            self.failed.emit(one)

    def _apply_limit(self, queue: "Downloads") -> None:
        queue.limit.change(self.limit * _MEGABYTE or None)

    def _on_setting_changed(self, key: str) -> None:
        if key == LIMIT:
            self._wish(self._apply_limit)


def _visible(one: "Standing") -> tuple[object, ...]:
    """What tells two standings of one download apart; an error read twice is the same one."""
    error = one.entry.record.error
    record = replace(one.entry.record, error=None)
    told = error.to_json() if error else None
    return replace(one, entry=replace(one.entry, record=record)), told
