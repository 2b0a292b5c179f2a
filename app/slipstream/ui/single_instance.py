"""One window per data folder: a second start hands its file to the first and ends.

A lock file decides who is first (the system frees it when its owner is killed); a local socket,
named after the folder, carries the message.
"""

import hashlib
import os
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, QLockFile, QObject, QThread, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from slipstream.paths import is_other

_PATIENCE_MS = 3000  # the first instance may still be starting
_END = b"\0"
"""Ends a message: the one byte that no name of a file has."""


class SingleInstance(QObject):
    """The claim to be the only window.

    Attributes:
        asked: another start asks to be shown; with the path it was given, or "".
    """

    asked = Signal(object)  # as it is: text of Qt cannot hold every name of a file

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        digest = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]
        self._name = f"slipstream-{digest}"
        self._file = folder / "window.lock"
        self._lock = QLockFile(str(self._file))
        self._lock.setStaleLockTime(0)  # only a dead owner makes a lock stale, never its age
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)

    def claim(self) -> bool:
        """Become the only window; False if there is one already.

        Where no lock can be made (a disk that is full or read-only, a pipe in its place) nobody can
        tell; then a window that shows is better than none.
        """
        if self._is_held():
            return False
        QLocalServer.removeServer(self._name)  # left by a killed instance
        self._server.listen(self._name)
        return True

    def hand_over(self, path: str) -> bool:
        """Ask the first window to show itself and open ``path``; returns whether it heard."""
        clock = QElapsedTimer()
        clock.start()
        socket = QLocalSocket()
        while clock.elapsed() < _PATIENCE_MS:
            socket.connectToServer(self._name)
            if socket.waitForConnected(500):
                socket.write(os.fsencode(path) + _END)
                heard = socket.waitForBytesWritten(1000) and socket.waitForReadyRead(1000)
                socket.disconnectFromServer()
                return heard
            QThread.msleep(100)
        return False

    def release(self) -> None:
        """Give the claim up."""
        self._server.close()
        self._lock.unlock()

    def _is_held(self) -> bool:
        if is_other(self._file):  # Qt would read it, and a pipe is waited for
            return False
        taken = self._lock.tryLock(0)
        return not taken and self._lock.error() is QLockFile.LockError.LockFailedError

    def _on_connection(self) -> None:
        socket = self._server.nextPendingConnection()
        socket.readyRead.connect(lambda: self._on_message(socket))
        socket.disconnected.connect(socket.deleteLater)

    def _on_message(self, socket: QLocalSocket) -> None:
        so_far = bytes(socket.peek(socket.bytesAvailable()).data())
        if so_far.endswith(_END):
            socket.readAll()
            socket.write(b"ok\n")
            self.asked.emit(os.fsdecode(so_far.removesuffix(_END)))
