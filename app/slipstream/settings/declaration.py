"""Every setting, declared once; the settings page, the file and the help texts come from here."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import TypeVar

from slipstream.paths import is_path
from slipstream.words import SPECULATION

Value = str | int | bool | tuple[str, ...]
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
        minimum, maximum, step: bounds of a number, in ``unit``.
        unit: shown after a number.
        special: a value that is shown as words (0 as "Automatic"), and the words.
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
            case bool() if self.kind is Kind.SWITCH:
                return value
            case bool():
                pass
            case int() if self.kind is Kind.NUMBER and self.minimum <= value <= self.maximum:
                return value
            case str() if self.kind is Kind.CHOICE and value in self.choices:
                return value
            case str() if self.kind is Kind.FILE and is_path(value):
                return value
            case list() | tuple() if self.kind is Kind.FOLDERS:
                folders = tuple(item for item in value if isinstance(item, str) and is_path(item))
                if len(folders) == len(value):
                    return folders
        raise ValueError(value)

    def words(self, value: Value) -> str:
        """``value`` as people read it."""
        if self.special and value == self.special[0]:
            return self.special[1]
        match value:
            case bool():
                return "on" if value else "off"
            case int():
                return f"{value:,} {self.unit}".strip()
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
            case Kind.SWITCH:
                return "true or false"
            case Kind.FILE:
                return "the path of a file"
            case Kind.FOLDERS:
                return "a list of folders"


def _declare(default: _T, kind: Kind, group: str, label: str, help: str, **more: object) -> _T:
    return field(
        default=default,
        metadata={"kind": kind, "group": group, "label": label, "help": help, **more},
    )


@dataclass(frozen=True)
class Settings:
    """The values. The order is the order on the settings page."""

    theme: str = _declare(
        "system",
        Kind.CHOICE,
        "Appearance",
        "Theme",
        "Light or dark colours, or whatever the system uses.",
        choices={"system": "Same as the system", "light": "Light", "dark": "Dark"},
    )
    text_size: int = _declare(
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
    engine: str = _declare(
        EMBEDDED,
        Kind.FILE,
        "Engine",
        "Engine",
        "The program that runs models: the built-in one, or a llama-server of your own, "
        "for example one that uses your GPU.",
        special=(EMBEDDED, "Built in"),
        restarts_engine=True,
    )
    threads: int = _declare(
        0,
        Kind.NUMBER,
        "Engine",
        "Processor threads",
        "How many processor threads the engine uses. Fewer leave more for other programs.",
        maximum=512,
        special=(0, "Automatic"),
        restarts_engine=True,
    )
    model_folders: tuple[str, ...] = _declare(
        (),
        Kind.FOLDERS,
        "Models",
        "Folders with models",
        "Models in these folders are offered where they are; nothing is copied or moved.",
    )
    default_context: int = _declare(
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
    speculation: str = _declare(
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
    draft_tokens: int = _declare(
        0,
        Kind.NUMBER,
        "Models",
        "Draft tokens",
        "The most tokens a drafter proposes at once. Automatic takes what suits the drafter.",
        maximum=64,
        special=(0, "Automatic"),
        restarts_engine=True,
    )
    show_drafted_tokens: bool = _declare(
        False,
        Kind.SWITCH,
        "Chat",
        "Show drafted tokens",
        "Tints the text that the drafter proposed and the model accepted.",
    )
    send_with_enter: bool = _declare(
        True,
        Kind.SWITCH,
        "Chat",
        "Send with Enter",
        "Enter sends and Shift+Enter starts a new line. When off, Ctrl+Enter sends.",
    )


@cache
def declared() -> tuple[Setting, ...]:
    """Every setting, in the order of the settings page."""
    defaults = Settings()
    return tuple(
        Setting(key=item.name, default=getattr(defaults, item.name), **item.metadata)
        for item in dataclasses.fields(Settings)
    )


@cache
def by_key() -> Mapping[str, Setting]:
    """Every setting by its key."""
    return {setting.key: setting for setting in declared()}
