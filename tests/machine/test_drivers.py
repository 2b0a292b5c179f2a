import json
import os
import sys
import time
from pathlib import Path

import pytest

from slipstream.machine.devices import Device, Found, Holder
from slipstream.machine.drivers import LIMIT_S, Drivers, read_drivers, run_probes
from slipstream.machine.probe import decode, encode

CARD = Device(
    id="0000:01:00.0",
    name="NVIDIA GeForce RTX 4090",
    backend="NVIDIA",
    total=24 << 30,
    free=20 << 30,
    unified=False,
    holders=(Holder("game", 7, 4 << 30),),
    pci="0000:01:00.0",
)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def answering(found: Found) -> list[str]:
    return python(f"print({encode(found)!r})")


def reasons(drivers: Drivers) -> list[str]:
    return [problem.message for problem in drivers.problems]


def test_this_computer_s_drivers_answer_in_time() -> None:
    started = time.monotonic()
    drivers = read_drivers()
    assert time.monotonic() - started < LIMIT_S + 3
    assert all(device.pci or device.unified for device in drivers.devices)


def test_a_computer_without_cards_starts_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("subprocess.Popen", None)
    assert read_drivers(tmp_path) == Drivers()


def test_what_a_driver_knows_comes_out_of_its_process() -> None:
    assert run_probes({"nvidia": answering(Found((CARD,)))}) == Drivers((CARD,))


def test_what_a_driver_could_not_do_becomes_a_problem() -> None:
    drivers = run_probes({"nvidia": answering(Found((CARD,), ("cannot read card 0: lost",)))})
    assert drivers.devices == (CARD,)
    assert reasons(drivers) == ["The NVIDIA driver cannot read card 0: lost."]
    assert drivers.problems[0].action


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os; os.abort()", "stopped the program that asked it"),
        ("raise SystemExit(3)", "stopped the program that asked it (status 3)"),
        ("print('NVRM: hello')", "gave an answer that cannot be read"),
        ("import sys; sys.stdout.buffer.write(bytes([255]))", "cannot be read"),
        ("print('[]')", "cannot be read"),
        ('print(\'{"devices": [{"id": 1}], "problems": []}\')', "cannot be read"),
        ("print('[' * 100000)", "cannot be read"),
        ("pass", "cannot be read"),
    ],
)
def test_a_driver_that_misbehaves_is_a_sentence(code: str, reason: str) -> None:
    drivers = run_probes({"nvidia": python(code), "sysfs": answering(Found((CARD,)))})
    assert drivers.devices == (CARD,)
    (message,) = reasons(drivers)
    assert message.startswith("The NVIDIA driver ")
    assert reason in message


def test_a_program_that_cannot_start_is_a_sentence(tmp_path: Path) -> None:
    drivers = run_probes({"apple": [str(tmp_path / "missing")]})
    assert reasons(drivers) == [
        "The driver of Apple's graphics could not be asked: No such file or directory."
    ]


def test_a_driver_that_hangs_is_ended_and_does_not_take_the_others_along(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    hanging = (
        f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"
    )
    started = time.monotonic()
    drivers = run_probes({"nvidia": python(hanging), "sysfs": answering(Found((CARD,)))}, 1.5)
    assert time.monotonic() - started < 10
    assert drivers.devices == (CARD,)
    assert reasons(drivers) == ["The NVIDIA driver did not answer in time."]
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has these files")
class TestTheFilesOfLinux:
    def card(self, root: Path) -> Path:
        folder = root / "sys/class/drm/card0/device"
        folder.mkdir(parents=True)
        (folder / "uevent").write_text("PCI_SLOT_NAME=0000:03:00.0\n")
        (folder / "vendor").write_text("0x1002\n")
        (folder / "mem_info_vram_vendor").write_text("samsung\n")
        (folder / "mem_info_vram_total").write_text(f"{16 << 30}\n")
        return folder

    def test_are_read_in_a_process_of_their_own(self, tmp_path: Path) -> None:
        self.card(tmp_path)
        drivers = read_drivers(tmp_path)
        assert reasons(drivers) == []
        assert [(device.pci, device.total) for device in drivers.devices] == [
            ("0000:03:00.0", 16 << 30)
        ]

    def test_may_hang(self, tmp_path: Path) -> None:
        os.mkfifo(self.card(tmp_path) / "mem_info_gtt_total")
        drivers = read_drivers(tmp_path)
        assert drivers.devices == ()
        assert reasons(drivers) == ["The driver of the graphics card did not answer in time."]

    def test_without_the_library_nvidia_s_driver_is_a_sentence(self, tmp_path: Path) -> None:
        (tmp_path / "proc/driver/nvidia").mkdir(parents=True)
        drivers = read_drivers(tmp_path)
        if not drivers.devices:  # this computer may have a card
            assert reasons(drivers)[0].startswith("The NVIDIA driver does not answer: ")


def test_an_answer_survives_its_journey() -> None:
    found = Found((CARD,), ("does not answer: why",))
    assert decode(encode(found)) == found


@pytest.mark.parametrize(("field", "value"), [("total", "1"), ("name", None), ("free", True)])
def test_an_answer_of_the_wrong_kind_is_refused(field: str, value: object) -> None:
    answer = json.loads(encode(Found((CARD,))))
    answer["devices"][0][field] = value
    with pytest.raises(ValueError, match="not the answer"):
        decode(json.dumps(answer))
