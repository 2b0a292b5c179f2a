"""The chats and their messages, kept in one SQLite file.

Every change is on the disk when its method returns, so a crash or a power cut loses at most what
was not saved yet. Several apps may use the same file at once.
"""

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipstream import paths
from slipstream.chats.database import explained, open_database
from slipstream.chats.records import Chat, Message, Span, title_of
from slipstream.errors import SlipstreamError

_CHAT = "id, title, created, updated, model, speculation, draft_tokens"
_MESSAGE = (
    "id, chat_id, parent_id, role, content, reasoning, pieces, numbers, spec, finish, created"
)

DELETED_FOR = 30 * 24 * 3600.0
"""Seconds that a deleted chat is kept."""


@dataclass(frozen=True)
class Opened:
    """The store, and a sentence about each thing that went wrong on the way."""

    store: "ChatStore"
    notices: tuple[str, ...] = ()


def open_chats(file: Path | None = None) -> Opened:
    """Open the chats (the app's own file, if no other is given).

    A damaged file is set aside under another name, never deleted, and a new one is made. Of a file
    that cannot be written, the store is a copy in memory.

    Raises: SlipstreamError, if its folder cannot be made, it is from a newer version or cannot be
    opened.
    """
    file = file or paths.chats_file()
    database = open_database(file)
    store = ChatStore(database.connection, file)
    notices = []
    if database.aside is not None:
        notices.append(
            "The file with your chats was damaged and could not be read. "
            f"It is kept as {database.aside.name}, and new chats go into a new file."
        )
    if database.read_only:
        notices.append(
            "The file with your chats can be read but not written "
            f"({database.read_only}). New messages are not kept after you close Slipstream."
        )
    return Opened(store, tuple(notices))


class ChatStore:
    """Chats and their messages; may be used from any thread, one change at a time."""

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection = connection
        self._file = file
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def create_chat(
        self,
        *,
        title: str = "",
        model: str | None = None,
        speculation: str = "auto",
        draft_tokens: int = 0,
    ) -> Chat:
        """Add an empty chat; without a title it gets one from the user's first message."""
        now = time.time()
        values = (_clean(title), now, now, model, speculation, draft_tokens)
        with self._changing() as database:
            row = database.execute(
                "INSERT INTO chats (title, created, updated, model, speculation, draft_tokens)"
                f" VALUES (?, ?, ?, ?, ?, ?) RETURNING {_CHAT}",
                values,
            ).fetchone()
        return Chat(*row)

    def chat(self, chat_id: int) -> Chat:
        """One chat. Raises: SlipstreamError ``chat_not_found``, also if it was deleted."""
        rows = self._read(f"SELECT {_CHAT} FROM chats WHERE id = ? AND deleted IS NULL", chat_id)
        if not rows:
            raise _not_found(chat_id)
        return Chat(*rows[0])

    def list_chats(self) -> list[Chat]:
        """Every chat that is not deleted, the one with the newest message first."""
        rows = self._read(
            f"SELECT {_CHAT} FROM chats WHERE deleted IS NULL ORDER BY updated DESC, id DESC"
        )
        return [Chat(*row) for row in rows]

    def update_chat(
        self,
        chat_id: int,
        *,
        title: str | None = None,
        model: str | None = None,
        speculation: str | None = None,
        draft_tokens: int | None = None,
    ) -> None:
        """Change what is given; None leaves a value as it is."""
        changes = {
            "title": None if title is None else _clean(title),
            "model": model,
            "speculation": speculation,
            "draft_tokens": draft_tokens,
        }
        self._update("chats", chat_id, changes)

    def set_title(self, chat_id: int, title: str) -> None:
        """Give the chat a title of the user's own."""
        self.update_chat(chat_id, title=title)

    def delete_chat(self, chat_id: int) -> None:
        """Hide the chat; ``restore_chat`` brings it back until it is purged."""
        self._update("chats", chat_id, {"deleted": time.time()})

    def restore_chat(self, chat_id: int) -> None:
        """Bring a deleted chat back."""
        with self._changing() as database:
            database.execute("UPDATE chats SET deleted = NULL WHERE id = ?", (chat_id,))

    def purge_deleted(self, older_than: float = DELETED_FOR) -> int:
        """Remove for good what was deleted more than ``older_than`` seconds ago; returns chats."""
        before = time.time() - older_than
        if not self._read("SELECT 1 FROM chats WHERE deleted < ? LIMIT 1", before):
            return 0
        with self._changing() as database:
            return database.execute("DELETE FROM chats WHERE deleted < ?", (before,)).rowcount

    def mark_opened(self, chat_id: int) -> None:
        """Remember that the user looks at this chat now."""
        self._update("chats", chat_id, {"opened": time.time()})

    def last_open_chat(self) -> Chat | None:
        """The chat that was looked at last and is not deleted."""
        rows = self._read(
            f"SELECT {_CHAT} FROM chats WHERE deleted IS NULL AND opened > 0"
            " ORDER BY opened DESC, id DESC LIMIT 1"
        )
        return Chat(*rows[0]) if rows else None

    def messages(self, chat_id: int) -> list[Message]:
        """The conversation, first message first: the branch that ends in the newest message."""
        rows = self._read(
            f"""
            WITH RECURSIVE branch AS (
                SELECT * FROM messages
                WHERE id = (SELECT max(id) FROM messages WHERE chat_id = ?)
                UNION ALL
                SELECT messages.* FROM messages JOIN branch ON messages.id = branch.parent_id
            )
            SELECT {_MESSAGE} FROM branch ORDER BY id
            """,
            chat_id,
        )
        return [_message(row) for row in rows]

    def add_message(
        self, chat_id: int, role: str, content: str = "", *, after: int | None = None
    ) -> Message:
        """Add a message after another one, or at the end of the conversation.

        Adding after a message that already has a reply starts a new branch: what was there stays
        in the file and is no longer part of the conversation.

        Raises: SlipstreamError ``chat_not_found``, and if it cannot be saved.
        """
        content, now = _clean(content), time.time()
        with self._changing() as database:
            title = title_of(content) if role == "user" else ""
            known = database.execute(
                "UPDATE chats SET updated = ?, title = iif(title = '', ?, title) WHERE id = ?",
                (now, title, chat_id),
            ).rowcount
            if not known:
                raise _not_found(chat_id)
            row = database.execute(
                "INSERT INTO messages (chat_id, parent_id, role, content, created,"
                " reasoning, pieces, numbers, spec, finish)"
                " VALUES (?, coalesce(?, (SELECT max(id) FROM messages WHERE chat_id = ?)),"
                f" ?, ?, ?, '', '[]', '{{}}', '{{}}', '') RETURNING {_MESSAGE}",
                (chat_id, after, chat_id, role, content, now),
            ).fetchone()
        return _message(row)

    def update_message(
        self,
        message_id: int,
        *,
        content: str | None = None,
        reasoning: str | None = None,
        pieces: Sequence[Span] | None = None,
        numbers: Mapping[str, object] | None = None,
        spec: Mapping[str, object] | None = None,
        finish: str | None = None,
    ) -> None:
        """Save a reply while it is written and at its end; None leaves a value as it is."""
        changes = {
            "content": None if content is None else _clean(content),
            "reasoning": None if reasoning is None else _clean(reasoning),
            "pieces": None if pieces is None else json.dumps(pieces, separators=(",", ":")),
            "numbers": None if numbers is None else json.dumps(numbers),
            "spec": None if spec is None else json.dumps(spec),
            "finish": finish,
        }
        self._update("messages", message_id, changes)

    def _update(self, table: str, key: int, changes: Mapping[str, object]) -> None:
        given = {column: value for column, value in changes.items() if value is not None}
        if not given:
            return
        assignments = ", ".join(f"{column} = ?" for column in given)
        with self._changing() as database:
            found = database.execute(
                f"UPDATE {table} SET {assignments} WHERE id = ?", (*given.values(), key)
            ).rowcount
        if not found:
            raise _not_found(key)

    def _read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock, explained(self._file):
            return self._connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that has the right to write from its start, so it cannot deadlock."""
        with self._lock, explained(self._file):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def _message(row: tuple[Any, ...]) -> Message:
    values = dict(zip(_MESSAGE.split(", "), row, strict=True))
    try:
        for column in ("pieces", "numbers", "spec"):
            values[column] = json.loads(values[column])
        values["pieces"] = tuple((length, drafter) for length, drafter in values["pieces"])
    except (ValueError, TypeError) as error:
        raise SlipstreamError(
            "chat_damaged",
            "This chat is damaged and could not be read.",
            facts={"message": values["id"], "reason": str(error)},
            action="Open another chat, or start a new one.",
        ) from error
    return Message(**values)


def _clean(text: str) -> str:
    """Replace halves of characters (they come from pasted text), which SQLite refuses."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _not_found(key: int) -> SlipstreamError:
    return SlipstreamError(
        "chat_not_found",
        "This chat does not exist any more.",
        facts={"id": key},
        action="Start a new chat.",
    )
