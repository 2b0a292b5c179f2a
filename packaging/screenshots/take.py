"""Takes the pictures of the README: the real window, the real engine, the demo model.

    python packaging/screenshots/take.py

Writes docs/chat.png and docs/chat-dark.png. Works without a screen too.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
SIZE = (1280, 800)
EARLIER = (
    "Tell me a story about an owl.",
    "Write a Python function named merge.",
    "What is speculative decoding?",
)
QUESTION = "Tell me a story about a fox."
DEADLINE = 60.0  # seconds


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["SLIPSTREAM_HOME"] = home
        if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
            os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        take_pictures()


def take_pictures() -> None:
    # Qt and the home are chosen by the environment above.
    from slipstream.chats.store import open_chats
    from slipstream.ui import app
    from slipstream.ui.engine_control import Phase
    from slipstream.ui.preferences import Preferences

    qt = app.application()

    def wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE
        while not condition():
            if time.monotonic() > deadline:
                sys.exit("The demo did not answer in time.")
            qt.processEvents()
            time.sleep(0.01)

    running = app.compose(Preferences(), open_chats())
    window = running.window
    window.resize(*SIZE)
    running.open()
    wait(lambda: running.control.phase is Phase.READY)
    running.preferences.set("show_drafted_tokens", True)
    for question in (*EARLIER, QUESTION):
        window.new_chat()
        window.conversation.send(question)
        wait(lambda: not window.conversation.busy and running.work.idle)
    for theme, name in (("light", "chat.png"), ("dark", "chat-dark.png")):
        running.preferences.set("theme", theme)
        qt.processEvents()
        window.grab().save(str(DOCS / name))
        print(DOCS / name)
    window.close()
    running.end()


if __name__ == "__main__":
    main()
