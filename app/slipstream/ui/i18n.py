"""Every text of the window goes through here, so that it can be translated."""

from PySide6.QtCore import QCoreApplication


def tr(text: str) -> str:
    """The text in the user's language; the English text where there is no translation."""
    return QCoreApplication.translate("slipstream", text)
