"""Stands for the system's browser: keeps the addresses that it would open."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices


class Browser(QObject):
    """Gets the addresses that would be opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    @Slot(QUrl)
    def open(self, url: QUrl) -> None:
        self.opened.append(url.toString())


@contextmanager
def browsing() -> Iterator[Browser]:
    """What is opened meanwhile goes to this browser."""
    made = Browser()
    QDesktopServices.setUrlHandler("http", made, "open")  # type: ignore[arg-type]
    yield made
    QDesktopServices.unsetUrlHandler("http")
