"""The drafters of a model, each with what it costs and how sure it is."""

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from slipstream.engine.picture import DrafterOption, Picture
from slipstream.ui.i18n import tr
from slipstream.ui.picker.wording import drafter_chip
from slipstream.ui.widgets.eliding_button import ElidingButton
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import label, wear_kind


class DrafterChips(QWidget):
    """One chip per drafter; pressing one chooses it.

    Attributes:
        chosen: the key of the drafter the user wants.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._by_key: dict[str, ElidingButton] = {}
        self._title = label(tr("Drafters"), "small")
        self._detail = label("", "small", wrap=True)
        holder = QWidget()
        self._chips = FlowLayout(holder, gap=8)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self._title)
        column.addWidget(holder)
        column.addWidget(self._detail)

    def chips(self) -> list[ElidingButton]:
        """The chips there are."""
        return list(self._by_key.values())

    def show_picture(self, picture: Picture, *, looking: bool) -> None:
        """Show what may draft for the model, and what is chosen.

        Args:
            picture: of the model.
            looking: more may be found.
        """
        words = tr("Drafters · looking for more…") if looking else tr("Drafters")
        self._title.setText(words)
        used = picture.drafter
        self._arrange([option.key for option in picture.drafters])
        for option in picture.drafters:
            _wear(self._by_key[option.key], option, used=option.key == used)
        chosen = next((each for each in picture.drafters if each.key == used), None)
        self._detail.setText(chosen.detail if chosen else tr("Nothing drafts: plain decoding."))

    def _arrange(self, keys: Sequence[str]) -> None:
        """Have a chip for each; one that is there already stays, and the keyboard at it."""
        if keys == list(self._by_key):
            return
        before = self._by_key
        self._by_key = {key: before[key] if key in before else self._chip(key) for key in keys}
        while self._chips.takeAt(0) is not None:
            pass
        for key in before.keys() - self._by_key.keys():
            before[key].hide()
            before[key].deleteLater()
        for chip in self._by_key.values():
            self._chips.addWidget(chip)
        for one, other in pairwise(self._by_key.values()):
            self.setTabOrder(one, other)

    def _chip(self, key: str) -> ElidingButton:
        chip = ElidingButton()
        chip.setCursor(Qt.CursorShape.PointingHandCursor)
        chip.clicked.connect(lambda: self.chosen.emit(key))
        return chip


def _wear(chip: ElidingButton, option: DrafterOption, *, used: bool) -> None:
    """Let a chip tell of a drafter."""
    words = drafter_chip(option)
    wear_kind(chip, "pill-accent" if used else "pill")
    chip.setText(f"✓ {words}" if used else words)
    said = tr("{drafter}, in use").format(drafter=words) if used else words
    chip.setAccessibleName(f"{said}. {option.detail}")
    chip.setToolTip(option.detail)
    chip.setEnabled(option.fits)
