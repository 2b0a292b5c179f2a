"""Runs one engine and ends it when the app ends, however the app ends.

A program of its own that uses only the standard library: ``python -I -S guardian.py -- ENGINE...``.
Its standard input is a pipe held by the app. When that pipe closes (the app asked, or died) or
SIGTERM arrives, the engine is asked to stop, then terminated, then killed. The engine inherits
standard output and error. The guardian ends with the engine's own exit status or signal.
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
    threading.Thread(target=_wait_for_end_of_input, args=(end,), daemon=True).start()
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


def _wait_for_end_of_input(end: Callable[[], None]) -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    end()


def _end(engine: "subprocess.Popen[bytes]") -> None:
    """Ask, terminate, kill."""
    with contextlib.suppress(OSError):
        os.write(engine.stdin.fileno(), EXIT_COMMAND)  # type: ignore[union-attr]
    with contextlib.suppress(OSError):
        engine.stdin.close()  # type: ignore[union-attr]
    if os.name == "posix":
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


def leave(status: int) -> None:
    """End as the engine ended: by the same signal, or with the same exit status."""
    sys.stderr.flush()
    if status < 0:
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    # Windows statuses (0xC0000005) are unsigned, C's exit takes a signed number.
    os._exit(status - (1 << 32) if status > 0x7FFFFFFF else status)


if __name__ == "__main__":
    leave(main(sys.argv[sys.argv.index("--") + 1 :]))
