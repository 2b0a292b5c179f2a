"""The models on this computer in the left column: a filter and a list."""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from slipstream.hub.library.models import LocalModel
from slipstream.ui.i18n import tr
from slipstream.ui.library.rows import around, chosen, short_row
from slipstream.ui.library.shelf import Shelf
from slipstream.ui.look import Look
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.row_list import RowList


class LocalList(QWidget):
    """Every model, narrow.

    Attributes:
        picked: the LocalModel that the user selected.
        opened: the LocalModel that the user wants to chat with.
        list: shows them.
    """

    picked = Signal(object)
    opened = Signal(object)

    def __init__(self, look: Look, shelf: Shelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shelf = shelf
        self._text = ""
        self._told: Path | None = None
        self.list = RowList(look, tr("Models on this computer"))
        self.list.picked.connect(self._on_picked)
        self.list.clicked.connect(lambda _index: self._on_clicked())
        self.list.opened.connect(self.opened)
        self.list.remove_wanted.connect(shelf.propose)
        self._nothing = label("", "muted", wrap=True)
        self._nothing.setMargin(12)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._nothing)
        column.addWidget(self.list, 1)
        shelf.changed.connect(self._fill)
        self._fill()

    def show_filtered(self, text: str) -> None:
        """Show only models in which these words stand."""
        self._text = text
        self._fill()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: D102, N802
        super().showEvent(event)
        self._shelf.watch(self, on=True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: D102, N802
        super().hideEvent(event)
        self._shelf.watch(self, on=False)

    def _fill(self) -> None:
        models = self._shelf.library.models
        beside = around(self._shelf.library, self._shelf.found.downloads, self._shelf.loaded)
        rows = [short_row(one, beside) for one in chosen(models, self._text)]
        self.list.show_rows(rows)
        self._nothing.setText(self._why_nothing(bool(models)))
        self._nothing.setVisible(not rows)

    def _why_nothing(self, any_models: bool) -> str:
        if any_models:
            return tr("No model on this computer is called so.")
        if not self._shelf.ready:
            return tr("Looking through this computer …")
        return tr("There are no models on this computer yet.")

    def _on_clicked(self) -> None:
        """Also on what is selected already: something else may be shown beside the list."""
        if isinstance(self.list.thing, LocalModel):
            self.picked.emit(self.list.thing)

    def _on_picked(self, thing: object) -> None:
        before, self._told = self._told, thing.path if isinstance(thing, LocalModel) else None
        if self._told not in (None, before):
            self.picked.emit(thing)
