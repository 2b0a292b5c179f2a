"""A link that copies says for a moment that it did."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from slipstream.ui.transcript.message import Reply
from slipstream.ui.transcript.sheet import Sheet

COPIED_MS = 1500


class CopiedSign(QObject):
    """Stands in the place of one link at a time."""

    def __init__(self, sheet: Sheet, parent: QObject) -> None:
        super().__init__(parent)
        self._sheet = sheet
        self._reply: Reply | None = None
        self._until = QTimer(self, singleShot=True, interval=COPIED_MS)
        self._until.timeout.connect(self.remove)

    def show(self, reply: Reply, address: str) -> None:
        """Let the link with this address in a reply say that it copied."""
        self.remove()
        self._reply = reply
        self._until.start()
        reply.show_copied(address)
        self._sheet.show(reply)

    def remove(self) -> None:
        """The link offers to copy again."""
        self._until.stop()
        reply, self._reply = self._reply, None
        if reply is not None:
            reply.show_copied("")
            self._sheet.show(reply)
