"""Which other program holds the memory that is missing."""

import os
import subprocess
import sys

import psutil
import pytest

from slipstream.machine.devices import Device, Holder
from slipstream.machine.holders import (
    WORTH_CLOSING,
    largest_in_memory,
    largest_on,
    own_processes,
    private_bytes,
)

TAKES = 64 << 20
CODE = f"import sys; x = bytearray(b'x') * {TAKES}; print('ready', flush=True); sys.stdin.read()"


@pytest.fixture
def hoarder() -> "subprocess.Popen[bytes]":
    child = subprocess.Popen(
        [sys.executable, "-c", CODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout
    child.stdout.readline()
    return child


def test_what_a_process_holds_for_itself_is_measured(hoarder: "subprocess.Popen[bytes]") -> None:
    with hoarder:
        held = private_bytes(psutil.Process(hoarder.pid))
        assert hoarder.pid in own_processes()
        hoarder.communicate()
    assert TAKES <= held < 3 * TAKES


def test_our_own_processes_are_nobodys_to_close() -> None:
    assert os.getpid() in own_processes()
    largest = largest_in_memory()
    if largest is not None:
        assert largest.bytes >= WORTH_CLOSING
        assert largest.pid not in own_processes()


def card(*holders: Holder) -> Device:
    return Device("0", "Card", "NVIDIA", 24 << 30, 1 << 30, unified=False, holders=holders)


def test_the_processes_of_one_program_count_together() -> None:
    game = Holder("game", 2_000_001, 3 << 30)
    tabs = [Holder("browser", 2_000_010 + n, 2 << 30) for n in range(2)]
    ours = Holder("python", os.getpid(), 9 << 30)
    assert largest_on([card(game, tabs[0], ours), card(tabs[1])]) == Holder(
        "browser", 2_000_010, 4 << 30
    )


def test_who_holds_little_is_not_named() -> None:
    assert largest_on([card(Holder("clock", 2_000_001, WORTH_CLOSING - 1))]) is None
    assert largest_on([]) is None
