"""The keys of the window, declared once: they act, and the list of shortcuts shows them."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QGridLayout, QWidget

from slipstream.ui.i18n import tr
from slipstream.ui.widgets.labels import label


@dataclass(frozen=True)
class Shortcut:
    """Keys, what they do in words, what they do, and other keys that do the same."""

    keys: str
    words: str
    act: Callable[[], None]
    others: tuple[str, ...] = ()


def install(window: QWidget, shortcuts: list[Shortcut]) -> None:
    """Let the keys act anywhere in the window."""
    for each in shortcuts:
        for keys in (each.keys, *each.others):
            QShortcut(QKeySequence(keys), window).activated.connect(each.act)


def show_list(window: QWidget, shortcuts: list[Shortcut]) -> None:
    """Show what the keys do."""
    dialog = QDialog(window)
    dialog.setWindowTitle(tr("Shortcuts"))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    grid = QGridLayout(dialog)
    grid.setContentsMargins(24, 20, 24, 20)
    grid.setHorizontalSpacing(36)
    grid.setVerticalSpacing(8)
    in_place = [
        (tr("Enter"), tr("Send")),
        (tr("Shift+Enter"), tr("New line")),
        (tr("F2"), tr("Rename the chat, in the list")),
        (tr("Del"), tr("Delete the chat, in the list")),
    ]
    rows = [(", ".join((each.keys, *each.others)), each.words) for each in shortcuts] + in_place
    for i, (keys, words) in enumerate(rows):
        grid.addWidget(label(words), i, 0)
        grid.addWidget(label(keys, "muted"), i, 1)
    dialog.open()
