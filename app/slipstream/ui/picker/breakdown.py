"""The whole memory of one quantization, and what can be done with it."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from slipstream.engine.picture import Line, Picture
from slipstream.planning.parts import HOST
from slipstream.planning.placement import Fit
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.picker.action_buttons import ActionButtons
from slipstream.ui.picker.actions import Action, What
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.legend import marked
from slipstream.ui.widgets.memory_bar import Part, parts_of
from slipstream.words import count, size


class Breakdown(QWidget):
    """Shown below the row that is chosen.

    Attributes:
        wanted: what the user wants to do (``What``) with the Line.
        buttons: for what can be done.
    """

    wanted = Signal(object, object)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._line: Line | None = None
        self._why = label("", "muted", wrap=True)
        self._parts = FlowLayout(gap=16)
        self._shown: list[str] = []
        self._where = label("", "small", wrap=True)
        self.buttons = ActionButtons("outline")
        self.buttons.pressed.connect(self._on_pressed)
        row = QHBoxLayout()
        row.addWidget(self._where, 1)
        row.addWidget(self.buttons, 0, Qt.AlignmentFlag.AlignBottom)
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 4, 18, 12)
        column.setSpacing(8)
        column.addWidget(self._why)
        column.addLayout(self._parts)
        column.addLayout(row)

    @property
    def text(self) -> str:
        """Everything it says."""
        return "\n".join([self._why.text(), *self._shown, self._where.text()])

    def show_line(self, line: Line, picture: Picture, actions: Sequence[Action]) -> None:
        """Show one quantization, and what can be done with it."""
        self._line = line
        self._why.setText(line.why)
        self._show_parts(parts_of(line.plan.placement.need, self._look.theme))
        self._where.setText(" ".join(_where(line, picture)))
        self.buttons.show_actions(actions)

    def _show_parts(self, parts: list[Part]) -> None:
        words = [f"{part.name} {size(part.bytes)}" for part in parts]
        if words == self._shown:
            return
        self._shown = words
        self._parts.clear()
        for part in parts:
            self._parts.addWidget(marked(part, self._look, size(part.bytes)))

    def _on_pressed(self, what: What) -> None:
        if self._line is not None:
            self.wanted.emit(what, self._line)


def _where(line: Line, picture: Picture) -> list[str]:
    """Where it goes, and how that was found out."""
    need, offload = line.plan.placement.need, line.plan.placement.offload
    names = {device.id: device.name or device.id for device in picture.devices}
    names[HOST] = tr("main memory")
    places = [
        f"{names.get(id_, id_)}: {size(amount)}" for id_, amount in need.by_device.items() if amount
    ]
    sentences = ["; ".join(places) + "."]
    if picture.layers and line.plan.placement.fit is not Fit.NONE:
        layers = tr("{n} of {all} layers on the GPU.")
        sentences.append(layers.format(n=count(offload.count), all=count(line.plan.layers)))
    if line.plan.method == "dry-run" and picture.exact:
        sentences.append(tr("Laid out by the engine."))
    else:
        sentences.append(tr("Estimated."))
    return sentences
