"""The whole memory of one quantization, and what can be done with it."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from slipstream.engine.picture import Line, Picture
from slipstream.planning.parts import HOST
from slipstream.planning.placement import Fit
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import label
from slipstream.ui.widgets.legend import marked
from slipstream.ui.widgets.memory_bar import Part, parts_of
from slipstream.words import count, size


class Breakdown(QWidget):
    """Shown below the row that is chosen.

    Attributes:
        download_wanted: the Line that is to be downloaded.
        load_wanted: the Line that is to be loaded.
    """

    download_wanted = Signal(object)
    load_wanted = Signal(object)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._line: Line | None = None
        self._why = label("", "muted", wrap=True)
        self._parts = FlowLayout(gap=16)
        self._shown: list[str] = []
        self._where = label("", "small", wrap=True)
        self._button = QPushButton()
        self._button.setProperty("kind", "outline")
        self._button.clicked.connect(self._on_pressed)
        row = QHBoxLayout()
        row.addWidget(self._where, 1)
        row.addWidget(self._button, 0, Qt.AlignmentFlag.AlignBottom)
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

    @property
    def button(self) -> QPushButton:
        """Downloads or loads it."""
        return self._button

    def show_line(self, line: Line, picture: Picture) -> None:
        """Show one quantization."""
        self._line = line
        self._why.setText(line.why)
        self._show_parts(parts_of(line.plan.placement.need, self._look.theme))
        self._where.setText(" ".join(_where(line, picture)))
        self._button.setText(action_words(line))

    def _show_parts(self, parts: list[Part]) -> None:
        words = [f"{part.name} {size(part.bytes)}" for part in parts]
        if words == self._shown:
            return
        self._shown = words
        self._parts.clear()
        for part in parts:
            self._parts.addWidget(marked(part, self._look, size(part.bytes)))

    def _on_pressed(self) -> None:
        if self._line is None:
            return
        (self.load_wanted if ready(self._line) else self.download_wanted).emit(self._line)


def ready(line: Line) -> bool:
    """Whether nothing has to be downloaded to run it."""
    return line.here and not line.download


def action_words(line: Line) -> str:
    """What the button for a quantization says."""
    if ready(line):
        return tr("Load anyway") if line.plan.placement.fit is Fit.NONE else tr("Chat")
    if line.plan.placement.fit is Fit.NONE:
        return tr("Download anyway · {size}").format(size=size(line.download))
    return tr("Download · {size}").format(size=size(line.download))


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
