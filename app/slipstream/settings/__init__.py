"""What the user can choose: declared once, kept in one file."""

from slipstream.settings.declaration import (
    EMBEDDED,
    Kind,
    Setting,
    Settings,
    Value,
    by_key,
    declare,
    declared,
)
from slipstream.settings.file import LoadResult, load, save

__all__ = [
    "EMBEDDED",
    "Kind",
    "LoadResult",
    "Setting",
    "Settings",
    "Value",
    "by_key",
    "declare",
    "declared",
    "load",
    "save",
]
