"""Every setting, declared once; the settings page, the file and the help texts come from here.

Other records of what a user can choose are declared in the same way (``engine.model_settings``).
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import TypeVar

from slipstream.paths import is_path
from slipstream.words import SPECULATION

Value = str | int | float | bool | tuple[str, ...] | None
"""None is allowed where it is the default: something else decides."""
_T = TypeVar("_T", bound=Value)

EMBEDDED = "embedded"
"""The value of ``engine`` that stands for the engine that comes with the app."""


class Kind(StrEnum):
    """Which control edits a setting, and the type of its value."""

    CHOICE = "choice"  # str
    NUMBER = "number"  # int
    SWITCH = "switch"  # bool
    FILE = "file"  # str
    FOLDERS = "folders"  # tuple of str
    DECIMAL = "decimal"  # float
    TEXT = "text"  # str of several lines


@dataclass(frozen=True)
class Setting:
    """One declared setting.

    Attributes:
        key: its name in the file and in ``Settings``.
        kind: which control edits it.
        group: heading under which the settings page shows it.
        label: its name for people.
        help: a sentence or two for people.
        default: the value without a file.
        choices: the values of a choice and their labels.
        meanings: what each of them is, in a line, where the label does not say it.
        minimum, maximum, step: bounds of a number, in ``unit``; of a text, ``maximum`` is the most
            characters.
        unit: shown after a number.
        special: a value that is shown as words (0 or None as "Automatic"), and the words.
        restarts_engine: a change takes effect when the model is loaded again.
    """

    key: str
    kind: Kind
    group: str
    label: str
    help: str
    default: Value
    choices: Mapping[str, str] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)
    minimum: int = 0
    maximum: int = 0
    step: int = 1
    unit: str = ""
    special: tuple[Value, str] | None = None
    restarts_engine: bool = False

    def check(self, value: object) -> Value:
        """Return ``value`` if this setting can have it; a list of folders becomes a tuple.

        Raises: ValueError, if it cannot.
        """
        match value:
            case None if self.default is None:
                return value
            case bool() if self.kind is Kind.SWITCH:
                return value
            case bool():
                pass
            case int() if self.kind is Kind.NUMBER and self._in_bounds(value):
                return value
            case int() | float() if self.kind is Kind.DECIMAL and self._in_bounds(value):
                return float(value)
            case str() if self._is_text(value):
                return value
            case list() | tuple() if self.kind is Kind.FOLDERS:
                folders = tuple(item for item in value if isinstance(item, str) and is_path(item))
                if len(folders) == len(value):
                    return folders
        raise ValueError(value)

    def _in_bounds(self, value: float) -> bool:
        return self.minimum <= value <= self.maximum

    def _is_text(self, value: str) -> bool:
        match self.kind:
            case Kind.CHOICE:
                return value in self.choices
            case Kind.FILE:
                return is_path(value)
            case Kind.TEXT:
                return len(value) <= self.maximum and _can_be_passed_on(value)
        return False

    def words(self, value: Value) -> str:
        """``value`` as people read it."""
        if self.special and value == self.special[0]:
            return self.special[1]
        match value:
            case bool():
                return "on" if value else "off"
            case int():
                return f"{value:,} {self.unit}".strip()
            case float():
                return f"{value:g}"
            case None:
                return "not set"
            case str():
                return self.choices.get(value, value)
            case tuple():
                return ", ".join(value) or "none"

    @property
    def expected(self) -> str:
        """What the value can be, to follow "must be"."""
        match self.kind:
            case Kind.CHOICE:
                return "one of " + ", ".join(self.choices)
            case Kind.NUMBER:
                return f"a whole number from {self.minimum} to {self.maximum}"
            case Kind.DECIMAL:
                return f"a number from {self.minimum} to {self.maximum}"
            case Kind.TEXT:
                return f"text of at most {self.maximum:,} characters"
            case Kind.SWITCH:
                return "true or false"
            case Kind.FILE:
                return "the path of a file"
            case Kind.FOLDERS:
                return "a list of folders"


def _can_be_passed_on(text: str) -> bool:
    """Whether a program can be given this text: no null character, no half characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def declare(default: _T, kind: Kind, group: str, label: str, help: str, **more: object) -> _T:
    """A field of a dataclass that is a setting; ``more`` are further attributes of ``Setting``."""
    return field(
        default=default,
        metadata={"kind": kind, "group": group, "label": label, "help": help, **more},
    )


@dataclass(frozen=True)
class Settings:
    """The values. The order is the order on the settings page."""

    theme: str = declare(
        "system",
        Kind.CHOICE,
        "Appearance",
        "Theme",
        "Light or dark colours, or whatever the system uses.",
        choices={"system": "Same as the system", "light": "Light", "dark": "Dark"},
    )
    text_size: int = declare(
        100,
        Kind.NUMBER,
        "Appearance",
        "Text size",
        "Makes all text smaller or larger.",
        minimum=80,
        maximum=200,
        step=10,
        unit="%",
    )
    engine: str = declare(
        EMBEDDED,
        Kind.FILE,
        "Engine",
        "Engine",
        "The program that runs models: the built-in one, or a llama-server of your own, "
        "for example one that uses your GPU.",
        special=(EMBEDDED, "Built in"),
        restarts_engine=True,
    )
    threads: int = declare(
        0,
        Kind.NUMBER,
        "Engine",
        "Processor threads",
        "How many processor threads the engine uses. Fewer leave more for other programs.",
        maximum=512,
        special=(0, "Automatic"),
        restarts_engine=True,
    )
    model_folders: tuple[str, ...] = declare(
        (),
        Kind.FOLDERS,
        "Models",
        "Folders with models",
        "Models in these folders are offered where they are; nothing is copied or moved.",
    )
    download_limit: int = declare(
        0,
        Kind.NUMBER,
        "Models",
        "Speed limit for downloads",
        "Leaves room for others on the same line. It can be changed while something downloads.",
        maximum=10_000,
        unit="MB/s",
        special=(0, "None"),
    )
    default_context: int = declare(
        16384,
        Kind.NUMBER,
        "Models",
        "Context",
        "How many tokens the conversation and the reply share. More context needs more memory. "
        "A model that allows less gets its own limit.",
        minimum=512,
        maximum=1_048_576,
        step=1024,
        unit="tokens",
        restarts_engine=True,
    )
    speculation: str = declare(
        "auto",
        Kind.CHOICE,
        "Models",
        "Speculation",
        "A small helper (drafter) proposes tokens and the model checks each of them, which can "
        "make replies faster.",
        choices={word: way.name for word, way in SPECULATION.items()},
        meanings={word: way.meaning for word, way in SPECULATION.items()},
        restarts_engine=True,
    )
    draft_tokens: int = declare(
        0,
        Kind.NUMBER,
        "Models",
        "Draft tokens",
        "The most tokens a drafter proposes at once. Automatic takes what suits the drafter.",
        maximum=64,
        special=(0, "Automatic"),
        restarts_engine=True,
    )
    show_drafted_tokens: bool = declare(
        False,
        Kind.SWITCH,
        "Chat",
        "Show drafted tokens",
        "Tints the text that the drafter proposed and the model accepted.",
    )
    send_with_enter: bool = declare(
        True,
        Kind.SWITCH,
        "Chat",
        "Send with Enter",
        "Enter sends and Shift+Enter starts a new line. When off, Ctrl+Enter sends.",
    )


@cache
def declared(of: type = Settings) -> tuple[Setting, ...]:
    """Every setting of a record, in the order in which it is shown.

    Args:
        of: the dataclass that declares them.
    """
    defaults = of()
    return tuple(
        Setting(key=item.name, default=getattr(defaults, item.name), **item.metadata)
        for item in dataclasses.fields(of)
    )


@cache
def by_key(of: type = Settings) -> Mapping[str, Setting]:
    """Every setting of a record by its key."""
    return {setting.key: setting for setting in declared(of)}
