"""What the window remembers between starts: state, not settings. A damaged file starts anew."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from slipstream.paths import is_text
from slipstream.small_files import read_json, write_text

_MOST_RECENT = 8
_MOST_LOOKED_AT = 30


@dataclass(frozen=True)
class WindowState:
    """State of the window.

    Attributes:
        geometry: Qt's saved geometry, base64; empty at first.
        sidebar, speed_panel: whether the user wants them shown.
        recent: files opened, newest first.
        looked_at: repositories looked at on the Models page, newest first.
        welcomed: the first run is over.
    """

    geometry: str = ""
    sidebar: bool = True
    speed_panel: bool = True
    recent: tuple[str, ...] = ()
    looked_at: tuple[str, ...] = ()
    welcomed: bool = False

    def with_opened(self, path: Path) -> "WindowState":
        """The state after a file was opened."""
        return replace(self, recent=_first(str(path), self.recent, _MOST_RECENT))

    def with_looked_at(self, repo: str) -> "WindowState":
        """The state after a repository was looked at."""
        return replace(self, looked_at=_first(repo, self.looked_at, _MOST_LOOKED_AT))


def _first(one: str, others: tuple[str, ...], most: int) -> tuple[str, ...]:
    return (one, *(each for each in others if each != one))[:most]


def load(file: Path) -> WindowState:
    """Read the state; what is missing or damaged is as at first."""
    try:
        read = read_json(file)
    except (OSError, ValueError):
        return WindowState()
    return from_values(read) if isinstance(read, dict) else WindowState()


def from_values(values: Mapping[str, Any]) -> WindowState:
    """The state with these values, as far as they are of the right kind."""
    defaults = vars(WindowState())
    return WindowState(**{key: _checked(d, values.get(key, d)) for key, d in defaults.items()})


def save(file: Path, state: WindowState) -> None:
    """Write the state, whole or not at all. Raises: OSError."""
    write_text(file, json.dumps(asdict(state), indent=1))


def _checked(default: Any, value: Any) -> Any:
    """The value if it is of its default's kind, otherwise the default."""
    if isinstance(default, tuple):
        fits = isinstance(value, list | tuple) and all(_is_text(each) for each in value)
        return tuple(value) if fits else default
    if isinstance(default, str):
        return value if _is_text(value) else default
    return value if type(value) is type(default) else default


def _is_text(value: Any) -> bool:
    """Whether it is text without half characters."""
    return isinstance(value, str) and is_text(Path(value))
