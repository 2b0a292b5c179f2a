"""``slipstream``: the window, or with a verb the command line.

The window must open fast, so nothing of the command line is imported for it, and the other way
round.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from slipstream.ui.display import unreachable

_DEBIAN_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""What Qt 6.11 needs from a Linux system (objdump -p), and the Debian package that has it."""


def main() -> None:
    """Run the app; ends the process with its exit code."""
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while modules are still imported; later the verbs see to it
        code = 130
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Open the window for no argument or a model file alone, else run a verb; the exit code."""
    if not _is_for_window(arguments):
        return _command_line(arguments)
    # Qt's modules cannot be interrupted while they are imported; until the window sees to it,
    # Ctrl+C just ends the process, which has nothing to lose yet.
    interrupted = signal.signal(signal.SIGINT, signal.SIG_DFL)
    obstacle = _obstacle(os.environ)
    if obstacle is None:
        from slipstream.ui.app import main as open_window

        # Another window that is open already may have another working folder.
        return open_window(str(Path(arguments[0]).absolute()) if arguments else "")
    signal.signal(signal.SIGINT, interrupted)
    notice = f"{obstacle} Chatting in the terminal instead."
    return _command_line(["chat", *(arguments or ["demo"])], notice)


def _is_for_window(arguments: Sequence[str]) -> bool:
    return not arguments or (len(arguments) == 1 and arguments[0].lower().endswith(".gguf"))


def _command_line(arguments: Sequence[str], notice: str = "") -> int:
    from slipstream.cli.app import main as run_verb

    return run_verb(arguments, notice)


def _obstacle(environment: Mapping[str, str]) -> str | None:
    """A sentence about why no window can open; None if one can.

    Qt ends the whole process when it cannot start, so this is found out before.
    """
    if sys.platform != "linux":
        return None
    platform = environment.get("QT_QPA_PLATFORM")
    if not (environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY") or platform):
        return "There is no display to open a window on."
    gone = unreachable(environment)
    if gone is not None:
        return f"The display {gone} does not answer."
    try:
        import PySide6.QtWidgets  # noqa: F401

        if not platform and not environment.get("WAYLAND_DISPLAY"):
            _load_plugin("libqxcb.so")
    except (ImportError, OSError) as error:
        return _explain(str(error), _missing_packages(_DEBIAN_PACKAGES))
    return None


def _load_plugin(name: str) -> None:
    """Raises: OSError, if this plugin of Qt's lacks a library."""
    spec = find_spec("PySide6")
    for folder in (spec.submodule_search_locations if spec else None) or []:
        plugin = Path(folder) / "Qt" / "plugins" / "platforms" / name
        if plugin.exists():
            ctypes.CDLL(str(plugin))


def _missing_packages(packages: Mapping[str, str]) -> list[str]:
    return [package for library, package in packages.items() if not _loads(library)]


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _explain(reason: str, packages: Sequence[str]) -> str:
    if not packages:
        return f"The window cannot open ({reason})."
    return f"The window needs packages that this system lacks: {' '.join(packages)}."


if __name__ == "__main__":
    main()
