"""Every mode of a comparison with its numbers, in rows."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from slipstream.compare.report import Report, Row
from slipstream.compare.sentences import mode_name
from slipstream.ui.i18n import tr
from slipstream.ui.look import tabular
from slipstream.ui.widgets.labels import label
from slipstream.ui.wording import percent
from slipstream.words import size


class ModeTable(QFrame):
    """One row for each mode."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self._cells: list[QLabel] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(16, 12, 16, 14)
        self._grid.setHorizontalSpacing(18)
        self._grid.setVerticalSpacing(8)

    def show_report(self, found: Report) -> None:
        """Show the numbers of a comparison."""
        for cell in self._cells:
            self._grid.removeWidget(cell)
            cell.deleteLater()
        self._cells = []
        for column, words in enumerate(_headings()):
            self._put(label(words, "small"), 0, column)
            self._grid.setColumnStretch(column, 1)
        for place, row in enumerate(found.rows, 1):
            self._add(place, row)

    def texts(self) -> list[str]:
        """What stands in it, cell by cell."""
        return [cell.text() for cell in self._cells]

    def _add(self, place: int, row: Row) -> None:
        self._put(label(mode_name(row), "value"), place, 0)
        if row.error is not None:
            self._put(label(row.error.message, "muted", wrap=True), place, 1, columns=-1)
            return
        for column, words in enumerate(_cells(row), 1):
            cell = label(words)
            cell.setFont(tabular(cell.font()))
            cell.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self._put(cell, place, column)

    def _put(self, cell: QLabel, row: int, column: int, columns: int = 1) -> None:
        self._cells.append(cell)
        self._grid.addWidget(cell, row, column, 1, columns)


def _headings() -> tuple[str, ...]:
    return (
        *(tr("Mode"), tr("tok/s"), tr("Speed-up"), tr("Between"), tr("Accepted")),
        *(tr("Tokens per step"), tr("First token"), tr("Extra memory")),
    )


def _cells(row: Row) -> tuple[str, ...]:
    gain, nothing = row.gain, "–"
    low, high = gain.interval if gain else (0.0, 0.0)
    return (
        f"{row.tokens_per_second:,.1f}",
        f"{gain.speedup:.2f}×" if gain else nothing,
        f"{low:.2f} – {high:.2f}" if gain and low != high else nothing,
        percent(row.acceptance) if row.acceptance is not None else nothing,
        f"{row.tokens_per_step:.2f}" if row.tokens_per_step else nothing,
        tr("{n} s").format(n=f"{row.first_token:.2f}"),
        size(row.extra_memory) if row.extra_memory > 0 else nothing,
    )
