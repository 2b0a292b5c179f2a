"""The top of a page that was opened from another one."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget


def page_head(back: QPushButton, title: QWidget, *more: QPushButton) -> QWidget:
    """The way back on the left, the title, and what else can be done on the right."""
    head = QWidget()
    head.setObjectName("header")
    head.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    row = QHBoxLayout(head)
    row.setContentsMargins(18, 10, 18, 10)
    row.setSpacing(12)
    row.addWidget(back)
    row.addWidget(title, 1)
    for button in more:
        row.addWidget(button)
    return head
