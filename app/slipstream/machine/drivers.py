"""What the drivers of graphics cards know, each asked in a process of its own with a time limit."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from slipstream.errors import SlipstreamError
from slipstream.machine import sysfs
from slipstream.machine.devices import Device, Found
from slipstream.machine.files import ROOT
from slipstream.machine.probe import decode

LIMIT_S = 3.0
"""Seconds that a driver has to answer; a healthy one needs a tenth of a second."""
_GRACE_S = 0.2
_LONGEST_ANSWER = 1 << 20
_NVIDIA_SIGNS = (
    "proc/driver/nvidia",
    "dev/nvidiactl",
    # Windows' driver as Linux inside Windows sees it
    "usr/lib/wsl/lib/libnvidia-ml.so.1",
)
_NAMES = {
    "nvidia": "The NVIDIA driver",
    "sysfs": "The driver of the graphics card",
    "apple": "The driver of Apple's graphics",
}


@dataclass(frozen=True)
class Drivers:
    """Devices by what their drivers say, and what could not be found out."""

    devices: tuple[Device, ...] = ()
    problems: tuple[SlipstreamError, ...] = ()


def read_drivers(root: Path = ROOT) -> Drivers:
    """Ask every driver that seems to be here; takes at most about ``LIMIT_S``, never raises.

    Args:
        root: where the system's files begin.
    """
    command = (sys.executable, "-P", "-m", "slipstream.machine.probe")
    return run_probes({name: (*command, name, str(root)) for name in _present(root)})


def run_probes(commands: Mapping[str, Sequence[str]], limit_s: float = LIMIT_S) -> Drivers:
    """Run the probes side by side, and end those that are too slow; never raises.

    Args:
        commands: a command line per driver; it prints what ``probe.encode`` gives.
        limit_s: seconds for all of them together.
    """
    devices: list[Device] = []
    problems: list[SlipstreamError] = []
    with contextlib.ExitStack() as stack:
        running = {}
        for name, command in commands.items():
            try:
                running[name] = stack.enter_context(_started(command))
            except OSError as error:
                problems.append(_problem(name, f"could not be asked: {error.strerror}"))
        deadline = time.monotonic() + limit_s
        for name, (process, output) in running.items():
            try:
                process.wait(max(0, deadline - time.monotonic()))
                found = _answer(process.returncode, output)
            except subprocess.TimeoutExpired:
                problems.append(_problem(name, "did not answer in time"))
            except ValueError as error:
                problems.append(_problem(name, str(error)))
            else:
                devices += found.devices
                problems += (_problem(name, reason) for reason in found.problems)
    return Drivers(tuple(devices), tuple(problems))


def _present(root: Path) -> Iterator[str]:
    """The drivers that seem to be here, so that a computer without any pays nothing."""
    if sys.platform == "win32":
        if Path(os.environ.get("SYSTEMROOT", r"C:\Windows"), "System32", "nvml.dll").exists():
            yield "nvidia"
    elif sys.platform == "darwin":
        yield "apple"
    else:
        if any((root / sign).exists() for sign in _NVIDIA_SIGNS):
            yield "nvidia"
        if sysfs.cards(root):
            yield "sysfs"


@contextlib.contextmanager
def _started(command: Sequence[str]) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """A process, and the file that its output goes to; a pipe could block it, or us."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        try:
            yield process, output
        finally:
            process.kill()
            # A process that waits for a broken driver may not end at all.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_S)


def _answer(status: int, output: IO[bytes]) -> Found:
    """Raises: ValueError, whose text is what the driver did instead of answering."""
    if status:
        raise ValueError(f"stopped the program that asked it (status {status})")
    output.seek(0)
    try:
        return decode(output.read(_LONGEST_ANSWER).decode())
    except ValueError as error:
        raise ValueError("gave an answer that cannot be read") from error


def _problem(name: str, reason: str) -> SlipstreamError:
    return SlipstreamError(
        "driver_unreadable",
        f"{_NAMES[name]} {reason}.",
        facts={"driver": name},
        action="Restart the computer; if this comes back, install the driver again.",
    )
