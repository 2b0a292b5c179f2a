"""What copying from the transcript takes."""

from PySide6.QtGui import QTextBlock, QTextCursor

from slipstream.ui.transcript.blocks import LINE_BREAK
from slipstream.ui.transcript.breaks import without_breaks
from slipstream.ui.transcript.styles import CHROME


def selected_text(selected: QTextCursor) -> str:
    """The selected text, a line for each block; the cells of a table's row are parted by tabs."""
    start, end = selected.selectionStart(), selected.selectionEnd()
    block = selected.document().findBlock(start)
    text = ""
    while block.isValid() and block.position() <= end:
        if not block.blockFormat().property(CHROME):
            before = without_breaks(_first(block.text(), max(start - block.position(), 0)))
            line = without_breaks(_first(block.text(), end - block.position()))[len(before) :]
            text += (_separator(block) if text else "") + line
        block = block.next()
    return text.replace(LINE_BREAK, "\n")


def _first(text: str, units: int) -> str:
    """The beginning of a text; Qt counts in UTF-16."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "ignore")


def _separator(block: QTextBlock) -> str:
    cursor = QTextCursor(block)
    table = cursor.currentTable()
    return "\t" if table is not None and table.cellAt(cursor).column() > 0 else "\n"
