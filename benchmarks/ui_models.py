"""The Models page with 60 quantizations: how soon it stands, and how smoothly the slider drags.

QT_QPA_PLATFORM=offscreen PYTHONPATH=tests python benchmarks/ui_models.py [MODEL]
"""

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from hub_server import HubServer
from model_page import REPO, repository
from slipstream.chats.store import open_chats
from slipstream.ui import app
from slipstream.ui.picker.model_look import ModelLook, Stage
from slipstream.ui.picker.quant_row import QuantRow
from slipstream.ui.preferences import Preferences

SHOWN_MS, FRAME_MS = 150.0, 1000 / 60
"""What is wanted: from the data to the bars on the screen, and between two frames of a drag."""
_DRAGS = 6


class _Painted(QObject):
    """Notes when a row was painted first."""

    at = 0.0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is QEvent.Type.Paint and isinstance(watched, QuantRow) and watched.line:
            self.at = self.at or time.perf_counter()
        return False


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "qwen3.6-27b"
    home = Path(tempfile.mkdtemp())
    os.environ["HF_HOME"], os.environ["SLIPSTREAM_HOME"] = str(home / "hub"), str(home / "home")
    qt = app.application()
    with HubServer(repository(home, name)) as hub:
        os.environ["HF_ENDPOINT"] = hub.endpoint
        running = app.compose(Preferences(), open_chats())
        running.window.show()
        running.window.show_page("models")
        page = running.window.pages.models
        arrived = _note_arrival(page.model)
        painted = _Painted()
        qt.installEventFilter(painted)
        for number in range(4):
            page.show_repository(REPO)
            painted.at = 0.0
            _until(qt, lambda: page.model.stage is Stage.SHOWN and painted.at > 0)
            shown = (painted.at - arrived[-1]) * 1000
            times = "first" if not number else "again"
            print(f"{times}: bars {shown:.0f} ms after the data ({shown / SHOWN_MS:.2f})")
            _until(qt, lambda: not page.model.looking_further)
            _rest(qt)
        page.view.rows.toggle_all()
        _rest(qt)
        slider = page.view.knobs.slider
        frames = []
        for drag in range(_DRAGS):
            stops = range(slider.maximum() + 1)
            for stop in stops if drag % 2 == 0 else reversed(stops):
                began = time.perf_counter()
                slider.setValue(stop)
                qt.processEvents()
                spent = (time.perf_counter() - began) * 1000
                frames.append(spent)
                time.sleep(max(0.0, (FRAME_MS - spent) / 1000))
        frames.sort()
        high = frames[int(len(frames) * 0.99)]
        print(
            f"drag over {len(page.view.rows.rows)} rows: median {statistics.median(frames):.1f} ms,"
            f" 99 % {high:.1f} ms ({high / FRAME_MS:.2f} of a frame), longest {frames[-1]:.1f} ms"
        )
        running.window.close()
        running.end()


def _note_arrival(model: ModelLook) -> list[float]:
    """When all that the page is made of had been read."""
    arrived: list[float] = []
    look_up = model._looked_up

    def noting(*args: Any) -> Any:
        found = look_up(*args)
        arrived.append(time.perf_counter())
        return found

    model._looked_up = noting  # type: ignore[method-assign, assignment]
    return arrived


def _rest(qt: QApplication) -> None:
    """As a person does, look for a moment at what is there now."""
    end = time.perf_counter() + 0.5
    _until(qt, lambda: time.perf_counter() > end)


def _until(qt: QApplication, done: Callable[[], bool]) -> None:
    while not done():
        qt.processEvents()
        time.sleep(0.002)


if __name__ == "__main__":
    main()
