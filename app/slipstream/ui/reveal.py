"""Shows a file in the system's file manager."""

import sys
from pathlib import Path

from PySide6.QtCore import QProcess

from slipstream.ui.browser import open_folder


def reveal(path: Path) -> bool:
    """Show a file among its neighbours; where that is not known how, its folder.

    Returns: whether anything could be opened.
    """
    if sys.platform == "win32":
        explorer = QProcess()
        explorer.setProgram("explorer.exe")
        explorer.setNativeArguments(f'/select,"{path}"')  # as explorer reads it
        return explorer.startDetached()[0]
    if sys.platform == "darwin":
        return bool(QProcess.startDetached("open", ["-R", str(path)])[0])
    return open_folder(path.parent)
