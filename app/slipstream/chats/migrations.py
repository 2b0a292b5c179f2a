"""The shape of the database of chats, as a list of steps that is only ever appended to.

A step that older versions of the app cannot live with is marked as breaking: they then refuse the
file politely. They read and write files that only have harmless further steps.
"""

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from slipstream import paths
from slipstream.errors import SlipstreamError


@dataclass(frozen=True)
class Step:
    """One change of the shape: SQL statements, and whether older apps must stay away after it."""

    name: str
    statements: tuple[str, ...]
    breaking: bool = False


STEPS: tuple[Step, ...] = (
    Step(
        "chats and messages",
        (
            """
            CREATE TABLE chats (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                title TEXT NOT NULL,
                created REAL NOT NULL,
                updated REAL NOT NULL,
                model TEXT,
                speculation TEXT NOT NULL,
                draft_tokens INTEGER NOT NULL,
                opened REAL NOT NULL DEFAULT 0,
                deleted REAL
            )
            """,
            """
            CREATE TABLE messages (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                chat_id INTEGER NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
                parent_id INTEGER REFERENCES messages (id) ON DELETE CASCADE,
                role TEXT NOT NULL,
                content TEXT NOT NULL,
                reasoning TEXT NOT NULL,
                pieces TEXT NOT NULL,
                numbers TEXT NOT NULL,
                spec TEXT NOT NULL,
                finish TEXT NOT NULL,
                created REAL NOT NULL
            )
            """,
            "CREATE INDEX messages_of_chat ON messages (chat_id)",
            "CREATE INDEX messages_by_parent ON messages (parent_id)",
        ),
        breaking=True,
    ),
    Step(
        "how a reply was speculated as JSON, no longer in words",
        ("UPDATE messages SET spec = '{}' WHERE NOT json_valid(spec)",),
    ),
)


def columns_after(count: int) -> dict[str, set[str]]:
    """The columns of every table after the first ``count`` steps."""
    with closing(sqlite3.connect(":memory:")) as empty:
        for step in STEPS[:count]:
            for statement in step.statements:
                empty.execute(statement)
        return columns(empty)


def columns(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """The columns of every table that a database has."""
    found: dict[str, set[str]] = {}
    for table, column in connection.execute(
        "SELECT tables.name, columns.name FROM sqlite_schema AS tables,"
        " pragma_table_info(tables.name) AS columns"
        " WHERE tables.type = 'table'"
    ):
        found.setdefault(table, set()).add(column)
    return found


def migrate(connection: sqlite3.Connection, file: Path, steps: tuple[Step, ...] = STEPS) -> None:
    """Bring the database to the newest shape, each step in a transaction of its own.

    Before a breaking step a copy of an existing database is kept beside it.

    Raises: SlipstreamError ``chats_from_newer_version``; sqlite3.Error.
    """
    connection.execute(
        "CREATE TABLE IF NOT EXISTS steps"
        " (number INTEGER PRIMARY KEY, name TEXT, breaking INTEGER, applied REAL)"
    )
    refuse_newer(connection, file, known=len(steps))
    for number, step in enumerate(steps, start=1):
        if applied(connection) >= number:
            continue
        if step.breaking and number > 1:
            _back_up(connection, file.with_name(f"{file.name}.before-step-{number}"))
        _apply(connection, number, step)


def applied(connection: sqlite3.Connection) -> int:
    """How many steps a database has gone."""
    (number,) = connection.execute("SELECT coalesce(max(number), 0) FROM steps").fetchone()
    return int(number)


def refuse_newer(connection: sqlite3.Connection, file: Path, known: int = len(STEPS)) -> None:
    """Raises: SlipstreamError ``chats_from_newer_version``, if it took a breaking step more."""
    newer = connection.execute(
        "SELECT name FROM steps WHERE number > ? AND breaking ORDER BY number", (known,)
    ).fetchone()
    if newer:
        raise SlipstreamError(
            "chats_from_newer_version",
            "Your chats were saved by a newer version of Slipstream, which this one cannot read.",
            facts={"path": str(file), "change": newer[0]},
            action="Update Slipstream to open them.",
        )


def _apply(connection: sqlite3.Connection, number: int, step: Step) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another app may have been faster.
        if applied(connection) < number:
            for statement in step.statements:
                connection.execute(statement)
            connection.execute(
                "INSERT INTO steps VALUES (?, ?, ?, ?)",
                (number, step.name, step.breaking, time.time()),
            )
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _back_up(connection: sqlite3.Connection, target: Path) -> None:
    target.unlink(missing_ok=True)
    paths.make_private(target)
    with closing(sqlite3.connect(target)) as copy:
        connection.backup(copy)
