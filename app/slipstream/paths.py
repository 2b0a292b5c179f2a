"""Where things are: the app's own data, and the resources it ships.

``SLIPSTREAM_HOME`` moves all of the app's own data into one folder. Only the user can read it:
chats are in it.
"""

import errno
import os
import stat
from pathlib import Path

import platformdirs

from slipstream.errors import SlipstreamError
from slipstream.words import in_a_line

_APP = "slipstream"


def _own(kind: str) -> Path:
    """The folder for one kind of data, created if it is missing.

    Raises: SlipstreamError ``home_not_writable``.
    """
    home = os.environ.get("SLIPSTREAM_HOME")
    try:
        folder = Path(home).expanduser() / kind if home else _system(kind)
    except RuntimeError as error:  # there is no home folder
        raise _not_made(home, str(error)) from error
    return _made(folder)


def _made(folder: Path) -> Path:
    """A folder of the user's alone, created if it is missing.

    Raises: SlipstreamError ``home_not_writable``.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        path = str(error.filename or folder)
        raise _not_made(path, error.strerror or str(error)) from error
    return folder


def _not_made(path: str | None, reason: str) -> SlipstreamError:
    return SlipstreamError(
        "home_not_writable",
        "The folder for Slipstream's own data could not be made.",
        facts={"path": path, "reason": reason},
        action="Make the folder writable, or set SLIPSTREAM_HOME to one that is.",
    )


def _system(kind: str) -> Path:
    folders = {
        "config": platformdirs.user_config_path,
        "data": platformdirs.user_data_path,
        "cache": platformdirs.user_cache_path,
        "logs": platformdirs.user_log_path,
    }
    return folders[kind](_APP, appauthor=False)


def settings_file() -> Path:
    """The settings, one JSON file."""
    return _own("config") / "settings.json"


def window_file() -> Path:
    """Geometry of the window: state, not a setting."""
    return _own("config") / "window.json"


def chats_file() -> Path:
    """The database of chats."""
    return _own("data") / "chats.sqlite3"


def predictions_file() -> Path:
    """What launches took beside what was predicted, one JSON object per line."""
    return _own("data") / "predictions.jsonl"


def pairs_file() -> Path:
    """Which drafter the user chose for a model, and those that were fetched for it; JSON."""
    return _own("data") / "pairs.json"


def models_file() -> Path:
    """What the user chose for each model; JSON."""
    return _own("data") / "models.json"


def verdicts_file() -> Path:
    """What running models with their drafters showed; JSON."""
    return _own("data") / "verdicts.json"


def gains_file() -> Path:
    """How much faster drafters made models, as far as that was measured; JSON."""
    return _own("data") / "gains.json"


def tuned_file() -> Path:
    """The way to speculate that was found best for each model; JSON."""
    return _own("data") / "tuned.json"


def comparisons_folder() -> Path:
    """The comparisons that were made, a JSON file each."""
    return _made(_own("data") / "comparisons")


def uses_file() -> Path:
    """When each model was last used; JSON."""
    return _own("data") / "uses.json"


def downloads_folder() -> Path:
    """The downloads that are not finished, one JSON file each, and who is at them.

    Raises: SlipstreamError ``home_not_writable``.
    """
    return _made(_own("data") / "downloads")


def cache_folder() -> Path:
    """What can be deleted at any time: what engines can do, parsed headers."""
    return _own("cache")


def log_folder() -> Path:
    """Logs of the app and of the engines."""
    return _own("logs")


def is_path(text: str) -> bool:
    """Whether the system could have a file of this name: no null character, no half characters."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return "\0" not in text and bool(text.strip())


def is_text(path: Path) -> bool:
    """Whether a path is valid text; names on disk may be any bytes, and an engine takes text."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(path: Path | str) -> str:
    """A path or name as text that can be shown in a line, whatever it is made of: what is no text,
    breaks the line or turns the text round it the other way is written as an escape."""
    return in_a_line(str(path))


def expanded(path: Path) -> Path:
    """The path with ``~`` replaced by the home folder, if there is one."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def real(path: Path) -> Path:
    """What a path leads to through all its links; the path itself, if that cannot be found out."""
    try:
        return Path(os.path.realpath(path))
    except OSError:
        return path


def make_private(file: Path) -> None:
    """Create a file, if there is none, that only the user can read.

    Raises: OSError, also where something else has its place: who opens a pipe to add to it waits
        for ever.
    """
    number = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.EINVAL, "it is not a file", str(file))
    finally:
        os.close(number)


def is_other(file: Path) -> bool:
    """Whether something that is no file has its place."""
    return file.exists() and not file.is_file()


def resources() -> Path:
    """The folder of icons, fonts, the demo model: inside the package, or beside the source."""
    package = Path(__file__).parent
    installed = package / "resources"
    return installed if installed.is_dir() else package.parents[1] / "resources"
