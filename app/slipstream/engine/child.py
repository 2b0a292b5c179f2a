"""Starting and ending a guarded engine process: the one way this app runs engines."""

import contextlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import BinaryIO, cast

import psutil

from slipstream.engine.environment import guardian_command


class Child:
    """An engine under its guardian (``guardian.py``), whose standard input pipe we hold.

    Attributes:
        output: the read end of its standard output and error.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._guardian = subprocess.Popen(
            guardian_command(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            bufsize=0,
            # Ctrl+C in the terminal is for the app; the app then ends its engines.
            start_new_session=os.name == "posix",
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self.output = cast(BinaryIO, self._guardian.stdout)

    @property
    def pid(self) -> int:
        """The guardian's process id; the engine is its only child."""
        return self._guardian.pid

    def status(self) -> int | None:
        """None while it runs; else the exit status, 128 and the signal that ended the engine, or
        minus the signal that ended its guardian.
        """
        return self._guardian.poll()

    def wait(self, seconds: float) -> int | None:
        """Wait up to ``seconds`` for its end; returns ``status``."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._guardian.wait(seconds)
        return None

    def ask_to_end(self) -> None:
        """Let the guardian end the engine, by force after a moment. Does not wait."""
        stdin = self._guardian.stdin
        with contextlib.suppress(OSError):
            cast(BinaryIO, stdin).close()

    def kill(self) -> None:
        """End the engine and its guardian at once, and wait for that."""
        # Asked first who they are: what an engine started outlives it, and is nobody's child then.
        started: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            started = psutil.Process(self.pid).children(recursive=True)
        self.ask_to_end()
        for process in started:
            with contextlib.suppress(psutil.Error):
                process.kill()
        self._guardian.kill()
        self._guardian.wait()
