"""Every test of the window has a home of its own, and no screen."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from slipstream import paths, settings
from slipstream.cancel import CancelToken
from slipstream.chats.store import open_chats
from slipstream.engine.events import EngineState, LoadEvent
from slipstream.engine.requests import LoadRequest
from slipstream.engine.session import Session
from slipstream.ui import app as app_module
from slipstream.ui import window_state
from slipstream.ui.app import Running
from slipstream.ui.engine_control import Phase
from slipstream.ui.preferences import Preferences
from slipstream.ui.transcript import Transcript
from slipstream.ui.window_state import WindowState
from slipstream.ui.work import Work


@pytest.fixture(scope="session")
def qapp() -> Iterator[QApplication]:
    yield app_module.application()
    app_module.leave_clipboard()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.setenv("SLIPSTREAM_HOME", str(folder))
    # Two threads of an engine wait for each other; on a busy machine, for most of the time.
    settings.save({"threads": 1})
    window_state.save(paths.window_file(), WindowState(welcomed=True))
    return folder


@pytest.fixture(autouse=True)
def own_look(qapp: QApplication) -> Iterator[None]:
    """The style sheet of one test's window does not dress the widgets of the next test."""
    yield
    qapp.setStyleSheet("")


@pytest.fixture
def until(qapp: QApplication) -> Callable[..., None]:
    """Run the event loop until something is true."""

    def wait(condition: Callable[[], bool], seconds: float = 30) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it did not happen in time"
            qapp.processEvents()
            time.sleep(0.005)

    return wait


@pytest.fixture
def transcript(qapp: QApplication) -> Iterator[Transcript]:
    made = Transcript(Work())
    made.resize(800, 600)
    made.show()
    qapp.processEvents()
    yield made
    made.close()


class KeptSession(Session):
    """The real session, which keeps what it has loaded if that is asked for again."""

    def load(self, request: LoadRequest, cancel: CancelToken) -> Iterator[LoadEvent]:
        there = self.loaded is not None and self.loaded.request == request
        if not there or self.state is not EngineState.READY:
            yield from super().load(request, cancel)


@pytest.fixture(scope="module")
def kept_session() -> Iterator[KeptSession]:
    """An engine for the windows of a module, which come one after the other."""
    session = KeptSession()
    yield session
    session.stop()


@pytest.fixture
def start(qapp: QApplication) -> Iterator[Callable[..., Running]]:
    """Start the window as the app does, with the real engine; it ends with the test."""
    started: list[Running] = []

    def build(*make_session: Callable[[], Session]) -> Running:
        running = app_module.compose(Preferences(), open_chats(), *make_session)
        running.window.show()
        assert QTest.qWaitForWindowActive(running.window)
        started.append(running)
        return running

    yield build
    for running in started:
        running.window.close()
        running.end()
        # What is left over would be styled anew with every later window.
        shiboken6.delete(running.window)
        shiboken6.delete(running.preferences)


def begun(running: Running, until: Callable[..., None]) -> Running:
    running.window.begin("")
    running.stock.start()
    until(lambda: running.control.phase is Phase.READY)
    until(lambda: running.work.idle)  # this computer was looked through
    return running


@pytest.fixture
def demo(
    start: Callable[..., Running], until: Callable[..., None], kept_session: KeptSession
) -> Iterator[Running]:
    """The window as it is at the very first start, with the demo loaded.

    The engine is not stopped with the window: the next test goes on with it.
    """
    running = begun(start(lambda: kept_session), until)
    yield running
    running.work.stop(10)
    running.control._session = None


@pytest.fixture
def demo_alone(start: Callable[..., Running], until: Callable[..., None]) -> Running:
    """The same with an engine of its own, which ends as the window does."""
    return begun(start(), until)


@pytest.fixture
def own_model(tmp_path: Path) -> Path:
    """A model of the user's."""
    source = paths.resources() / "demo" / "Slipstream-Demo-3M-Q8_0.gguf"
    folder = tmp_path / "models"
    folder.mkdir()
    return Path(shutil.copy(source, folder / "My-Own-3M-Q8_0.gguf"))
