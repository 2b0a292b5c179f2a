"""Locks between programs, waited for in a way that can be stopped."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

from slipstream.cancel import CancelToken

_LOOK = 0.1


def try_lock(path: Path) -> BaseFileLock | None:
    """Hold a lock; None if another program does.

    As huggingface_hub does it (``WeakFileLock``): where the file system has no locks, a file
    stands for one.

    Raises: OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(Timeout):
        try:
            return _acquired(FileLock(path, mode=0o664, thread_local=False))
        except NotImplementedError:
            return _acquired(SoftFileLock(path, mode=0o664, thread_local=False))
    return None


def wait_for_lock(path: Path, cancel: CancelToken, waiting: Callable[[], None]) -> BaseFileLock:
    """Hold a lock as soon as nobody else does; ``waiting`` is called while somebody does.

    Raises: OSError; Cancelled.
    """
    while (lock := try_lock(path)) is None:
        waiting()
        cancel.wait(_LOOK)
        cancel.raise_if_cancelled()
    return lock


def release(lock: BaseFileLock) -> None:
    """Let others have it."""
    with contextlib.suppress(OSError):
        lock.release()


def _acquired(lock: BaseFileLock) -> BaseFileLock:
    lock.acquire(timeout=0)
    return lock
