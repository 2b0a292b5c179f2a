"""Looks for duplicates: the button, how far it is, and what came of it."""

from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QWidget

from slipstream.ui import icons
from slipstream.ui.i18n import tr
from slipstream.ui.library.shelf import Shelf
from slipstream.ui.look import Look
from slipstream.ui.widgets.labels import label
from slipstream.words import size

_STEPS = 1000


class CopiesBar(QWidget):
    """A line that is there while duplicates are looked for, and after none were found.

    Attributes:
        begin: the button that begins; it stands elsewhere.
        cancel: the button that stops.
    """

    def __init__(self, look: Look, shelf: Shelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shelf = shelf
        self.begin = QPushButton(tr("Find duplicates"))
        icons.wear(self.begin, "copy", look, role="text_muted", size=16)
        self.begin.clicked.connect(shelf.find_duplicates)
        self.cancel = QPushButton(tr("Cancel"))
        self.cancel.setAccessibleName(tr("Stop looking for duplicates"))
        self.cancel.clicked.connect(shelf.copies.cancel)
        self._text = label("", "small", wrap=True)
        self._bar = QProgressBar()
        self._bar.setRange(0, _STEPS)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(tr("How much was compared"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        row.addWidget(self._text, 1)
        row.addWidget(self._bar, 1)
        row.addWidget(self.cancel)
        shelf.copies.changed.connect(self._fill)
        shelf.changed.connect(self._fill)
        self._fill()

    @property
    def text(self) -> str:
        """What it says."""
        return self._text.text()

    def _fill(self) -> None:
        search, models = self._shelf.copies, self._shelf.library.models
        self.begin.setEnabled(not search.running and bool(models))
        self.cancel.setVisible(search.running)
        self._bar.setVisible(search.running)
        none = bool(search.found is not None and models and not self._shelf.duplicates())
        self.setVisible(search.running or none)
        if search.reading:
            done, total = search.reading.done, search.reading.total
            self._bar.setValue(_STEPS * done // max(1, total))
            words = tr("Comparing files: {done} of {total}")
            self._text.setText(words.format(done=size(done), total=size(total)))
        elif search.running:
            self._bar.setValue(0)
            self._text.setText(tr("Comparing files …"))
        else:
            self._text.setText(tr("No model is on this computer twice.") if none else "")
