"""What a user does in the window, and what they see there."""

import contextlib
import sqlite3
from collections.abc import Callable

import psutil
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from running_engine import guardians
from slipstream import paths
from slipstream.ui.app import Running

Start = Callable[[], Running]
Until = Callable[..., None]

STORY = "Tell me a story about a fox."
LONG = "Write the class Parser(object) in Python."


def send(running: Running, text: str) -> None:
    field = running.window.chat.composer.field
    field.setPlainText(text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def say(running: Running, until: Until, text: str) -> None:
    send(running, text)
    until(lambda: not running.window.conversation.busy)


def choose(button: QPushButton, title: str) -> None:
    """Choose from the menu of a button."""
    menu = button.menu()
    assert menu is not None
    next(action for action in menu.actions() if action.text() == title).trigger()


def page_text(running: Running) -> str:
    return running.window.chat.transcript.plain_text()


def notice(running: Running) -> str:
    shown = running.window.notices.notice
    return shown.text if shown is not None else ""


def kill_engines() -> None:
    """Kill what the app started: its guardians, and the engines below them."""
    for guardian in guardians():
        for each in (*guardian.children(recursive=True), guardian):
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()


def chats_database() -> sqlite3.Connection:
    """The file of chats, as another program opens it."""
    return sqlite3.connect(paths.chats_file(), isolation_level=None)
