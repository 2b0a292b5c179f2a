"""Whether the display that the environment names is there; Qt ends the process if it is not."""

import socket
from collections.abc import Mapping
from pathlib import PurePosixPath

_PATIENCE = 2.0  # seconds; a display on another computer
_X_PORT = 6000  # plus the number of the display


def unreachable(environment: Mapping[str, str]) -> str | None:
    """The names of the displays that do not answer; None if Qt will find one, or needs none.

    Args:
        environment: of the process, on Linux.
    """
    platform = environment.get("QT_QPA_PLATFORM", "").partition(":")[0]
    wayland, x = environment.get("WAYLAND_DISPLAY", ""), environment.get("DISPLAY", "")
    tried = []
    if wayland and platform in ("", "wayland"):
        if _answers(socket.AF_UNIX, _wayland_socket(wayland, environment)):
            return None
        tried.append(wayland)
    if x and platform in ("", "xcb"):
        if any(_answers(family, address) for family, address in _x_sockets(x)):
            return None
        tried.append(x)
    return ", ".join(tried) or None


def _wayland_socket(name: str, environment: Mapping[str, str]) -> str:
    return str(PurePosixPath(environment.get("XDG_RUNTIME_DIR", "/"), name))


def _x_sockets(display: str) -> list[tuple[socket.AddressFamily, str | tuple[str, int]]]:
    """Where an X server listens: ``[unix]:NUMBER[.SCREEN]`` or ``HOST:NUMBER[.SCREEN]``."""
    host, _, rest = display.rpartition(":")
    number = rest.partition(".")[0]
    if not number.isdecimal():
        return []
    if host in ("", "unix"):
        path = f"/tmp/.X11-unix/X{number}"
        return [(socket.AF_UNIX, path), (socket.AF_UNIX, f"\0{path}")]  # the second: abstract
    return [(socket.AF_INET, (host.rpartition("/")[2], _X_PORT + int(number)))]


def _answers(family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.settimeout(_PATIENCE)
            probe.connect(address)
    except (OSError, OverflowError, UnicodeError):
        return False
    return True
