"""Full collections wait until nobody looks."""

import gc
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from slipstream.ui import collector


class Ring:
    """An object that keeps itself."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.enable()
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def old_ring() -> "weakref.ref[Ring]":
    """One that survived the collections of young objects, and is garbage now."""
    ring = Ring()
    gc.collect(1)
    gc.collect(1)
    return weakref.ref(ring)


def test_nothing_is_collected_while_the_window_starts() -> None:
    collector.hold()
    assert not gc.isenabled()
    collector.release()
    assert gc.isenabled()


def test_work_never_leads_to_a_full_collection() -> None:
    collector.release()
    full = gc.get_stats()[2]["collections"]
    kept = [[number] for number in range(300_000)]
    assert gc.get_stats()[2]["collections"] == full
    assert len(kept) == 300_000


def test_old_garbage_goes_when_the_user_turns_away_and_nothing_runs(qapp: QApplication) -> None:
    collector.release()
    idle: list[bool] = []
    collector.collect_unseen(qapp, lambda: bool(idle))
    ring = old_ring()
    qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationInactive)
    assert ring() is not None
    idle.append(True)
    qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    assert ring() is not None
    qapp.applicationStateChanged.emit(Qt.ApplicationState.ApplicationInactive)
    assert ring() is None
