"""What the colours of the memory bars mean."""

from collections.abc import Sequence

from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from slipstream.planning.need import Need
from slipstream.ui.look import Look, tabular
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.memory_bar import Part, largest, parts_of

_SIDE = 9


class Legend(QWidget):
    """A square and a word for each part that any of the bars has."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._shown: list[tuple[str, int]] = []
        self._row = FlowLayout(self, gap=14)

    def show_needs(self, needs: Sequence[Need]) -> None:
        """Explain the parts of these bars."""
        parts = parts_of(largest(needs), self._look.theme)
        key = [(part.name, part.colour.rgba()) for part in parts]
        if key == self._shown:
            return
        self._shown = key
        self._row.clear()
        for part in parts:
            self._row.addWidget(marked(part, self._look))


def marked(part: Part, look: Look, value: str = "") -> QWidget:
    """A part with the square of its colour, its name, and perhaps its size."""
    side = look.px(_SIDE)
    square = QLabel()
    picture = QPixmap(side, side)
    picture.fill(part.colour)
    square.setPixmap(picture)
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(5)
    row.addWidget(square)
    row.addWidget(label(part.name, "small"))
    if value:
        shown = label(value, "value")
        shown.setFont(tabular(shown.font()))
        row.addWidget(shown)
    return holder
