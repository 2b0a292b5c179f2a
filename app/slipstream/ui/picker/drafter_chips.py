"""The drafters of a model, each with what it costs and how sure it is."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from slipstream.engine.picture import AUTO, OFF, DrafterOption, Picture
from slipstream.ui.i18n import tr
from slipstream.ui.picker.wording import drafter_chip
from slipstream.ui.widgets.eliding_button import ElidingButton
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import label


class DrafterChips(QWidget):
    """One chip per drafter; pressing one chooses it.

    Attributes:
        chosen: the key of the drafter the user wants.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: tuple[object, ...] = ()
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
        there = (self._chips.itemAt(i) for i in range(self._chips.count()))
        widgets = (item.widget() for item in there if item is not None)
        return [each for each in widgets if isinstance(each, ElidingButton)]

    def show_picture(self, picture: Picture, *, looking: bool) -> None:
        """Show what may draft for the model, and what is chosen.

        Args:
            picture: of the model.
            looking: more may be found.
        """
        words = tr("Drafters · looking for more…") if looking else tr("Drafters")
        self._title.setText(words)
        used = _used(picture)
        key = (picture.drafters, used)
        if key == self._shown:
            return
        self._shown = key
        self._chips.clear()
        for option in picture.drafters:
            self._chips.addWidget(self._chip(option, used))
        chosen = next((each for each in picture.drafters if each.key == used), None)
        self._detail.setText(chosen.detail if chosen else tr("Nothing drafts: plain decoding."))

    def _chip(self, option: DrafterOption, used: str) -> ElidingButton:
        chip = ElidingButton(drafter_chip(option))
        chip.setProperty("kind", "pill-accent" if option.key == used else "pill")
        chip.setEnabled(option.fits)
        chip.setToolTip(option.detail)
        chip.setAccessibleName(f"{drafter_chip(option)}. {option.detail}")
        chip.setCursor(Qt.CursorShape.PointingHandCursor)
        chip.clicked.connect(lambda _on=False, key=option.key: self.chosen.emit(key))
        return chip


def _used(picture: Picture) -> str:
    """The key of the drafter that the recommended quantization would run with."""
    if picture.knobs.drafter == OFF:
        return ""
    if picture.knobs.drafter != AUTO:
        return picture.knobs.drafter
    line = picture.recommended or next(iter(picture.lines), None)
    kind = line.plan.setup.spec.kind if line else None
    same = (one for one in picture.drafters if one.kind == kind and one.fits and one.proven)
    found = next(same, None)
    return found.key if found else ""
