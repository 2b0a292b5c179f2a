"""The file of settings: read without ever failing, saved without undoing another app's work.

The file is JSON with the changed keys only. What is damaged in it is reset, kept in a ``.bak``
beside it, and reported. Saving changes only the keys that were changed, so two running apps do not
undo each other's changes and keys of a newer version survive.
"""

import contextlib
import errno
import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from slipstream import paths
from slipstream.errors import SlipstreamError
from slipstream.settings.declaration import Setting, Settings, Value, by_key
from slipstream.small_files import write_text

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_PATIENCE = 2.0
"""Seconds that another app's saving is waited for."""


@dataclass(frozen=True)
class LoadResult:
    """The settings, and a sentence about each thing that had to be reset."""

    settings: Settings
    notices: tuple[str, ...] = ()


def load() -> LoadResult:
    """Read the settings; whatever is wrong with the file, there are settings afterwards."""
    try:
        file = paths.real(paths.settings_file())
        stored, notices = _read(file)
    except SlipstreamError as error:
        return LoadResult(Settings(), (f"{error.message} The default settings are used.",))
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
        file = paths.real(paths.settings_file())
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
    setting = by_key()[key]
    try:
        return setting.check(value)
    except ValueError as error:
        raise SlipstreamError(
            "setting_not_allowed",
            f"{setting.label} must be {setting.expected}.",
            facts={"setting": key, "value": str(value)},
            action="Choose another value.",
        ) from error


def _typed(stored: Mapping[str, object]) -> Settings:
    known: dict[str, Any] = {key: value for key, value in stored.items() if key in by_key()}
    return Settings(**known)


def _read(file: Path) -> tuple[dict[str, object], list[str]]:
    """Return what is good in the file, unknown keys included, and sentences about the rest.

    Raises: OSError, if there is a file that cannot be read.
    """
    if paths.is_other(file):
        raise OSError(errno.EINVAL, "it is not a file", str(file))
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
        setting = by_key().get(key)
        try:
            good[key] = setting.check(value) if setting else value
        except ValueError:
            notices.append(_reset_notice(by_key()[key]))
    return good, notices


def _reset_notice(setting: Setting) -> str:
    return (
        f"“{setting.label}” had a value that is not allowed: it must be {setting.expected}. "
        f"It is back to its default, {setting.words(setting.default)}."
    )


def _read_and_back_up(file: Path) -> tuple[dict[str, object], list[str]]:
    good, notices = _read(file)
    if notices:
        paths.make_private(_backup_of(file))
        _backup_of(file).write_bytes(file.read_bytes())
    return good, notices


def _backup_of(file: Path) -> Path:
    return file.with_name(file.name + ".bak")


def _write(file: Path, values: Mapping[str, object]) -> None:
    # The ASCII escapes of JSON also carry file names that are not valid Unicode.
    write_text(file, json.dumps(values, indent=2) + "\n")


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Keep other apps from saving in between; the system lets go when a process ends.

    Raises: OSError, if another one does not let go.
    """
    name = file.with_name(f".{file.name}.lock")
    paths.make_private(name)
    deadline = time.monotonic() + _PATIENCE
    with name.open("ab") as lock:
        while not _try_lock(lock):
            if time.monotonic() > deadline:
                raise OSError(errno.EBUSY, "another program keeps them locked", str(file))
            time.sleep(0.02)
        try:
            yield
        finally:
            if sys.platform == "win32":
                lock.seek(0)
                msvcrt.locking(lock.fileno(), msvcrt.LK_UNLCK, 1)


def _try_lock(lock: IO[bytes]) -> bool:
    try:
        if sys.platform == "win32":
            lock.seek(0)
            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            raise
        return False
    return True
