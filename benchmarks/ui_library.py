"""How smooth the lists of local models stay while somebody scrolls through them.

The real lists, in a window, with models that are not on the disk. "frame" is the time from moving
the scroll bar until the list is painted; what is longest is the longest stall. Prints one JSON
document.

    python benchmarks/ui_library.py [--models 1000] [--percent 100]
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("SLIPSTREAM_HOME", tempfile.mkdtemp())

from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget

from slipstream.drafters.identify import FileRole
from slipstream.engine.session import Session
from slipstream.hub.library.models import Companion, Library, LocalModel, Place
from slipstream.hub.library.stored import LocalFile, Source
from slipstream.ui import app
from slipstream.ui.engine_control import EngineControl
from slipstream.ui.library.local_list import LocalList
from slipstream.ui.library.overview import Overview
from slipstream.ui.library.shelf import Found, Shelf
from slipstream.ui.look import Look
from slipstream.ui.preferences import Preferences
from slipstream.ui.widgets.row_list import RowList
from slipstream.ui.work import Work

GOAL_LONGEST = 1 / 60
_FRAMES = 600
_QUANTS = ("Q4_K_M", "UD-Q5_K_XL", "Q8_0")


def library(number: int) -> Library:
    """Models with every kind of row."""
    return Library(models=tuple(_model(i) for i in range(number)))


def _model(number: int) -> LocalModel:
    folder, quant = Path("/models"), _QUANTS[number % len(_QUANTS)]
    name = f"Some Model {number} {'Instruct 2507 ' * (number % 9)}{quant}"
    path = folder / f"{name.replace(' ', '-')}.gguf"
    drafter = Companion(
        path=folder / f"dflash-{path.name}",
        name=name,
        quant=quant,
        role=FileRole.DFLASH,
        places=(_place(folder / f"dflash-{path.name}"),),
    )
    return LocalModel(
        path=path,
        name=name,
        quant=quant,
        role=FileRole.TARGET,
        places=(_place(path),),
        ref=str(path),
        drafters=(drafter,) if number % 2 else (),
        last_used=time.time() - 3600.0 * number if number % 3 else None,
        has_head=number % 5 == 0,
        problem="It is damaged." if number % 50 == 0 else None,
    )


def _place(path: Path) -> Place:
    file = LocalFile(path, str(path), 17_000_000_000, 0)
    return Place(Source.FOLDER, path.parent, path.parent, "", None, (file,))


def timed(act: Callable[[], object]) -> float:
    """Seconds that something takes, with the painting that follows."""
    start = time.perf_counter()
    act()
    QApplication.processEvents()
    return time.perf_counter() - start


def scrolled(shown: RowList) -> dict[str, float]:
    """Frames of going through a list from top to bottom, in milliseconds."""
    bar = shown.verticalScrollBar()
    places = [bar.maximum() * i // _FRAMES for i in range(_FRAMES + 1)]

    def go(place: int) -> None:
        bar.setValue(place)
        shown.viewport().repaint()

    frames = sorted(timed(lambda place=place: go(place)) for place in places)  # type: ignore[misc]
    return {
        "frame_median_ms": round(statistics.median(frames) * 1000, 2),
        "frame_p99_ms": round(frames[len(frames) * 99 // 100] * 1000, 2),
        "longest_stall_ms": round(frames[-1] * 1000, 2),
    }


def measure(models: int, percent: int) -> dict[str, object]:
    """Fill both lists, and go through them."""
    app.application()
    preferences, work, look = Preferences(), Work(), Look()
    shelf = Shelf(work, preferences, EngineControl(work, Session))
    page, narrow = Overview(look, shelf), LocalList(look, shelf)
    window = QWidget()
    row = QHBoxLayout(window)
    row.addWidget(narrow, 1)
    row.addWidget(page, 3)
    window.resize(1280, 800)
    look.apply("light", percent)
    shelf.watch = lambda *_args, **_named: None  # type: ignore[method-assign]
    window.show()
    shelf.found = Found(library(models))
    shelf.ready = True
    filled = timed(shelf.changed.emit)
    filtered = timed(lambda: page.filter.setText("some model 1"))
    timed(page.filter.clear)
    return {
        "models": models,
        "percent": percent,
        "fill_ms": round(filled * 1000, 1),
        "filter_ms": round(filtered * 1000, 1),
        "page": scrolled(page.list),
        "column": scrolled(narrow.list),
        "goal_longest_stall_ms": round(GOAL_LONGEST * 1000, 1),
    }


def main(arguments: Sequence[str]) -> int:
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--percent", type=int, default=100)
    chosen = parser.parse_args(arguments)
    sys.stdout.write(f"{json.dumps(measure(chosen.models, chosen.percent), indent=1)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
