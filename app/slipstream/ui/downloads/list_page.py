"""Every download there is, with what can be done about each."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from slipstream.settings import by_key
from slipstream.ui.downloads.board import LIMIT, DownloadBoard
from slipstream.ui.downloads.parts import words_label
from slipstream.ui.downloads.row import DownloadRow
from slipstream.ui.downloads.wording import Phase, neighbour, phase_of
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.widgets.centred import Centred
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import label

if TYPE_CHECKING:
    from slipstream.hub.downloads.standing import Standing


class DownloadsPage(QScrollArea):
    """The full list: what is to come in the order in which it is run, then what is done.

    Attributes:
        chat_wanted: the path of the model the user wants to talk to.
        token_wanted: the id of a download that needs an access token; then ``resume`` it.
        model_wanted: the repository that the user wants to look at.
        rows: by the id of their download.
    """

    chat_wanted = Signal(object)
    token_wanted = Signal(str)
    model_wanted = Signal(str)

    def __init__(self, look: Look, board: DownloadBoard, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look, self._board = look, board
        self.rows: dict[str, DownloadRow] = {}
        self.setObjectName("settingsArea")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(tr("Downloads"))
        self.clear = QPushButton(tr("Clear finished"))
        self.clear.setToolTip(tr("Takes them out of this list; the files stay."))
        self.clear.clicked.connect(board.remove_finished)
        self.limit = QSpinBox()
        self.limit.setRange(0, by_key()[LIMIT].maximum)
        self.limit.setSuffix(tr(" MB/s"))
        self.limit.setSpecialValueText(tr("None"))
        self.limit.setKeyboardTracking(False)  # not every digit that is typed is a limit
        self.limit.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.limit.setAccessibleName(tr("Speed limit of downloads, in megabytes per second"))
        self.limit.valueChanged.connect(board.set_limit)
        self._nothing = _nothing()
        self._coming = QVBoxLayout()
        self._heading = label(tr("Finished"), "section")
        self._finished = QVBoxLayout()
        self._lay_out()
        board.changed.connect(self._show)

    @property
    def titles(self) -> list[str]:
        """The names of the downloads, from top to bottom."""
        shown = [
            item.widget()
            for column in (self._coming, self._finished)
            for item in (column.itemAt(i) for i in range(column.count()))
            if item is not None
        ]
        return [row.standing.title for row in shown if isinstance(row, DownloadRow)]

    @property
    def empty(self) -> bool:
        """Whether it says that there is nothing."""
        return self._nothing.isVisible()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: D102, N802
        super().showEvent(event)
        self.limit.blockSignals(True)
        self.limit.setValue(self._board.limit)
        self.limit.blockSignals(False)
        self._show()
        self._board.watch(self, on=True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: D102, N802
        super().hideEvent(event)
        self._board.watch(self, on=False)

    def _show(self) -> None:
        """Show what there is, while somebody can see it."""
        if not self.isVisible():
            return
        standings = self._board.standings
        coming = [one for one in standings if phase_of(one.entry) is not Phase.DONE]
        finished = [one for one in reversed(standings) if phase_of(one.entry) is Phase.DONE]
        self._drop_others({one.id for one in standings})
        for i, one in enumerate(coming):
            self._place(one, self._coming, i, up=i > 0, down=i < len(coming) - 1)
        for i, one in enumerate(finished):
            self._place(one, self._finished, i, up=False, down=False)
        self._heading.setVisible(bool(finished) and bool(coming))
        self.clear.setVisible(bool(finished))
        self._nothing.setVisible(not standings)
        self._board.see_news()

    def _drop_others(self, names: set[str]) -> None:
        for name in self.rows.keys() - names:
            row = self.rows.pop(name)
            for column in (self._coming, self._finished):
                column.removeWidget(row)
            row.hide()
            row.deleteLater()

    def _place(
        self, one: "Standing", column: QVBoxLayout, at: int, *, up: bool, down: bool
    ) -> None:
        """Show a download in its place; a row that is there already keeps the keyboard."""
        row = self.rows.get(one.id)
        if row is None:
            row = self.rows[one.id] = self._row(one)
        item = column.itemAt(at)
        if item is None or item.widget() is not row:
            for each in (self._coming, self._finished):
                each.removeWidget(row)
            column.insertWidget(at, row)
        row.show_standing(one, up=up, down=down)

    def _row(self, one: "Standing") -> DownloadRow:
        row = DownloadRow(self._look, self._board, one)
        row.chat_wanted.connect(self.chat_wanted)
        row.token_wanted.connect(self.token_wanted)
        row.model_wanted.connect(self.model_wanted)
        row.move_wanted.connect(self._on_move)
        return row

    def _on_move(self, name: str, step: int) -> None:
        coming = [one.id for one in self._board.standings if phase_of(one.entry) is not Phase.DONE]
        possible, before = neighbour(coming, name, step)
        if possible:
            self._board.move(name, before)

    def _lay_out(self) -> None:
        limit = QWidget()
        beside = QHBoxLayout(limit)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(10)
        beside.addWidget(label(tr("Speed limit"), "muted"))
        beside.addWidget(self.limit)
        top = FlowLayout(gap=10)
        for each in (limit, self.clear):
            top.addWidget(each)
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(28, 24, 28, 24)
        column.setSpacing(12)
        column.addWidget(label(tr("Downloads"), "title"))
        column.addLayout(top)
        column.addWidget(self._nothing)
        for part in (self._coming, self._finished):
            part.setSpacing(10)
        column.addLayout(self._coming)
        column.addWidget(self._heading)
        column.addLayout(self._finished)
        column.addStretch()
        self.setWidget(Centred(inner, self._look))


def _nothing() -> QWidget:
    """What stands there while there is no download."""
    shown = QFrame()
    shown.setProperty("kind", "card")
    column = QVBoxLayout(shown)
    column.setContentsMargins(20, 18, 20, 18)
    column.setSpacing(6)
    column.addWidget(label(tr("Nothing is being downloaded."), "section"))
    words = tr(
        "What you download appears here: the model, its drafter, and what lets it read images. "
        "You can close Slipstream meanwhile; what is not finished goes on at the next start."
    )
    hint = words_label("muted")
    hint.setText(words)
    column.addWidget(hint)
    return shown
