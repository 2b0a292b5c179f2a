"""The bar that shows what a launch takes of the memory there is, part by part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath

from slipstream.planning.need import Need
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.theme import Theme

_FAINT = 90  # of 255: the margin is not taken, only kept free


@dataclass(frozen=True)
class Part:
    """One part of a bar: its name for people, its colour, and its bytes."""

    name: str
    colour: QColor
    bytes: int


def parts_of(need: Need, theme: Theme) -> list[Part]:
    """The parts of what a launch needs, from left to right."""
    margin = QColor(theme.text_faint)
    margin.setAlpha(_FAINT)
    parts = [
        Part(tr("weights"), QColor(theme.weights), need.weights),
        Part(tr("context"), QColor(theme.context), need.context),
        Part(tr("compute"), QColor(theme.compute), need.compute),
        Part(tr("drafter"), QColor(theme.accent), need.drafter),
        Part(tr("projector"), QColor(theme.projector), need.projector),
        Part(tr("kept free"), margin, need.margin),
    ]
    return [part for part in parts if part.bytes]


def largest(needs: Sequence[Need]) -> Need:
    """The most that any of some launches takes, part by part."""

    def most(of: Callable[[Need], int]) -> int:
        return max(map(of, needs), default=0)

    return Need(
        weights=most(lambda one: one.weights),
        context=most(lambda one: one.context),
        compute=most(lambda one: one.compute),
        drafter=most(lambda one: one.drafter),
        projector=most(lambda one: one.projector),
        margin=most(lambda one: one.margin),
        by_device={},
    )


def paint_bar(
    painter: QPainter, place: QRectF, parts: Sequence[Part], most: int, free: int, look: Look
) -> None:
    """Paint a bar.

    Args:
        painter: of the widget.
        place: of the whole bar.
        parts: from left to right.
        most: bytes that its whole width stands for.
        free: bytes that are free, which a line marks; 0 for none.
        look: colours and sizes.
    """
    if not most:
        return
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    rounded = QPainterPath()
    rounded.addRoundedRect(place, place.height() / 2, place.height() / 2)
    painter.fillPath(rounded, QColor(look.theme.pill))
    painter.setClipPath(rounded)
    x = place.x()
    for part in parts:
        width = place.width() * part.bytes / most
        painter.fillRect(QRectF(x, place.y(), width, place.height()), part.colour)
        x += width
    painter.setClipping(False)
    if 0 < free <= most:
        at = place.x() + place.width() * free / most
        over = look.px(3)
        mark = QRectF(at - 1, place.y() - over, 2, place.height() + 2 * over)
        painter.fillRect(mark, QColor(look.theme.text))
    painter.restore()
