"""Python's garbage collector, kept from stopping the window.

A full collection visits every object there is and nothing else runs meanwhile: 75 ms in a chat of
20,000 tokens. It is needed only for cycles that grew old, which are few: young ones are collected
as ever, and everything else goes by itself. So full collections wait until nobody looks.
"""

import gc
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

_NEVER = 1_000_000  # collections of the middle generation before a full one


def hold() -> None:
    """Collect nothing: what the start makes stays."""
    gc.disable()


def release() -> None:
    """The start is over: collect young objects from now on, and visit the present ones no more."""
    gc.freeze()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _NEVER)
    gc.enable()


def collect_unseen(app: QGuiApplication, idle: Callable[[], bool]) -> None:
    """Collect everything when the user turns to another app while nothing runs here."""

    def turned(state: Qt.ApplicationState) -> None:
        if state != Qt.ApplicationState.ApplicationActive and idle():
            gc.collect()

    app.applicationStateChanged.connect(turned)
