"""Tells the window when the models on this computer change, while somebody looks at them."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from slipstream.cancel import CancelToken


class Watcher(QObject):
    """Watches the stores in a thread of its own.

    ``Work`` is for what ends: its timer would tick as long as this goes on.

    Attributes:
        changed: the stores were looked at for the first time, or something in them changed.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cancel: CancelToken | None = None

    @property
    def watching(self) -> bool:
        """Whether changes are told."""
        return self._cancel is not None

    def start(self, folders: Sequence[Path]) -> None:
        """Watch the stores of this computer and these folders, instead of what was watched."""
        self.stop()
        cancel = self._cancel = CancelToken()
        threading.Thread(
            target=self._run, args=(tuple(folders), cancel), name="watch", daemon=True
        ).start()

    def stop(self) -> None:
        """Tell no more."""
        if self._cancel is not None:
            self._cancel.cancel()
        self._cancel = None

    def _run(self, folders: Sequence[Path], cancel: CancelToken) -> None:
        from slipstream.hub.library.watch import watch

        changes = watch(folders, cancel)
        self._tell(cancel)
        for _ in changes:
            self._tell(cancel)

    def _tell(self, cancel: CancelToken) -> None:
        if not cancel.cancelled:
            with suppress(RuntimeError):  # the window is gone
                self.changed.emit()
