"""Runs one engine and ends it when the app ends, however the app ends.

A program of its own that uses only the standard library: ``python -I -S guardian.py -- ENGINE...``.
Its standard input is a pipe held by the app. When that pipe closes (the app asked, or died) or
SIGTERM arrives, the engine is asked to stop, then terminated, then killed. The engine inherits
standard output and error. The guardian ends with the engine's exit status, or as shells do with 128
and the signal that ended it; a guardian that is itself ended by a signal is thereby told apart.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

ASK_SECONDS = 1.2
"""Time to stop by itself: an engine has nothing to save, but a GPU driver likes a clean end."""
TERMINATE_SECONDS = 0.3
CANNOT_RUN = 126
NOT_FOUND = 127
"""Exit statuses of a program that cannot be started, as shells use them."""

EXIT_COMMAND = b"cmd_router_to_child:exit\n"
"""What llama-server, run as a child (LLAMA_SERVER_ROUTER_PORT), takes as the order to stop."""
_PR_SET_PDEATHSIG = 1


def main(command: list[str]) -> int:
    """Run ``command`` until it ends; returns its status as ``subprocess`` tells it."""
    if os.name == "posix":
        _forbid_core_dumps()
    try:
        engine = _start(command)
    except FileNotFoundError as error:
        print(f"cannot start the engine: {error}", file=sys.stderr)  # noqa: T201
        return NOT_FOUND
    except OSError as error:
        print(f"cannot start the engine: {error}", file=sys.stderr)  # noqa: T201
        return CANNOT_RUN

    def end(*_: Any) -> None:
        threading.Thread(target=_end, args=(engine,), daemon=True).start()

    signal.signal(signal.SIGTERM, end)
    terminated = _is_terminated_at_end_of_input(engine)
    threading.Thread(target=_end_with_input, args=(engine, terminated), daemon=True).start()
    status = engine.wait()
    _signal_group(engine, "SIGKILL")
    return status


def _start(command: list[str]) -> "subprocess.Popen[bytes]":
    """The engine as leader of its own process group, with a pipe as its standard input."""
    if os.name != "posix":
        return subprocess.Popen(command, stdin=subprocess.PIPE)
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, process_group=0, preexec_fn=_dies_with_guardian()
    )


def _dies_with_guardian() -> Callable[[], None] | None:
    """On Linux: what the child does before it runs the engine, to be killed if the guardian is.

    The signal belongs to the thread that starts the child; that is the main thread here.
    """
    if sys.platform != "linux":
        return None
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    guardian = os.getpid()

    def in_child() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guardian:
            os._exit(1)

    return in_child


def _is_terminated_at_end_of_input(engine: "subprocess.Popen[bytes]") -> bool:
    """On Linux: have the kernel send SIGTERM to the engine's group when our input closes.

    Then the engine ends with the app even while the guardian is stopped (SIGSTOP). fcntl(2).
    """
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        fcntl.fcntl(0, fcntl.F_SETOWN, -engine.pid)
        fcntl.fcntl(0, fcntl.F_SETSIG, signal.SIGTERM)
        fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    except OSError:
        return False
    return True


def _end_with_input(engine: "subprocess.Popen[bytes]", terminated: bool) -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    _end(engine, terminated)


def _end(engine: "subprocess.Popen[bytes]", terminated: bool = False) -> None:
    """Ask, terminate, kill; a second SIGTERM would make llama-server skip its clean end."""
    with contextlib.suppress(OSError):
        os.write(engine.stdin.fileno(), EXIT_COMMAND)  # type: ignore[union-attr]
    with contextlib.suppress(OSError):
        engine.stdin.close()  # type: ignore[union-attr]
    if not terminated:
        _signal_group(engine, "SIGTERM")
    if _ended(engine, ASK_SECONDS):
        return
    engine.terminate()
    if _ended(engine, TERMINATE_SECONDS):
        return
    _signal_group(engine, "SIGKILL")
    engine.kill()


def _ended(engine: "subprocess.Popen[bytes]", seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        # The main thread reaps it: only look, never wait here.
        if engine.returncode is not None:
            return True
        time.sleep(0.02)
    return False


def _signal_group(engine: "subprocess.Popen[bytes]", name: str) -> None:
    """Signal the engine and whatever it started (an engine may be a wrapper script)."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(engine.pid, getattr(signal, name))


def _forbid_core_dumps() -> None:
    """A crash must not write gigabytes of model to the disk; inherited by the engine."""
    import resource

    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def exit_code(status: int) -> int:
    """What to end with for the engine's ``status``, as ``subprocess`` tells it."""
    if status < 0:
        return 128 - status
    # Windows statuses (0xC0000005) are unsigned, C's exit takes a signed number.
    return status - (1 << 32) if status > 0x7FFFFFFF else status


if __name__ == "__main__":
    code = exit_code(main(sys.argv[sys.argv.index("--") + 1 :]))
    sys.stderr.flush()
    os._exit(code)  # threads that still wait must not hold it
