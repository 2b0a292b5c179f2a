"""Standard streams that are closed, full, or have no reader any more: a short end, no traceback."""

import fcntl
import mmap
import os
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from command_line import COMMAND, Ended

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a shell and /dev/full")

CHAT = ["chat", "demo-small", "-p", "Tell me a story.", "--spec", "off", "--max-tokens", "40"]
CLOSED, FULL = (">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")


@pytest.fixture(autouse=True)
def no_engine_is_left(environment: dict[str, str]) -> Iterator[None]:
    yield
    home = environment["SLIPSTREAM_HOME"]
    assert [one for one in psutil.process_iter() if _home_of(one) == home] == []


def _home_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get("SLIPSTREAM_HOME")
    except psutil.Error:
        return None


def _run(environment: dict[str, str], arguments: list[str], redirection: str) -> Ended:
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {redirection}', COMMAND, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (CHAT, CLOSED),
        (CHAT, FULL),
        ([*CHAT, "--json"], FULL),
        (["doctor"], CLOSED),
        (["chat", "no.gguf", "-p", "hi", "--json"], FULL),
        (["--help"], FULL),
        (["--version"], CLOSED),
    ],
    ids=["text", "text on a full disk", "json", "table", "error", "help", "version"],
)
def test_output_that_cannot_be_written_is_one_line_and_no_success(
    environment: dict[str, str], arguments: list[str], output: tuple[str, str]
) -> None:
    redirection, reason = output
    ended = _run(environment, arguments, redirection)
    assert ended.code == 1
    *progress, last = ended.err.splitlines()
    assert last == f"The output could not be written: {reason}."
    assert all(line.endswith(" ...") for line in progress)


def almost_full_pipe() -> tuple[int, int, int]:
    """A pipe that takes a few words more: no reply is written whole before its reader goes."""
    reading, writing = os.pipe()
    size = fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, mmap.PAGESIZE)
    return reading, writing, os.write(writing, b"x" * (size - 64))


def waiting_in(pipe: int) -> int:
    """Bytes that were written and not read."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@pytest.mark.parametrize(
    "arguments",
    [CHAT, [*CHAT, "--pieces"], [*CHAT, "--json"], ["doctor"], ["--help"]],
    ids=["text", "pieces", "json", "table", "help"],
)
def test_a_reader_that_has_enough_ends_it_quietly(
    environment: dict[str, str], arguments: list[str]
) -> None:
    """As a broken pipe ends other programs: 128 and the number of SIGPIPE."""
    reading, writing, filled = almost_full_pipe()
    with subprocess.Popen(
        [COMMAND, *arguments], env=environment, stdout=writing, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(writing)
        if "chat" in arguments and "--json" not in arguments:
            while waiting_in(reading) == filled:
                assert process.poll() is None
                time.sleep(0.01)
        os.close(reading)
        assert process.stderr
        said = process.stderr.read().splitlines()
        assert process.wait(60) == 141
    assert all(line.endswith(" ...") for line in said)


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_results_do_not_depend_on_what_is_said_beside_them(
    environment: dict[str, str], redirection: str
) -> None:
    ended = _run(environment, CHAT, redirection)
    assert ended.code == 0
    assert ended.out.strip()


def test_closed_input_is_empty_input(environment: dict[str, str]) -> None:
    ended = _run(environment, ["chat", "demo"], "<&-")
    assert ended.code == 2
    assert "no text" in ended.err


def test_input_that_is_no_valid_text_is_read_as_far_as_it_is(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "text").write_bytes(b"Hi \xff")
    ended = _run(environment, ["chat", "demo-small", "--max-tokens", "2"], f"<{tmp_path}/text")
    assert (ended.code, bool(ended.out.strip())) == (0, True)


def test_with_every_stream_closed_nothing_worse_happens(environment: dict[str, str]) -> None:
    assert _run(environment, ["doctor"], "<&- >&- 2>&-").code == 1
