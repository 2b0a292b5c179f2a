"""How blocks look in Qt: fonts, colours and distances for one theme and text size."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFormat,
    QTextLength,
    QTextOption,
    QTextTableFormat,
)

from slipstream.ui.look import MONO, SANS
from slipstream.ui.theme import Theme
from slipstream.ui.transcript.blocks import LINE_BREAK, Block, BoxKind, Kind, Run, Style
from slipstream.ui.transcript.colours import DARK_CODE, LIGHT_CODE

COLUMN = 694  # widest text column, in pixels at 100 % text size
FAR = 60  # pixels; padding and rounded corners of boxes reach less far beyond their text
CELL_PADDING = 6  # pixels at 100 % text size
CHROME = int(QTextFormat.Property.UserProperty) + 1  # marks what copying leaves out

_MESSAGE_GAP = 18
_ALIGNMENTS = {
    "left": Qt.AlignmentFlag.AlignLeft,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
}


@dataclass(frozen=True, slots=True)
class _Type:
    size: int
    line: int
    weight: QFont.Weight = QFont.Weight.Normal
    mono: bool = False
    muted: bool = False


_TYPES = {
    Kind.PARAGRAPH: _Type(14, 22),
    Kind.HEADING1: _Type(21, 29, QFont.Weight.Bold),
    Kind.HEADING2: _Type(18, 26, QFont.Weight.Bold),
    Kind.HEADING3: _Type(16, 24, QFont.Weight.DemiBold),
    Kind.HEADING4: _Type(14, 22, QFont.Weight.DemiBold),
    Kind.CODE_LABEL: _Type(12, 20, mono=True, muted=True),
    Kind.CODE: _Type(13, 20, mono=True),
    Kind.RULE: _Type(2, 9),
    Kind.TABLE: _Type(14, 19),
    Kind.USER: _Type(14, 22),
    Kind.THOUGHT_PILL: _Type(12, 20, muted=True),
    Kind.THOUGHT: _Type(13, 20, muted=True),
    Kind.FOOTER: _Type(12, 20, muted=True),
    Kind.NOTICE: _Type(12, 20, muted=True),
}
_CHROME_KINDS = (Kind.CODE_LABEL, Kind.THOUGHT_PILL, Kind.FOOTER)


@dataclass(frozen=True, slots=True)
class Padding:
    """Space between a box's edges and the text in it, in pixels at 100 % text size."""

    x: int
    top: int
    bottom: int


# Qt puts the base line at four fifths of a fixed line height, so text sits low: less space above.
PADDING = {
    BoxKind.CODE: Padding(14, 7, 11),
    BoxKind.QUOTE: Padding(0, 2, 2),
    BoxKind.THOUGHT: Padding(14, 2, 2),
    BoxKind.USER: Padding(14, 7, 10),
    BoxKind.PILL: Padding(10, 0, 3),
}


class Styles:
    """The Qt formats of blocks and runs.

    Attributes:
        theme: the colours.
        scale: text size, 1 is normal.
        column: width of the text column in pixels.
    """

    def __init__(self, theme: Theme, percent: int, column: float) -> None:
        self.theme = theme
        self.scale = percent / 100
        self.column = column
        self._formats: dict[tuple[Kind, Style, str, bool], QTextCharFormat] = {}
        self._code_colours = DARK_CODE if theme.dark else LIGHT_CODE

    def px(self, pixels: float) -> float:
        """A measure at 100 % text size, at the present one."""
        return pixels * self.scale

    def char_format(self, kind: Kind, run: Run, *, header: bool = False) -> QTextCharFormat:
        """The format of a run; ``header`` for the cells at the top of a table."""
        style = run.style | (Style.BOLD if header else Style.PLAIN)
        key = (kind, style, run.colour, bool(run.href))
        made = self._formats.get(key)
        if made is None:
            made = self._formats[key] = self._made(kind, style, run)
        if run.href:
            made = QTextCharFormat(made)
            made.setAnchor(True)
            made.setAnchorHref(run.href)
        return made

    def _made(self, kind: Kind, style: Style, run: Run) -> QTextCharFormat:
        made = QTextCharFormat()
        made.setFont(self.font(kind, style))
        link = bool(run.href) and style & Style.MUTED == 0
        if run.colour:
            colour = self._code_colours[run.colour]
        elif style & Style.ACCENT or link:
            colour = self.theme.accent_text
        elif style & Style.MUTED or _TYPES[kind].muted:
            colour = self.theme.text_muted
        else:
            colour = self.theme.text
        made.setForeground(QColor(colour))
        made.setFontUnderline(link)
        return made

    def font(self, kind: Kind, style: Style = Style.PLAIN) -> QFont:
        """The font of a kind of block, and of a run in it."""
        look = _TYPES[kind]
        mono = look.mono or bool(style & Style.CODE)
        font = QFont([MONO, "monospace"] if mono else [SANS, "sans-serif"])
        font.setStyleHint(QFont.StyleHint.Monospace if mono else QFont.StyleHint.SansSerif)
        shrink = 1 if mono and not look.mono else 0
        font.setPixelSize(max(round(self.px(look.size - shrink)), 1))
        font.setWeight(QFont.Weight.Bold if style & Style.BOLD else look.weight)
        if mono:
            font.setFeature(QFont.Tag("calt"), 0)  # != must not look like another character
        font.setItalic(bool(style & Style.ITALIC))
        font.setStrikeOut(bool(style & Style.STRIKE))
        return font

    def block_format(self, before: Block, block: Block, *, starts: bool) -> QTextBlockFormat:
        """The format of a block.

        Args:
            before: what it follows.
            block: what it is.
            starts: it is the first of its message.
        """
        made = QTextBlockFormat()
        made.setTopMargin(self.px(_space(before, block, starts=starts)))
        right = sum(PADDING[box.kind].x for box in block.boxes)
        left = block.indent + right
        made.setLeftMargin(self.px(left))
        made.setRightMargin(self.px(right))
        if block.kind is Kind.USER:
            made.setLeftMargin(self.column - self._bubble(block.text) - self.px(right))
        made.setTextIndent(-self.px(block.hang))
        self._set_line_height(made, block.kind)
        self._set_tabs(made, block, self.column - self.px(left + right))
        if block.kind in _CHROME_KINDS:
            made.setProperty(CHROME, True)
        return made

    def collapsed(self) -> QTextBlockFormat:
        """The format of a block that is there only because Qt needs it."""
        made = QTextBlockFormat()
        made.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        made.setProperty(CHROME, True)
        return made

    def table_format(self, before: Block, block: Block, *, starts: bool) -> QTextTableFormat:
        """The format of a table; arguments as in ``block_format``."""
        made = QTextTableFormat()
        made.setBorder(0)  # the lines are painted apart: Qt takes longer for them than for text
        made.setCellPadding(self.px(CELL_PADDING))
        made.setCellSpacing(0)
        made.setTopMargin(self.px(_space(before, block, starts=starts)))
        made.setLeftMargin(self.px(block.indent))
        made.setColumnWidthConstraints(column_widths(block))
        return made

    def cell_format(self, align: str) -> QTextBlockFormat:
        """The format of the text in a cell."""
        made = QTextBlockFormat()
        self._set_line_height(made, Kind.TABLE)
        made.setAlignment(_ALIGNMENTS[align])
        return made

    def _set_line_height(self, made: QTextBlockFormat, kind: Kind) -> None:
        height = round(self.px(_TYPES[kind].line))
        made.setLineHeight(height, QTextBlockFormat.LineHeightTypes.FixedHeight.value)

    def _set_tabs(self, made: QTextBlockFormat, block: Block, width: float) -> None:
        if block.kind in (Kind.CODE_LABEL, Kind.FOOTER):
            made.setTabPositions([QTextOption.Tab(width, QTextOption.TabType.RightTab)])
        elif block.hang:
            made.setTabPositions(
                [QTextOption.Tab(self.px(block.hang), QTextOption.TabType.LeftTab)]
            )

    def _bubble(self, text: str) -> float:
        """Width of the text of a user's message: its longest line, at most most of the column."""
        most = self.column * 0.8 - self.px(2 * PADDING[BoxKind.USER].x)
        metrics = QFontMetricsF(self.font(Kind.USER))
        widest = 0.0
        for line in text.split(LINE_BREAK):
            if len(line) > most or widest >= most:
                return most
            widest = max(widest, metrics.horizontalAdvance(line) + 1)
        return min(widest, most)


def column_widths(block: Block) -> list[QTextLength]:
    """Widths of the columns of a table."""
    if not block.widths:
        return [QTextLength()] * len(block.rows[0])
    return [QTextLength(QTextLength.Type.PercentageLength, width) for width in block.widths]


def _space(before: Block, block: Block, *, starts: bool) -> int:
    """Space above a block: its own gap, and the padding of the boxes that end and start there."""
    closed = [box for box in before.boxes if starts or box not in block.boxes]
    opened = [box for box in block.boxes if starts or box not in before.boxes]
    gap = _MESSAGE_GAP if starts else block.gap
    gap += sum(PADDING[box.kind].bottom for box in closed)
    return gap + sum(PADDING[box.kind].top for box in opened)
