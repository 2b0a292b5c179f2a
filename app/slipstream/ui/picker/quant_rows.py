"""All quantizations of a model, under headings by their bits; one at a time shows all it has."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from slipstream.engine.picture import Line, Picture
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.picker.actions import Action
from slipstream.ui.picker.breakdown import Breakdown
from slipstream.ui.picker.columns import columns_for
from slipstream.ui.picker.quant_row import QuantRow, group_name
from slipstream.ui.picker.shown import most_telling
from slipstream.ui.picker.wording import capacity
from slipstream.ui.widgets.labels import label

_A_LITTLE_MORE, _BEYOND = 1.05, 1.5
_SETTLE_MS = 150


class QuantRows(QFrame):
    """The rows of one model.

    Attributes:
        wanted: what the user wants to do (``What``) with a Line.
        breakdown: of the row that is chosen.
    """

    wanted = Signal(object, object)

    def __init__(
        self,
        look: Look,
        actions_of: Callable[[Line], Sequence[Action]],
        parent: QWidget | None = None,
    ) -> None:
        """Prepare.

        Args:
            look: colours and sizes.
            actions_of: what can be done with a quantization now.
            parent: as Qt has it.
        """
        super().__init__(parent)
        self._actions_of = actions_of
        self.setProperty("kind", "card")
        self._look = look
        self._picture: Picture | None = None
        self._keys: tuple[object, ...] = ()
        self._all = False
        self._rows: list[QuantRow] = []
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(_SETTLE_MS)
        self._settle.timeout.connect(self._tell)
        self.breakdown = Breakdown(look)
        self.breakdown.wanted.connect(self.wanted)
        self.breakdown.hide()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 6, 0, 6)
        self._column.setSpacing(0)
        self._body = QWidget()
        self._list = QVBoxLayout(self._body)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(0)
        self._column.addWidget(self._body)
        self._more = QPushButton()
        self._more.setProperty("kind", "link")
        self._more.clicked.connect(self.toggle_all)
        foot = QHBoxLayout()
        foot.setContentsMargins(12, 2, 12, 2)
        foot.addWidget(self._more)
        foot.addStretch()
        self._column.addLayout(foot)
        look.changed.connect(self._fit)

    @property
    def rows(self) -> Sequence[QuantRow]:
        """The rows that are shown."""
        return self._rows

    @property
    def chosen(self) -> Line | None:
        """The row that is open."""
        row = next((row for row in self._rows if row.isChecked()), None)
        return row.line if row else None

    def show_picture(self, picture: Picture) -> None:
        """Show the quantizations of a model; the same ones move their bars only."""
        if self._picture is None or picture.name != self._picture.name:
            self._all = False
        self._picture = picture
        lines = picture.lines if self._all else most_telling(picture.lines)
        keys = tuple((line.label, line.plan.quantization.files, group_name(line)) for line in lines)
        if keys != self._keys:
            self._build(lines)
            self._keys = keys
        most = _whole_width(lines, capacity(picture))
        for row, line in zip(self._rows, lines, strict=True):
            row.show_line(line, picture, most)
            if row.isChecked():
                self.breakdown.show_line(line, picture, self._actions_of(line))
        self._show_more(len(lines), len(picture.lines))
        self._settle.start()
        self._fit()

    def fold(self) -> None:
        """Close the row that is open."""
        for row in self._rows:
            row.setChecked(False)
        self.breakdown.hide()

    def show_actions(self) -> None:
        """Offer what can be done now with the row that is open."""
        if self.chosen is not None:
            self.breakdown.buttons.show_actions(self._actions_of(self.chosen))

    def _tell(self) -> None:
        for row in self._rows:
            row.tell()

    def _build(self, lines: Sequence[Line]) -> None:
        chosen = self.chosen
        self.breakdown.hide()
        self.breakdown.setParent(self)
        while (item := self._list.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None and widget is not self.breakdown:
                widget.hide()
                widget.deleteLater()
        self._rows = []
        heading = ""
        for line in lines:
            if group_name(line) != heading:
                heading = group_name(line)
                title = label(heading, "group")
                title.setContentsMargins(14, 8, 14, 2)
                self._list.addWidget(title)
            row = QuantRow(self._look)
            row.clicked.connect(lambda _on=False, row=row: self._on_pressed(row))
            self._list.addWidget(row)
            self._rows.append(row)
            if chosen is not None and line.label == chosen.label:
                self._open(row)

    def _on_pressed(self, row: QuantRow) -> None:
        for other in self._rows:
            if other is not row:
                other.setChecked(False)
        self.breakdown.hide()
        if row.isChecked():
            self._open(row)

    def _open(self, row: QuantRow) -> None:
        row.setChecked(True)
        self._list.removeWidget(self.breakdown)
        self._list.insertWidget(self._list.indexOf(row) + 1, self.breakdown)
        if row.line is not None and self._picture is not None:
            self.breakdown.show_line(row.line, self._picture, self._actions_of(row.line))
        self.breakdown.show()

    def toggle_all(self) -> None:
        """Show every quantization, or only the most telling ones."""
        self._all = not self._all
        if self._picture is not None:
            self.show_picture(self._picture)

    def _show_more(self, shown: int, there: int) -> None:
        self._more.setVisible(self._all or shown < there)
        if self._all:
            self._more.setText(tr("Show fewer"))
        else:
            words = tr("{shown} of {all} shown · show all")
            self._more.setText(words.format(shown=shown, all=there))

    def _fit(self) -> None:
        lines = [row.line for row in self._rows if row.line]
        columns = columns_for(lines, self.width(), self._look)
        for row in self._rows:
            row.fit(columns)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: D102, N802
        super().resizeEvent(event)
        self._fit()


def _whole_width(lines: Sequence[Line], free: int) -> int:
    """Bytes that the width of a bar stands for: what is free is most of it, so that bars that fit
    can be told apart; those far beyond it end with the row."""
    largest = max((line.plan.placement.need.total for line in lines), default=0)
    return round(max(free * _A_LITTLE_MORE, min(largest, free * _BEYOND))) or largest
