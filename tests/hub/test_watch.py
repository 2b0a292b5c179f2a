"""Changes of the models on this computer are told once they have settled."""

import queue
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from gguf_files import write_target
from local_stores import in_cache, in_ollama, own_stores
from slipstream.cancel import CancelToken
from slipstream.hub.library.watch import watch

EVERY = 0.02
QUIET = 0.2
"""Seconds in which nothing may be told: ten looks."""
LONG = 10.0


class Told:
    """What is told by a watch that runs beside the test."""

    def __init__(self, folders: Sequence[Path], every: float, patience: float) -> None:
        self._cancel = CancelToken()
        self._told: queue.SimpleQueue[frozenset[Path]] = queue.SimpleQueue()
        changes = watch(folders, self._cancel, every=every, patience=patience)
        self._thread = threading.Thread(target=self._run, args=(changes,))
        self._thread.start()

    def wait_for(self, root: Path) -> None:
        """Wait for a change in a store."""
        while self._told.get(timeout=LONG) != {root}:
            pass

    def drain(self) -> int:
        """How many changes were told since, when no more come."""
        count = self._told.qsize()
        while not self.is_quiet():
            count += 1
        return count

    def is_quiet(self) -> bool:
        """Whether nothing is told for a while."""
        try:
            self._told.get(timeout=QUIET)
        except queue.Empty:
            return True
        return False

    def end(self) -> None:
        """Stop watching."""
        self._cancel.cancel()
        self._thread.join(LONG)
        assert not self._thread.is_alive()

    def _run(self, changes: Iterator[frozenset[Path]]) -> None:
        for roots in changes:
            self._told.put(roots)


@pytest.fixture
def watching() -> Iterator[Callable[..., Told]]:
    """Watch folders, and the stores of other programs."""
    running: list[Told] = []

    def start(*folders: Path, every: float = EVERY, patience: float = LONG) -> Told:
        running.append(Told(folders, every, patience))
        return running[-1]

    yield start
    for one in running:
        one.end()


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    return own_stores(tmp_path, monkeypatch)


@pytest.fixture
def models(stores: tuple[Path, Path], tmp_path: Path) -> Path:
    """A folder with a model."""
    return write_target(tmp_path / "models" / "a.gguf").parent


Watching = Callable[..., Told]


def arrive(path: Path, padding: int = 0) -> None:
    """Put a model at a path at once."""
    ready = write_target(path.parents[2] / "ready", padding=padding)
    path.parent.mkdir(exist_ok=True)
    ready.replace(path)


def test_models_that_come_change_and_go_are_told(models: Path, watching: Watching) -> None:
    told = watching(models)
    assert told.is_quiet()
    new = models / "below" / "b.gguf"
    arrive(new)
    told.wait_for(models)
    assert told.is_quiet()
    arrive(new, padding=1)
    told.wait_for(models)
    new.unlink()
    told.wait_for(models)
    assert told.is_quiet()


def test_other_files_do_not_matter(models: Path, watching: Watching) -> None:
    told = watching(models)
    (models / "notes.txt").write_text("x")
    (models / "folder").mkdir()
    assert told.is_quiet()


def test_a_file_that_is_being_copied_is_told_once_it_is_there(
    models: Path, watching: Watching
) -> None:
    told = watching(models, every=5 * EVERY)
    with (models / "b.gguf").open("wb", buffering=0) as stream:
        for _ in range(80):
            stream.write(bytes(1000))
            time.sleep(EVERY / 4)
    told.wait_for(models)
    assert told.drain() <= 2  # the machine may have paused in the middle


def test_a_change_that_goes_on_is_told_after_a_while(models: Path, watching: Watching) -> None:
    told = watching(models, patience=5 * EVERY)
    grows = threading.Event()

    def grow() -> None:
        with (models / "b.gguf").open("wb", buffering=0) as stream:
            while not grows.wait(EVERY / 4):
                stream.write(b"x")

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        told.wait_for(models)
        told.wait_for(models)
    finally:
        grows.set()
        thread.join()


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_download_is_told_when_it_begins_and_when_it_is_there(
    stores: tuple[Path, Path], tmp_path: Path, watching: Watching
) -> None:
    cache, _ = stores
    blobs = cache / "models--owner--x" / "blobs"
    blobs.mkdir(parents=True)
    told = watching()
    part = blobs / "1.part"
    with part.open("wb", buffering=0) as stream:
        stream.write(b"x")
        told.wait_for(cache)
        for _ in range(20):
            stream.write(bytes(1000))
            time.sleep(EVERY / 4)
        assert told.is_quiet()
    part.unlink()
    in_cache(cache, "owner/x", write_target(tmp_path / "a.gguf"))
    told.wait_for(cache)


def test_folders_may_appear_later_and_be_deleted(
    stores: tuple[Path, Path], tmp_path: Path, watching: Watching
) -> None:
    folder, home = tmp_path / "later", stores[1]
    told = watching(folder)
    write_target(folder / "a.gguf")
    told.wait_for(folder)
    shutil.rmtree(folder)
    told.wait_for(folder)
    store = home / ".ollama" / "models"
    in_ollama(store, "a/b/c/d", [("model", write_target(tmp_path / "a"))])
    told.wait_for(store)
    told.drain()
    write_target(folder / "a.gguf")
    told.wait_for(folder)


def test_watching_ends_at_once_when_it_is_cancelled(models: Path, watching: Watching) -> None:
    cancel = CancelToken()
    changes = watch([models], cancel, every=LONG)
    threading.Timer(EVERY, cancel.cancel).start()
    start = time.monotonic()
    assert list(changes) == []
    assert time.monotonic() - start < LONG / 2


def test_watching_what_was_cancelled_before_is_nothing(models: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    assert list(watch([models], cancel)) == []
