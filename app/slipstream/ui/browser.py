"""Opens what the system has programs for: pages in its browser, folders in its file manager."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from slipstream.ui.i18n import tr
from slipstream.ui.widgets.notice_bar import Notice

_ASKED_ABOUT = ("http", "https", "mailto")


def open_page(address: str) -> None:
    """Open a page of the web."""
    QDesktopServices.openUrl(QUrl(address))


def open_folder(folder: Path) -> bool:
    """Show what is in a folder.

    Returns: whether a program answered.
    """
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def question(address: str) -> Notice | None:
    """Asks whether a link shall be opened; None for one that no browser opens.

    Args:
        address: as somebody else wrote it.
    """
    if QUrl(address).scheme() not in _ASKED_ABOUT:
        return None
    words = tr("Open {address} in your browser?").format(address=address)
    return Notice(words, button=tr("Open"), act=partial(open_page, address))
