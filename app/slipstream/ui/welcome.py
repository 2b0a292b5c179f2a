"""What an empty chat says: which model this is, honestly, and something to try."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QVBoxLayout, QWidget

from slipstream.ui.i18n import tr
from slipstream.ui.widgets.labels import label

EXAMPLES = (
    "Tell me a story about a fox.",
    "Write a Python function named merge.",
    "What is speculative decoding?",
)
"""Questions the demo was trained to answer; they stay in its language."""


class Welcome(QScrollArea):
    """Shown in place of the transcript while nothing was said.

    Attributes:
        example_chosen: the text of an example the user wants to send.
    """

    example_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcome")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._title = label("", "title", wrap=True)
        self._text = label("", "muted", wrap=True)
        self._examples = QWidget()
        examples = QVBoxLayout(self._examples)
        examples.setContentsMargins(0, 12, 0, 0)
        examples.setSpacing(8)
        for each in EXAMPLES:
            button = QPushButton(each)
            button.setProperty("kind", "example")
            button.setAccessibleName(tr("Send: {text}").format(text=each))
            button.clicked.connect(lambda _on=False, text=each: self.example_chosen.emit(text))
            examples.addWidget(button)
        page = QWidget()
        page.setObjectName("page")
        column = QVBoxLayout(page)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(6)
        column.addStretch(2)
        column.addWidget(self._title)
        column.addWidget(self._text)
        column.addWidget(self._examples)
        column.addStretch(3)
        self.setWidget(page)

    @property
    def text(self) -> str:
        """What it says about the model."""
        return self._text.text()

    def show_model(self, name: str, *, demo: bool) -> None:
        """Say which model this is; examples only for the demo, which knows nothing else."""
        self._title.setText(name or tr("No model"))
        if demo:
            self._text.setText(tr("3 million parameters. Shows how the app works, knows nothing."))
        elif name:
            self._text.setText(tr("What you write stays on this computer."))
        else:
            self._text.setText(tr("Choose a model at the top to begin."))
        self._examples.setVisible(demo)
