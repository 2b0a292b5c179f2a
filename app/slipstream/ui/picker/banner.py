"""The recommendation: one sentence, why, and the button that does it."""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from slipstream.engine.picture import Picture
from slipstream.ui.picker.action_buttons import ActionButtons
from slipstream.ui.widgets.beside import Beside
from slipstream.ui.widgets.labels import label, wear_kind


class Banner(QFrame):
    """What a picture recommends.

    Attributes:
        headline: the sentence.
        buttons: what can be done with the recommended quantization.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.headline = label("", "section", wrap=True)
        self._reason = label("", "small", wrap=True)
        self.buttons = ActionButtons("primary")
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self.headline)
        words.addWidget(self._reason)
        self._parts = Beside(words, self.buttons, gap=16)
        self._parts.setContentsMargins(16, 12, 16, 12)
        self.setLayout(self._parts)

    def show_picture(self, picture: Picture) -> None:
        """Say what is recommended."""
        self.headline.setText(picture.headline)
        self._reason.setText(picture.reason)
        wear_kind(self, "banner" if picture.recommended else "banner-warning")
        self.setAccessibleName(f"{picture.headline} {picture.reason}")

    def fit(self) -> None:
        """Find room for what the buttons say now."""
        self._parts.fit(self)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: D102, N802
        super().resizeEvent(event)
        self.fit()
