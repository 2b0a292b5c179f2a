"""The settings in force: read once, changed in one place, followed by whoever they concern."""

from PySide6.QtCore import QObject, Signal

from slipstream import settings
from slipstream.settings import Settings, Value


class Preferences(QObject):
    """Holds the settings.

    Attributes:
        changed: the key of a setting that has another value now.
        values: the settings.
        notices: sentences about what had to be reset when they were read.
    """

    changed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        result = settings.load()
        self.values: Settings = result.settings
        self.notices = result.notices

    def get(self, key: str) -> Value:
        """The value of one setting."""
        value: Value = getattr(self.values, key)
        return value

    def set(self, key: str, value: Value) -> None:
        """Change and keep one setting. Raises: SlipstreamError."""
        if value == self.get(key):
            return
        self.values = settings.save({key: value})
        self.changed.emit(key)
