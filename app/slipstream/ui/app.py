"""The start of the window, told in order; and its end."""

import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QLocale, QTimer
from PySide6.QtGui import QClipboard
from PySide6.QtWidgets import QApplication, QMessageBox

from slipstream import paths
from slipstream.cancel import CancelToken
from slipstream.chats.store import ChatStore, Opened, open_chats
from slipstream.errors import SlipstreamError
from slipstream.ui import collector, icons, look, window_state
from slipstream.ui.archive import Archive
from slipstream.ui.engine_control import EngineControl
from slipstream.ui.i18n import tr
from slipstream.ui.in_turn import InTurn
from slipstream.ui.main_window import MainWindow
from slipstream.ui.mishaps import catch_exceptions, end_on_signals, log_to_file
from slipstream.ui.model_desk import ModelDesk
from slipstream.ui.preferences import Preferences
from slipstream.ui.single_instance import SingleInstance
from slipstream.ui.stock import Stock
from slipstream.ui.transcript import warm_up
from slipstream.ui.widgets.notice_bar import Level, Notice, notice_of
from slipstream.ui.window_state import WindowState
from slipstream.ui.work import Work

if TYPE_CHECKING:
    from slipstream.engine.session import Session

_log = logging.getLogger(__name__)
_WARM_UP_MS = 1000  # after the window is ready: it shares the interpreter with opening a chat
_END_PATIENCE = 5.0  # seconds that running work gets to stop at the end


def main(path: str = "") -> int:
    """Open the window and run until it is closed.

    Args:
        path: of a GGUF file to open; empty for none.

    Returns: the exit code.
    """
    collector.hold()
    log_to_file()
    app = application()
    try:
        return _run(app, path)
    except SlipstreamError as error:
        return _sorry(error)


def _run(app: QApplication, path: str) -> int:
    """Raises: SlipstreamError, if there can be no window."""
    instance = SingleInstance(paths.chats_file().parent)
    if not instance.claim():
        return 0 if instance.hand_over(path) else _no_answer()
    running = compose(Preferences(), open_chats())
    window = running.window
    catch_exceptions(lambda error: window.show_notice(notice_of(error)))
    end_on_signals(app, window.close)
    collector.collect_unseen(app, lambda: running.work.idle)
    instance.asked.connect(window.come_forward)
    running.open(path)
    code = app.exec()
    running.end()
    instance.release()
    return code


def application() -> QApplication:
    """The Qt application, with the fonts, icon and style that the window needs."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("slipstream")
    app.setApplicationDisplayName("Slipstream")
    app.setDesktopFileName("io.github.slipstream.Slipstream")
    app.setStyle("Fusion")
    QLocale.setDefault(QLocale(QLocale.Language.English))  # numbers as ``words.count`` writes them
    app.setWindowIcon(icons.app_icon())
    look.load_fonts()
    return app


@dataclass
class Running:
    """The window and what it stands on.

    Attributes:
        tasks: what is kept of the window, in order.
    """

    window: MainWindow
    preferences: Preferences
    work: Work
    control: EngineControl
    archive: Archive
    stock: Stock
    tasks: InTurn

    @property
    def store(self) -> ChatStore:
        """The chats."""
        return self.archive.store

    def open(self, path: str = "") -> None:
        """Show the window, then begin with the last chat or with the file of this path."""
        self.window.remembered.connect(self._remember)
        begin = partial(self._begin, path)
        self.window.shown.connect(lambda: QTimer.singleShot(0, begin))
        self.window.show()

    def _begin(self, path: str) -> None:
        """The window shows; now load what takes longer."""
        self.window.begin(path)
        QTimer.singleShot(0, self._on_ready)

    def _on_ready(self) -> None:
        """The user can work; soon prepare what would make the first reply stutter."""
        _log.info("window ready")
        collector.release()
        QTimer.singleShot(_WARM_UP_MS, self.window, self._warm_up)

    def _warm_up(self) -> None:
        self.work.start(lambda _: warm_up())
        self.work.start(_import_pages, on_done=self.stock.start)
        self.archive.run(
            lambda store: store.purge_deleted(),
            on_error=lambda error: _log.warning("not purged: %s", error),
        )

    def end(self) -> None:
        """Stop the work, then the engine, then close the files; each even if another fails."""
        last = (
            self.stock.stop_downloads,
            partial(self.work.stop, _END_PATIENCE),
            self.control.shut_down,
            self.stock.finish_removals,
            self.archive.finish,
            self.window.pages.finish,
            self._save_state,
            self.store.close,
            leave_clipboard,
        )
        for step in last:
            try:
                step()
            except Exception:  # noqa: BLE001 - the rest has to end all the same
                _log.exception("at the end")

    def _remember(self) -> None:
        state = self.window.state
        told = lambda error: self.window.show_notice(notice_of(error))  # noqa: E731 - it is short
        self.tasks.run(lambda: _keep(state), on_error=told)

    def _save_state(self) -> None:
        _keep(self.window.state)


def _keep(state: WindowState) -> None:
    """A disk that is full or cannot be written costs the place of the window, no more."""
    try:
        window_state.save(paths.window_file(), state)
    except (OSError, SlipstreamError) as error:
        _log.warning("not kept: %s", error)


def leave_clipboard() -> None:
    """Let Qt own what was copied: what Python made of a selection is gone before Qt lets go of it,
    and some systems crash then."""
    clipboard = QApplication.clipboard()
    for mode in (QClipboard.Mode.Clipboard, QClipboard.Mode.Selection):
        data = clipboard.mimeData(mode)
        if data and shiboken6.createdByPython(data):  # an empty clipboard has none
            clipboard.setText(clipboard.text(mode), mode)


def _import_pages(_cancel: CancelToken) -> Iterator[None]:
    """In a worker: it takes as long as all of the window."""
    import slipstream.ui.compare.page
    import slipstream.ui.picker.page  # noqa: F401 - they are there when they are opened

    yield


def _make_session() -> "Session":
    """Called in the worker thread: the engine's modules take longer to import than the window."""
    from slipstream.engine.session import Session

    return Session()


def compose(
    preferences: Preferences, chats: Opened, make_session: Callable[[], "Session"] = _make_session
) -> Running:
    """Put the parts of the window together."""
    appearance = look.Look(preferences)
    chosen = preferences.values
    appearance.choose(chosen.theme, chosen.text_size)
    work = Work(preferences)
    control = EngineControl(work, make_session, preferences)
    desk = ModelDesk(work, control, preferences)
    archive = Archive(chats.store, work, preferences)
    stock = Stock(work, control, preferences, preferences)
    state = window_state.load(paths.window_file())
    window = MainWindow(appearance, preferences, archive, desk, stock, state)
    # Last, because Qt styles every widget anew whenever it moves below a styled parent.
    appearance.apply(chosen.theme, chosen.text_size)
    reset = [*preferences.notices, *chats.notices]
    if reset:
        window.show_notice(Notice(" ".join(reset), Level.WARNING))
    tasks = InTurn(work, preferences)
    return Running(window, preferences, work, control, archive, stock, tasks)


def _no_answer() -> int:
    """The first window exists but does not answer."""
    return _sorry(
        SlipstreamError(
            "window_not_answering",
            tr("Slipstream runs already, but its window does not answer."),
            action=tr("Wait a moment and try again, or end the other one."),
        )
    )


def _sorry(error: SlipstreamError) -> int:
    """Say why there will be no window."""
    _log.error("%s %s", error.message, error.facts)
    sys.stderr.write(f"{error.message} {error.action}\n")
    QMessageBox.critical(None, "Slipstream", f"{error.message}\n\n{error.action}")
    return 1
