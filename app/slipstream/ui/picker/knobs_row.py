"""What a person can turn: context, KV cache, drafter, layers on the GPU, and the projector."""

from dataclasses import replace

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from slipstream.engine.embedded_values import KV_TYPES
from slipstream.engine.model_settings import KV_MEANINGS
from slipstream.engine.picture import AUTO, OFF, Knobs, Picture
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look, tabular
from slipstream.ui.picker.notches import LONGEST, nearest, notches
from slipstream.ui.widgets.choice import ChoiceButton, Option
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import label
from slipstream.ui.wording import choice_meaning, choice_name
from slipstream.words import context_size, several, size

_MARKS = 4
_GAP = 12
_NARROWEST_SLIDER = 300
_DRAFTER_WIDTH = 190


class KnobsRow(QWidget):
    """The knobs of a model's page.

    Attributes:
        turned: the Knobs as the user wants them now.
        slider: the context.
    """

    turned = Signal(object)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._stops: tuple[int, ...] = (0,)
        self._marked: tuple[int, ...] = ()
        self.knobs = Knobs(0)
        self._context = label("", "value")
        self._context.setFont(tabular(self._context.font()))
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName(tr("Context"))
        self.slider.setMinimumHeight(22)
        self.slider.valueChanged.connect(self._on_slid)
        self._marks = QHBoxLayout()
        self.kv_type = ChoiceButton(tr("KV cache"), look)
        self.kv_type.show_choices([_kv_option(each) for each in KV_TYPES], "f16")
        self.kv_type.chosen.connect(lambda value: self._turn(kv_type=value))
        self.drafter = ChoiceButton(tr("Drafter"), look)
        self.drafter.chosen.connect(lambda value: self._turn(drafter=value))
        self.layers = QSpinBox()
        self.layers.setAccessibleName(tr("Layers on the GPU"))
        self.layers.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.layers.setKeyboardTracking(False)
        self.layers.setSpecialValueText(tr("Automatic"))
        self.layers.setMinimum(-1)
        self.layers.valueChanged.connect(self._on_layers)
        self.projector = QPushButton()
        self.projector.setCheckable(True)
        self.projector.setProperty("kind", "pill")
        self.projector.clicked.connect(lambda on: self._turn(projector=on))
        self._layers_block = _block(tr("GPU layers"), self.layers)
        self._projector_block = _block(tr("Images"), self.projector)
        self._choices = QWidget()
        self._grid = QGridLayout(self)
        self._lay_out()

    def show_picture(self, picture: Picture) -> None:
        """Show what there is to turn, and where it stands."""
        self.knobs = picture.knobs
        longest = min(picture.trained_context or LONGEST, LONGEST)
        self._show_context(tuple(sorted({*notches(longest), min(picture.knobs.context, longest)})))
        self.kv_type.show_value(picture.knobs.kv_type)
        self.drafter.show_choices(_drafter_options(picture), picture.choice)
        self._layers_block.setVisible(picture.layers > 0)
        self.layers.blockSignals(True)
        self.layers.setMaximum(picture.layers)
        self.layers.setValue(-1 if picture.knobs.gpu_layers is None else picture.knobs.gpu_layers)
        self.layers.blockSignals(False)
        self._projector_block.setVisible(picture.projector is not None)
        self.projector.setChecked(picture.knobs.projector)
        self.projector.setText(tr("On") if picture.knobs.projector else tr("Off"))
        words = tr("Reads images, {size}").format(size=size(picture.projector or 0))
        self.projector.setToolTip(words)
        self.projector.setAccessibleName(f"{words}: {self.projector.text()}")
        self._fit()

    def choose_drafter(self, key: str) -> None:
        """Choose a drafter, or Automatic or none."""
        self._turn(drafter=key)

    def _show_context(self, stops: tuple[int, ...]) -> None:
        self._stops = stops
        self.slider.blockSignals(True)
        self.slider.setRange(0, len(stops) - 1)
        self.slider.setPageStep(2)
        if not self.slider.isSliderDown():
            self.slider.setValue(nearest(stops, self.knobs.context))
        self.slider.blockSignals(False)
        if stops != self._marked:
            self._marked = stops
            self._mark_stops(stops)
        self._say_context()

    def _mark_stops(self, stops: tuple[int, ...]) -> None:
        """Write a few of the stops below the slider, the first and the last among them."""
        while (item := self._marks.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        shown = min(len(stops), _MARKS)
        for number in range(shown):
            at = round((len(stops) - 1) * number / max(1, shown - 1))
            if number:
                self._marks.addStretch()
            self._marks.addWidget(label(context_size(stops[at]), "faint"))

    def _say_context(self) -> None:
        words = several(self._stops[min(self.slider.value(), len(self._stops) - 1)], tr("token"))
        self._context.setText(words)
        self.slider.setAccessibleDescription(words)

    def _on_slid(self, at: int) -> None:
        self._say_context()
        self._turn(context=self._stops[at])

    def _on_layers(self, number: int) -> None:
        self._turn(gpu_layers=None if number < 0 else number)

    def _turn(self, **changed: object) -> None:
        self.knobs = replace(self.knobs, **changed)  # type: ignore[arg-type]
        self.turned.emit(self.knobs)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(label(tr("Context"), "muted"))
        head.addStretch()
        head.addWidget(self._context)
        context = QWidget()
        column = QVBoxLayout(context)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.slider)
        column.addLayout(self._marks)
        flow = FlowLayout(self._choices, gap=_GAP)
        flow.addWidget(_block(tr("KV cache"), self.kv_type))
        flow.addWidget(_block(tr("Drafter"), self.drafter))
        flow.addWidget(self._layers_block)
        flow.addWidget(self._projector_block)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(10)
        self._grid.setHorizontalSpacing(24)
        self._grid.addWidget(context, 0, 0)
        self._grid.setColumnStretch(0, 1)
        self._fit()

    def _fit(self) -> None:
        """Beside the context where there is room, else below it."""
        self.drafter.setFixedWidth(self._look.px(_DRAFTER_WIDTH))
        taken = sum(
            each.sizeHint().width() + _GAP
            for each in self._choices.findChildren(
                QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly
            )
            if not each.isHidden()
        )
        beside = self.width() - taken > self._look.px(_NARROWEST_SLIDER)
        self._choices.setMinimumWidth(taken if beside else 0)
        self._grid.removeWidget(self._choices)
        self._grid.addWidget(self._choices, 0 if beside else 1, 1 if beside else 0)

    def minimumSizeHint(self) -> QSize:  # noqa: D102, N802
        return QSize(self._look.px(160), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: D102, N802
        super().resizeEvent(event)
        self._fit()


def _block(title: str, widget: QWidget) -> QWidget:
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(4)
    words: QLabel = label(title, "small")
    words.setBuddy(widget)
    column.addWidget(words)
    column.addWidget(widget)
    return holder


def _kv_option(type_: str) -> Option:
    return Option(type_, type_, tr(KV_MEANINGS.get(type_, "")))


def _drafter_options(picture: Picture) -> list[Option]:
    options = [Option(AUTO, choice_name(AUTO), choice_meaning(AUTO))]
    options += [
        Option(one.key, f"{one.title} · {one.repo}" if one.repo else one.title, one.detail)
        for one in picture.drafters
        if one.fits
    ]
    return [*options, Option(OFF, tr("No drafter"), choice_meaning(OFF))]
