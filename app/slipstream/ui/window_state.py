"""What the window remembers between starts: state, not settings. A damaged file starts anew."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

_MOST_RECENT = 8


@dataclass(frozen=True)
class WindowState:
    """State of the window.

    Attributes:
        geometry: Qt's saved geometry, base64; empty at first.
        sidebar, speed_panel: whether the user wants them shown.
        recent: files opened, newest first.
    """

    geometry: str = ""
    sidebar: bool = True
    speed_panel: bool = True
    recent: tuple[str, ...] = ()

    def with_opened(self, path: Path) -> "WindowState":
        """The state after a file was opened."""
        others = [each for each in self.recent if each != str(path)]
        return replace(self, recent=(str(path), *others)[:_MOST_RECENT])


def load(file: Path) -> WindowState:
    """Read the state; what is missing or damaged is as at first."""
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return WindowState()
    return from_values(read) if isinstance(read, dict) else WindowState()


def from_values(values: Mapping[str, Any]) -> WindowState:
    """The state with these values, as far as they are of the right kind."""
    defaults = vars(WindowState())
    return WindowState(**{key: _checked(d, values.get(key, d)) for key, d in defaults.items()})


def save(file: Path, state: WindowState) -> None:
    """Write the state, whole or not at all. Raises: OSError."""
    part = file.with_suffix(".part")
    part.write_text(json.dumps(asdict(state), indent=1), encoding="utf-8")
    part.replace(file)


def _checked(default: Any, value: Any) -> Any:
    """The value if it is of its default's kind, otherwise the default."""
    if isinstance(default, tuple):
        fits = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
        return tuple(value) if fits else default
    return value if type(value) is type(default) else default
