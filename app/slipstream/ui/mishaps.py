"""What must not end silently: exceptions nobody caught, and signals from outside."""

import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable
from types import TracebackType

from PySide6.QtCore import QObject, QSocketNotifier, Qt, Signal

from slipstream.logs import log_file

_log = logging.getLogger("slipstream")
_MOST_BYTES = 1_000_000


def log_to_file() -> None:
    """Keep the window's log in a file."""
    handler = log_file("window.log", _MOST_BYTES)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)


class _Relay(QObject):
    """Carries an exception to the window's thread, from whichever thread it was raised in."""

    raised = Signal(object)


def catch_exceptions(report: Callable[[BaseException], None]) -> None:
    """Log what nobody caught and report it in the window's thread; the app goes on."""
    relay = _Relay()
    relay.raised.connect(report, Qt.ConnectionType.QueuedConnection)

    def caught(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if issubclass(kind, KeyboardInterrupt):
            return
        _log.critical("not caught", exc_info=(kind, error, trace))
        relay.raised.emit(error)

    def caught_in_thread(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            caught(args.exc_type, args.exc_value, args.exc_traceback)

    sys.excepthook = caught
    threading.excepthook = caught_in_thread


def end_on_signals(app: QObject, end: Callable[[], object]) -> None:
    """Call ``end`` in the event loop on SIGINT and SIGTERM.

    Python runs signal handlers only between its own instructions, and an idle event loop executes
    none; a byte in a socket wakes it.
    """
    ours, woken = socket.socketpair()
    for each in (ours, woken):
        each.setblocking(False)
    notifier = QSocketNotifier(woken.fileno(), QSocketNotifier.Type.Read, app)

    def on_woken() -> None:
        woken.recv(64)
        end()

    notifier.activated.connect(on_woken)
    signal.set_wakeup_fd(ours.detach(), warn_on_full_buffer=False)  # open until the process ends
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
