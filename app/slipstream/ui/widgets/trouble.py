"""What stands where something should be and went wrong: a sentence, the facts, what helps."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from slipstream.errors import SlipstreamError
from slipstream.ui.i18n import tr
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import label
from slipstream.ui.wording import our_fault
from slipstream.words import facts_lines

Way = tuple[str, Callable[[], None]]
"""What a button says, and what it does."""


class Trouble(QFrame):
    """One failure.

    Attributes:
        details: the button that shows the facts.
    """

    def __init__(self, parent: QWidget | None = None, *, card: bool = True) -> None:
        """Nothing went wrong.

        Args:
            parent: as Qt has it.
            card: it is a card of its own; else it is a part of one.
        """
        super().__init__(parent)
        self._ways: Sequence[Way] = ()
        self._shown: tuple[object, ...] = ()
        self._text = label("", "section" if card else "trouble", wrap=True)
        self._action = label("", "muted" if card else "small", wrap=True)
        self._facts = label("", "small", wrap=True)
        for each in (self._text, self._action, self._facts):
            each.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._buttons = FlowLayout(gap=8)
        self.details = QPushButton(tr("Details"))
        self.details.setProperty("kind", "link")
        self.details.setCheckable(True)
        self.details.toggled.connect(self._facts.setVisible)
        column = QVBoxLayout(self)
        column.setSpacing(6)
        column.setContentsMargins(0, 2, 0, 0)
        if card:
            self.setProperty("kind", "card")
            column.setContentsMargins(16, 14, 16, 14)
        column.addWidget(self._text)
        column.addWidget(self._action)
        column.addSpacing(6)
        column.addLayout(self._buttons)
        column.addWidget(self._facts)
        self._facts.setVisible(False)

    @property
    def text(self) -> str:
        """What it says: what went wrong, and what to do."""
        return f"{self._text.text()} {self._action.text()}".strip()

    @property
    def facts(self) -> str:
        """The facts, as far as they are shown."""
        return self._facts.text() if self._facts.isVisible() else ""

    def buttons(self) -> list[QPushButton]:
        """What can be pressed, without the details."""
        items = (self._buttons.itemAt(i) for i in range(self._buttons.count()))
        there = (item.widget() for item in items if item is not None)
        return [each for each in there if isinstance(each, QPushButton) and each != self.details]

    def show_error(
        self, error: BaseException, ways: Sequence[Way] = (), *, advice: str = "", about: str = ""
    ) -> None:
        """Say what went wrong, and offer what helps; the same again changes nothing.

        Args:
            error: what was raised.
            ways: what helps; the first is the one to take.
            advice: what to do, where that is not what the error says.
            about: what went wrong, for the names of the buttons; empty where only one thing can.
        """
        if isinstance(error, SlipstreamError):
            text, action, facts = error.message, advice or error.action, facts_lines(error)
        else:
            text, action, facts = our_fault(), "", (f"{type(error).__name__}: {error}",)
        self._ways = ways
        shown = (text, action, facts, about, *(words for words, _ in ways))
        if shown == self._shown:
            return
        self._shown = shown
        self._text.setText(text)
        self._action.setText(action)
        self._action.setVisible(bool(action))
        self._facts.setText("\n".join(facts))
        self.details.setChecked(False)
        self.setAccessibleName(self.text)
        self._offer(about, details=bool(facts))

    def _offer(self, about: str, *, details: bool) -> None:
        self._buttons.removeWidget(self.details)
        self._buttons.clear()
        for number, (words, _) in enumerate(self._ways):
            button = QPushButton(words)
            button.setProperty("kind", "outline" if number else "primary")
            button.clicked.connect(lambda _on=False, number=number: self._ways[number][1]())
            self._buttons.addWidget(button)
        self._buttons.addWidget(self.details)
        self.details.setVisible(details)
        for each in (*self.buttons(), self.details):
            each.setAccessibleName(f"{each.text()}: {about}" if about else each.text())
