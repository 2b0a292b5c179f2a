"""A page whose content is as wide as lines may be that are read with ease."""

from PySide6.QtWidgets import QHBoxLayout, QWidget

from slipstream.ui.look import Look

_WIDEST = 760
"""Pixels at 100 % text size."""


class Centred(QWidget):
    """Holds a column in its middle."""

    def __init__(self, inner: QWidget, look: Look, widest: int = _WIDEST) -> None:
        """Prepare.

        Args:
            inner: the column.
            look: sizes.
            widest: of the column, in pixels at 100 % text size.
        """
        super().__init__()
        self.setObjectName("page")
        self._inner, self._look, self._widest = inner, look, widest
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(inner, 1000)
        row.addStretch(1)
        look.changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        self._inner.setMaximumWidth(self._look.px(self._widest))
