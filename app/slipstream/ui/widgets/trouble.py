"""What stands where something should be and went wrong: a sentence, the facts, what helps."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from slipstream.errors import SlipstreamError
from slipstream.ui.i18n import tr
from slipstream.ui.widgets.labels import label
from slipstream.words import facts_lines

Way = tuple[str, Callable[[], None]]
"""What a button says, and what it does."""


class Trouble(QFrame):
    """A card with one failure."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self._text = label("", "section", wrap=True)
        self._action = label("", "muted", wrap=True)
        self._facts = label("", "small", wrap=True)
        for each in (self._text, self._action, self._facts):
            each.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._details = QPushButton(tr("Details"))
        self._details.setProperty("kind", "link")
        self._details.setCheckable(True)
        self._details.toggled.connect(self._facts.setVisible)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(6)
        column.addWidget(self._text)
        column.addWidget(self._action)
        column.addSpacing(6)
        column.addLayout(self._buttons)
        column.addWidget(self._facts)

    @property
    def text(self) -> str:
        """What it says went wrong."""
        return self._text.text()

    def buttons(self) -> list[QPushButton]:
        """What can be pressed, without the details."""
        items = (self._buttons.itemAt(i) for i in range(self._buttons.count()))
        there = (item.widget() for item in items if item is not None)
        return [each for each in there if isinstance(each, QPushButton) and each != self._details]

    def show_error(self, error: BaseException, ways: Sequence[Way] = ()) -> None:
        """Say what went wrong, and offer what helps; the first way is the one to take."""
        facts: tuple[str, ...] = ()
        if isinstance(error, SlipstreamError):
            self._text.setText(error.message)
            self._action.setText(error.action)
            facts = facts_lines(error)
        else:
            self._text.setText(
                tr("Something went wrong inside Slipstream; the log has the details.")
            )
            self._action.setText("")
            facts = (f"{type(error).__name__}: {error}",)
        self._action.setVisible(bool(self._action.text()))
        self._facts.setText("\n".join(facts))
        self._facts.setVisible(False)
        self._details.setChecked(False)
        self.setAccessibleName(f"{self._text.text()} {self._action.text()}")
        self._offer(ways, details=bool(facts))

    def _offer(self, ways: Sequence[Way], *, details: bool) -> None:
        self._details.setParent(None)
        while (item := self._buttons.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for number, (words, act) in enumerate(ways):
            button = QPushButton(words)
            button.setProperty("kind", "outline" if number else "primary")
            button.clicked.connect(lambda _on=False, act=act: act())
            self._buttons.addWidget(button)
        if details:
            self._buttons.addWidget(self._details)
            self._details.show()
        self._buttons.addStretch()
