"""What a comparison came to: the number, what to do, and the button that does it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from slipstream.compare.report import MOST_DRIFT, Report
from slipstream.compare.sentences import best_row, costs, headline, may_help, where_it_helps
from slipstream.ui.i18n import tr
from slipstream.ui.look import tabular
from slipstream.ui.widgets.labels import label


class VerdictCard(QFrame):
    """The verdict.

    Attributes:
        use: the button that takes the setting over.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("kind", "verdict-card")
        self._number = label("", "verdict")
        self._number.setFont(tabular(self._number.font()))
        self._of = label("", "small")
        self._title = label("", "section", wrap=True)
        self._where = label("", wrap=True)
        self._costs = label("", "muted", wrap=True)
        self._remark = label("", "warning", wrap=True)
        self.use = QPushButton(tr("Use this setting"))
        self.use.setProperty("kind", "primary")
        number = QVBoxLayout()
        number.setSpacing(0)
        number.addWidget(self._number)
        number.addWidget(self._of)
        words = QVBoxLayout()
        words.setSpacing(4)
        for each in (self._title, self._where, self._costs, self._remark):
            each.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            words.addWidget(each)
        row = QHBoxLayout(self)
        row.setContentsMargins(18, 14, 18, 14)
        row.setSpacing(24)
        row.addLayout(number)
        row.addLayout(words, 1)
        row.addWidget(self.use, 0, Qt.AlignmentFlag.AlignVCenter)

    @property
    def text(self) -> str:
        """All that it says."""
        shown = (self._number, self._of, self._title, self._where, self._costs, self._remark)
        return "\n".join(each.text() for each in shown if each.text())

    def show_report(self, found: Report, basis: int, *, whole: bool) -> None:
        """Show what a comparison came to.

        Args:
            found: the comparison.
            basis: place of the mode that was compared with.
            whole: it was not stopped before its end.
        """
        best = best_row(found)
        gain = best.gain if best else None
        self._number.setText(f"{gain.speedup:.2f}×" if gain else "1×")
        self._of.setText(
            tr("as fast ({low} to {high})").format(
                low=f"{gain.interval[0]:.2f}", high=f"{gain.interval[1]:.2f}"
            )
            if gain
            else tr("no drafter helps")
        )
        self._title.setText(headline(found))
        self._where.setText(where_it_helps(best.by_kind) if best else may_help(found))
        self._costs.setText(costs(best, found.rows[basis]) if best else "")
        self._remark.setText(" ".join(_remarks(found, whole=whole)))
        for each in (self._where, self._costs, self._remark):
            each.setVisible(bool(each.text()))
        self.setAccessibleName(self.text)


def _remarks(found: Report, *, whole: bool) -> list[str]:
    """What may have spoilt the numbers."""
    said = []
    if not whole:
        said.append(tr("It was stopped before its end: the numbers are less sure."))
    if found.drift is not None and abs(found.drift) > MOST_DRIFT:
        change = tr("slower") if found.drift > 0 else tr("faster")
        text = tr("This computer became {n} {change} meanwhile; compare again when it is idle.")
        said.append(text.format(n=f"{abs(found.drift):.0%}", change=change))
    return said
