"""The start of the window, told in order; and its end."""

import logging
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from slipstream import paths
from slipstream.chats.store import ChatStore, Opened, open_chats
from slipstream.errors import SlipstreamError
from slipstream.ui import icons, look, window_state
from slipstream.ui.engine_control import EngineControl
from slipstream.ui.i18n import tr
from slipstream.ui.main_window import MainWindow
from slipstream.ui.mishaps import catch_exceptions, end_on_signals, log_to_file
from slipstream.ui.model_desk import ModelDesk
from slipstream.ui.preferences import Preferences
from slipstream.ui.single_instance import SingleInstance
from slipstream.ui.widgets.notice_bar import Level, Notice, notice_of
from slipstream.ui.work import Work

if TYPE_CHECKING:
    from slipstream.engine.session import Session

_log = logging.getLogger(__name__)
_END_PATIENCE = 5.0  # seconds that running work gets to stop at the end


def main(arguments: Sequence[str]) -> int:
    """Open the window and run until it is closed.

    Args:
        arguments: the program's name and perhaps the path of a GGUF file to open.

    Returns: the exit code.
    """
    path = str(Path(arguments[1]).absolute()) if len(arguments) > 1 else ""
    log_to_file(paths.log_folder() / "window.log")
    app = application()
    instance = SingleInstance(paths.chats_file().parent)
    if not instance.claim():
        return 0 if instance.hand_over(path) else _no_answer()
    preferences = Preferences()
    try:
        chats = open_chats()
    except SlipstreamError as error:
        return _sorry(error)
    running = compose(preferences, chats)
    window = running.window
    catch_exceptions(lambda error: window.show_notice(notice_of(error)))
    end_on_signals(app, window.close)
    instance.asked.connect(window.come_forward)
    window.shown.connect(lambda: QTimer.singleShot(0, partial(_begin, window, path)))
    window.show()
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
    app.setWindowIcon(icons.app_icon())
    look.load_fonts()
    return app


@dataclass
class Running:
    """The window and what it stands on."""

    window: MainWindow
    preferences: Preferences
    work: Work
    control: EngineControl
    store: ChatStore

    def end(self) -> None:
        """Stop the work, then the engine, then close the files; each even if another fails."""
        with ExitStack() as last_first:
            last_first.callback(self.store.close)
            last_first.callback(window_state.save, paths.window_file(), self.window.state)
            last_first.callback(self.control.shut_down)
            last_first.callback(self.work.stop, _END_PATIENCE)


def compose(preferences: Preferences, chats: Opened) -> Running:
    """Put the parts of the window together."""
    appearance = look.Look(preferences)
    chosen = preferences.values
    appearance.choose(chosen.theme, chosen.text_size)
    work = Work(preferences)
    control = EngineControl(work, _make_session, preferences)
    desk = ModelDesk(control, lambda: preferences.values, preferences)
    state = window_state.load(paths.window_file())
    window = MainWindow(appearance, preferences, chats.store, desk, state)
    # Last, because Qt styles every widget anew whenever it moves below a styled parent.
    appearance.apply(chosen.theme, chosen.text_size)
    reset = [*preferences.notices, *chats.notices]
    if reset:
        window.show_notice(Notice(" ".join(reset), Level.WARNING))
    return Running(window, preferences, work, control, chats.store)


def _make_session() -> "Session":
    """Called in the worker thread: the engine's modules take longer to import than the window."""
    from slipstream.engine.session import Session

    return Session()


def _begin(window: MainWindow, path: str) -> None:
    """The window shows; now load what takes longer."""
    window.begin(path)
    QTimer.singleShot(0, partial(_log.info, "window ready"))


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
    QMessageBox.critical(None, "Slipstream", f"{error.message}\n\n{error.action}")
    return 1
