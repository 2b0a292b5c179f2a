"""Opening a long chat: its end is shown first, and what is before it little by little."""

from __future__ import annotations

import re
from math import inf
from time import perf_counter

from PySide6.QtCore import QObject, QTimer

from slipstream.ui.transcript.code_blocks import language_of
from slipstream.ui.transcript.markdown import is_loaded, warm_up
from slipstream.ui.transcript.message import Reply
from slipstream.ui.transcript.page import Page
from slipstream.ui.transcript.sheet import Sheet
from slipstream.ui.work import Job, Work

_BUDGET = 0.008  # seconds to read in one slice
_STEP = 300  # characters that are read at least
# Characters that are written at once. Less is slower: each time Qt visits all blocks below.
_ENOUGH = 1000
_LEAST = 100  # of them, what a message costs however short it is

_FENCE = re.compile(r"^[\s>]*(?:`{3,}|~{3,})([^`\n]+)$", re.MULTILINE)


class Filler(QObject):
    """Writes the messages of a chat into its page, in slices that do not stop the window."""

    def __init__(self, page: Page, sheet: Sheet, work: Work) -> None:
        super().__init__(page)
        self._work = work
        self._page = page
        self._sheet = sheet
        self._next = QTimer(self, singleShot=True)
        self._next.timeout.connect(self._go_on)
        self._loading: Job | None = None  # of what reading and colouring need
        self._unread = 0  # the first messages, so many, were not read to their end
        self._unwritten = 0  # characters that were read since the last time any were written

    def fill(self) -> None:
        """Write all messages that are there."""
        self._sheet.left = self._unread = len(self._sheet.messages)
        self._unwritten = 0
        if not self._unread:
            return
        languages = self._languages()
        if not languages and sum(each.unread for each in self._sheet.messages) <= _ENOUGH:
            self._read(_ENOUGH, inf)
            self._go_on()
            return
        # What is on the screen stays there until the page is full: otherwise it would slide down.
        self._page.setUpdatesEnabled(False)
        if is_loaded(languages):
            self._next.start(0)
        else:
            self._load(languages)

    def stop(self) -> None:
        """Write no more."""
        self._next.stop()
        if self._loading is not None:
            self._loading.cancel()
        self._loading = None
        self._page.setUpdatesEnabled(True)

    def _languages(self) -> set[str]:
        replies = (each for each in self._sheet.messages if isinstance(each, Reply))
        found = (_FENCE.findall(reply.answer.text) for reply in replies)
        return {language_of(info) for infos in found for info in infos}

    def _load(self, languages: set[str]) -> None:
        """Load what reading and colouring need, which takes longer than the window may wait."""
        job = self._loading = self._work.start(
            lambda _: warm_up(languages),
            on_done=lambda: self._on_loaded(job),
            on_error=lambda error: self._on_not_loaded(job, error),
        )

    def _on_loaded(self, job: Job) -> None:
        if job is self._loading:
            self._loading = None
            self._go_on()

    def _on_not_loaded(self, job: Job, error: BaseException) -> None:
        self._on_loaded(job)
        raise error

    def _go_on(self) -> None:
        if self._unread and self._unwritten < _ENOUGH:
            self._read(_STEP, perf_counter() + _BUDGET)
        else:
            with self._page.keeping_the_end(), self._page.editing():
                self._write_slice()
        if not self._sheet.left or self._page.is_full():
            self._page.setUpdatesEnabled(True)
        if self._sheet.left:
            self._next.start(0)

    def _read(self, step: int, until: float) -> None:
        """Read some of the messages, the newest first.

        Args:
            step: characters that are read between two looks at the clock.
            until: when to stop, in seconds of the performance counter.
        """
        while self._unread and self._unwritten < _ENOUGH and perf_counter() < until:
            message = self._sheet.messages[self._unread - 1]
            before = message.unread
            message.read(step)
            self._unwritten += before - message.unread
            if not message.unread:
                self._unwritten += _LEAST
                self._unread -= 1

    def _write_slice(self) -> None:
        """Write what was read; of the message that is being read, its beginning."""
        sheet = self._sheet
        while sheet.left > self._unread:
            sheet.write(sheet.messages[sheet.left - 1])
            sheet.left -= 1
        if sheet.left:
            sheet.write(sheet.messages[sheet.left - 1])
        self._unwritten = 0
