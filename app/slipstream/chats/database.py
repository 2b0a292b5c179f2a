"""Open the file of chats safely, and say in plain words what is wrong with it."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from slipstream import paths
from slipstream.chats.migrations import applied, columns, columns_after, migrate, refuse_newer
from slipstream.errors import SlipstreamError

_WAIT_SECONDS = 5.0
"""How long a change waits for another app that is writing."""

_CHECKED_BYTES = 16 * 2**20
"""Files up to this size are read through when they are opened, which takes a tenth of a second."""

_NOT_WRITABLE = frozenset(
    {
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
    }
)
"""What SQLite says where it may still be able to read."""

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


@dataclass(frozen=True)
class Database:
    """An open database.

    Attributes:
        connection: to it, or to a copy in memory if it cannot be written.
        aside: where a damaged one was set aside; None if it was not damaged.
        read_only: why it cannot be written, in SQLite's words; empty if it can.
    """

    connection: sqlite3.Connection
    aside: Path | None = None
    read_only: str = ""


def open_database(file: Path) -> Database:
    """Open the database, create it if there is none, bring an older one up to date.

    Raises: SlipstreamError, if it is from a newer version or cannot be opened.
    """
    with explained(file):
        try:
            return _open(file)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if not _is_damage(error):
                raise
        aside = _set_aside(file)
        return Database(_connect(file), aside)


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


def _open(file: Path) -> Database:
    try:
        return Database(_connect(file))
    except sqlite3.DatabaseError as error:
        if _primary_code(error) not in _NOT_WRITABLE:
            raise
        return Database(_copy_in_memory(file, error), read_only=str(error))


def _connect(file: Path) -> sqlite3.Connection:
    if paths.is_other(file):  # SQLite would wait for what a pipe brings
        raise sqlite3.OperationalError("it is not a file")
    # Its journals inherit the right to read it. Why it cannot be made, SQLite says better.
    with contextlib.suppress(OSError):
        paths.make_private(file)
    connection = sqlite3.connect(
        file, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        _prepare(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA journal_mode = WAL")
        _check(connection, file)
        migrate(connection, file)
        connection.execute("DELETE FROM steps WHERE false")  # fails where nothing can be written
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    # One damaged title must not hide every chat.
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # what is deleted is not to be found any more


def _copy_in_memory(file: Path, error: Exception) -> sqlite3.Connection:
    """A database that can be read but not written; what is changed in the copy is not kept.

    Raises: ``error``, if the file cannot be read either.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        with closing(_open_to_read(file)) as source:
            source.backup(connection)
        _prepare(connection)
        _check(connection, file)
        migrate(connection, file)
    except (OSError, sqlite3.DatabaseError, UnicodeDecodeError):
        # What looks damaged here may only have been written to while it was copied.
        connection.close()
        raise error from None
    except BaseException:
        connection.close()
        raise
    return connection


def _open_to_read(file: Path) -> sqlite3.Connection:
    """Raises: OSError; sqlite3.OperationalError.

    A reader makes the files of the journal, too, unless it may take the file as unchanging
    (https://sqlite.org/wal.html#readonly). It may if nothing is left in the journal.
    """
    journal = file.with_name(f"{file.name}-wal")
    unchanging = not journal.exists() or not journal.stat().st_size
    address = f"file:{quote(os.fsencode(file.absolute()))}?mode=ro"
    return sqlite3.connect(f"{address}&immutable=1" if unchanging else address, uri=True)


def _check(connection: sqlite3.Connection, file: Path) -> None:
    """Raises: sqlite3.DatabaseError ``SQLITE_CORRUPT``, if the database is damaged."""
    if file.stat().st_size <= _CHECKED_BYTES:
        ((verdict,),) = connection.execute("PRAGMA integrity_check(1)").fetchall()
        if verdict != "ok":
            raise _damage(verdict)
    _check_shape(connection, file)


def _check_shape(connection: sqlite3.Connection, file: Path) -> None:
    """A damaged name in the schema passes every check of SQLite's own."""
    try:
        with _at_one_moment(connection):
            found = columns(connection)
            wanted = {}
            if "steps" in found:
                refuse_newer(connection, file)
                wanted = columns_after(applied(connection))
    except sqlite3.OperationalError as error:
        if _primary_code(error) != sqlite3.SQLITE_ERROR:
            raise
        raise _damage(str(error)) from error
    lost = [table for table, names in wanted.items() if not names <= found.get(table, set())]
    if lost or (not wanted and {"chats", "messages"} & set(found)):
        raise _damage("the shape of the database is damaged")


@contextlib.contextmanager
def _at_one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    """Another app may be bringing the database up to date."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:  # SQLite may have ended it over an error
            connection.execute("COMMIT")


def _damage(reason: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(reason)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _is_damage(error: sqlite3.Error | UnicodeDecodeError) -> bool:
    # SQLite quotes a damaged schema in its message, which then is no text either. A number of
    # the file's format that it does not know it reports as an ordinary error.
    if isinstance(error, UnicodeDecodeError) or str(error) == "unsupported file format":
        return True
    return _primary_code(error) in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_TOOBIG,
    )


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
