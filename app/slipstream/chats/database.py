"""Open the file of chats safely, and say in plain words what is wrong with it."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from slipstream import paths
from slipstream.chats.migrations import migrate
from slipstream.errors import SlipstreamError

_WAIT_SECONDS = 5.0
"""How long a change waits for another app that is writing."""

_CHECKED_BYTES = 64 * 2**20
"""Files up to this size are read through when they are opened, which takes a tenth of a second."""


def open_database(file: Path) -> tuple[sqlite3.Connection, Path | None]:
    """Open the database, create it if there is none, bring an older one up to date.

    Returns: the connection, and where a damaged database was set aside, if it was.

    Raises: SlipstreamError, if it is from a newer version or cannot be opened.
    """
    with explained(file):
        try:
            return _connect(file), None
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if not _is_damage(error):
                raise
        aside = _set_aside(file)
        return _connect(file), aside


_EXPLANATIONS = {
    sqlite3.SQLITE_BUSY: (
        "chats_busy",
        "Another program keeps the file with your chats busy.",
        "Close other Slipstream windows and try again.",
    ),
    sqlite3.SQLITE_FULL: (
        "chats_disk_full",
        "The chat could not be saved because the disk is full.",
        "Free some space and try again.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "chats_damaged",
        "The file with your chats is damaged.",
        "Start Slipstream again: it keeps the damaged file and begins a new one.",
    ),
}
_OTHERWISE = (
    "chats_not_accessible",
    "The file with your chats could not be read or written.",
    "Check that its folder exists, is yours, and can be written to.",
)


@contextlib.contextmanager
def explained(file: Path) -> Iterator[None]:
    """Turn what SQLite says about the world into what we say to people."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.IntegrityError):
            raise  # a bug of ours
        code, message, action = _EXPLANATIONS.get(_primary_code(error), _OTHERWISE)
        raise SlipstreamError(
            code, message, facts={"path": str(file), "reason": str(error)}, action=action
        ) from error


def _connect(file: Path) -> sqlite3.Connection:
    # Its journals inherit the right to read it. Why it cannot be made, SQLite says better.
    with contextlib.suppress(OSError):
        paths.make_private(file)
    connection = sqlite3.connect(
        file, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        # One damaged title must not hide every chat.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA journal_mode = WAL")
        _check(connection, file)
        migrate(connection, file)
    except BaseException:
        connection.close()
        raise
    return connection


def _check(connection: sqlite3.Connection, file: Path) -> None:
    if file.stat().st_size > _CHECKED_BYTES:
        return
    ((verdict,),) = connection.execute("PRAGMA quick_check(1)").fetchall()
    if verdict != "ok":
        error = sqlite3.DatabaseError(verdict)
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error


def _is_damage(error: sqlite3.Error | UnicodeDecodeError) -> bool:
    # SQLite quotes a damaged schema in its message, which then is no text either.
    if isinstance(error, UnicodeDecodeError):
        return True
    return _primary_code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest is detail


def _set_aside(file: Path) -> Path:
    """Rename the database with its journals, which belong to it; returns the new name."""
    aside = file.with_name(f"{file.name}.damaged-{time.strftime('%Y-%m-%d')}")
    while aside.exists():
        aside = aside.with_name(f"{aside.name}-again")
    try:
        file.rename(aside)
        for suffix in ("-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                file.with_name(file.name + suffix).rename(aside.with_name(aside.name + suffix))
    except OSError as error:
        raise SlipstreamError(
            "chats_damaged",
            "The file with your chats is damaged and could not be set aside.",
            facts={"path": str(file), "reason": error.strerror},
            action="Close other Slipstream windows, or move the file away, and start again.",
        ) from error
    return aside
