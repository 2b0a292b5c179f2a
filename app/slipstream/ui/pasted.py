"""Text with very long lines, which a field shows as one sign: laying such a line out takes long.

The sign stands in the text like a letter: it can be deleted, moved and brought back by undo.
"""

from PySide6.QtCore import QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QPainter,
    QPyTextObject,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)

from slipstream.ui.i18n import tr
from slipstream.words import count

LONGEST_LINE = 10_000  # characters

_SIGN = "\ufffc"
_TYPE = int(QTextFormat.ObjectTypes.UserObject) + 1
_TEXT = int(QTextFormat.Property.UserProperty) + 1
_LABEL = _TEXT + 1
_PADDING = 8.0  # pixels at each side
_RADIUS = 4.0


class PastedSign(QPyTextObject):
    """Draws the sign."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        document.documentLayout().registerHandler(_TYPE, self)

    def intrinsicSize(  # noqa: D102, N802
        self, document: QTextDocument, _position: int, sign: QTextFormat
    ) -> QSizeF:
        metrics = QFontMetricsF(document.defaultFont())
        width = metrics.horizontalAdvance(sign.property(_LABEL)) + 2 * _PADDING
        return QSizeF(width, metrics.ascent())

    def drawObject(  # noqa: D102, N802
        self,
        painter: QPainter,
        area: QRectF | QRect,
        document: QTextDocument,
        _position: int,
        sign: QTextFormat,
    ) -> None:
        metrics = QFontMetricsF(document.defaultFont())
        area = QRectF(area)
        box = area.adjusted(1, 0, -1, metrics.descent())
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, _RADIUS, _RADIUS)
        painter.setFont(document.defaultFont())
        painter.drawText(QPointF(area.left() + _PADDING, area.bottom()), sign.property(_LABEL))
        painter.restore()


def insert(cursor: QTextCursor, text: str) -> None:
    """Insert text in place of the selection; as a sign, if that would make a line too long."""
    longest = max(map(len, text.split("\n")))
    if longest + cursor.block().length() <= LONGEST_LINE:
        cursor.insertText(text)
        return
    sign = QTextCharFormat()
    sign.setObjectType(_TYPE)
    sign.setProperty(_TEXT, text)
    sign.setProperty(_LABEL, tr("{n} characters").format(n=count(len(text))))
    cursor.insertText(_SIGN, sign)


def selected_parts(selected: QTextCursor) -> list[str]:
    """The selected text, parted by its signs: typed text and what a sign stands for, in turn."""
    typed, *others = selected.selectedText().replace("\u2029", "\n").split(_SIGN)
    parts = [typed]
    look = QTextCursor(selected.document())
    position = selected.selectionStart()
    for other in others:
        position += _units(parts[-1]) + 1
        look.setPosition(position)
        sign = look.charFormat()
        parts += [sign.property(_TEXT) if sign.objectType() == _TYPE else _SIGN, other]
    return parts


def _units(text: str) -> int:
    """How long a text is for Qt, which counts in UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
