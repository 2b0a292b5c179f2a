"""Every setting, declared once; the settings page, the file and the help texts come from here.

The file is JSON with the changed keys only. Reading never fails: what is damaged is reset, kept
in a ``.bak`` beside the file, and reported. Saving changes only the keys that were changed, so
two running apps do not undo each other's changes and keys of a newer version survive.
"""

import contextlib
import dataclasses
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from slipstream import paths
from slipstream.errors import SlipstreamError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

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
            case str() if self.kind is Kind.FILE and value.strip():
                return value
            case list() | tuple() if self.kind is Kind.FOLDERS:
                folders = tuple(item for item in value if isinstance(item, str) and item.strip())
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
        choices={
            "auto": "Automatic",
            "off": "Off",
            "mtp": "MTP",
            "dflash": "DFlash",
            "dspark": "DSpark",
            "eagle3": "EAGLE-3",
            "draft": "Small model",
            "self": "Lower quantization of the same model",
            "ngram": "N-gram",
        },
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


@dataclass(frozen=True)
class LoadResult:
    """The settings, and a sentence about each thing that had to be reset."""

    settings: Settings
    notices: tuple[str, ...] = ()


def load() -> LoadResult:
    """Read the settings; whatever is wrong with the file, there are settings afterwards."""
    try:
        file = paths.settings_file().resolve()
        stored, notices = _read(file)
    except OSError as error:
        reason = error.strerror or "unknown reason"
        return LoadResult(
            Settings(),
            (f"The settings could not be read ({reason}), so the defaults are used.",),
        )
    if notices:
        # On a disk that cannot be written the notice simply comes again at the next start.
        with contextlib.suppress(OSError), _locked(file):
            stored, notices = _read_and_back_up(file)
            _write(file, stored)
    return LoadResult(_typed(stored), tuple(notices))


def save(changes: Mapping[str, object]) -> Settings:
    """Write the changed settings over the file as it is now.

    Args:
        changes: new values by key; KeyError for a key that is not declared.

    Returns: all settings as they are now, changes that another app saved included.

    Raises: SlipstreamError, if a value is not allowed or the file cannot be written.
    """
    checked = {key: _check(key, value) for key, value in changes.items()}
    try:
        file = paths.settings_file().resolve()
        with _locked(file):
            stored, _ = _read_and_back_up(file)
            stored.update(checked)
            _write(file, stored)
    except OSError as error:
        raise SlipstreamError(
            "settings_not_saved",
            "The settings could not be saved.",
            facts={"path": error.filename, "reason": error.strerror},
            action="Check that the disk is not full and that the folder can be written to.",
        ) from error
    return _typed(stored)


def _check(key: str, value: object) -> Value:
    setting = _by_key()[key]
    try:
        return setting.check(value)
    except ValueError as error:
        raise SlipstreamError(
            "setting_not_allowed",
            f"{setting.label} must be {setting.expected}.",
            facts={"setting": key, "value": str(value)},
            action="Choose another value.",
        ) from error


@cache
def _by_key() -> dict[str, Setting]:
    return {setting.key: setting for setting in declared()}


def _typed(stored: Mapping[str, object]) -> Settings:
    known: dict[str, Any] = {key: value for key, value in stored.items() if key in _by_key()}
    return Settings(**known)


def _read(file: Path) -> tuple[dict[str, object], list[str]]:
    """Return what is good in the file, unknown keys included, and sentences about the rest.

    Raises: OSError, if there is a file that cannot be read.
    """
    try:
        content = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}, []
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        kept = _backup_of(file).name
        return {}, [
            "The settings file was damaged, so all settings are back to their defaults. "
            f"The old file is kept as {kept}."
        ]
    good: dict[str, object] = {}
    notices = []
    for key, value in content.items():
        setting = _by_key().get(key)
        try:
            good[key] = setting.check(value) if setting else value
        except ValueError:
            notices.append(_reset_notice(_by_key()[key]))
    return good, notices


def _reset_notice(setting: Setting) -> str:
    return (
        f"“{setting.label}” had a value that is not allowed: it must be {setting.expected}. "
        f"It is back to its default, {setting.words(setting.default)}."
    )


def _read_and_back_up(file: Path) -> tuple[dict[str, object], list[str]]:
    good, notices = _read(file)
    if notices:
        shutil.copyfile(file, _backup_of(file))
    return good, notices


def _backup_of(file: Path) -> Path:
    return file.with_name(file.name + ".bak")


def _write(file: Path, values: Mapping[str, object]) -> None:
    """Replace the file in one step: a power cut leaves the old one or the new one."""
    descriptor, name = tempfile.mkstemp(prefix=f"{file.name}.", suffix=".tmp", dir=file.parent)
    temporary = Path(name)
    try:
        # ASCII escapes also carry file names that are not valid Unicode.
        with os.fdopen(descriptor, "w", encoding="ascii", newline="\n") as stream:
            json.dump(values, stream, indent=2)
            stream.write("\n")
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Keep other apps from saving in between; the system lets go when a process ends."""
    with file.with_name(f".{file.name}.lock").open("ab") as lock:
        if sys.platform == "win32":
            lock.seek(0)
            msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
            try:
                yield
            finally:
                lock.seek(0)
                msvcrt.locking(lock.fileno(), msvcrt.LK_UNLCK, 1)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
