from collections.abc import Mapping

import pytest

from slipstream.machine.apple import ask, usual_limit
from slipstream.machine.devices import Device, Found

GIB = 1 << 30
M3 = {
    "hw.optional.arm64": "1",
    "hw.memsize": str(64 * GIB),
    "machdep.cpu.brand_string": "Apple M3 Max",
    "iogpu.wired_limit_mb": "0",
}


def mac(**changes: str) -> Found:
    values: Mapping[str, str] = {**M3, **{key.replace("__", "."): v for key, v in changes.items()}}
    return ask(lambda name: values.get(name, ""))


def test_its_memory_is_the_limit_that_macos_usually_sets() -> None:
    assert mac().devices == (
        Device(
            id="apple",
            name="Apple M3 Max",
            backend="Apple",
            total=48 * GIB,
            free=48 * GIB,
            unified=True,
            note="The size of its memory is estimated.",
            estimated=True,
        ),
    )


def test_the_user_s_own_limit_is_certain() -> None:
    (device,) = mac(iogpu__wired_limit_mb="57344").devices
    assert (device.total, device.estimated, device.note) == (56 * GIB, False, "")


def test_a_limit_above_all_memory_is_all_memory() -> None:
    (device,) = mac(iogpu__wired_limit_mb="999999").devices
    assert device.total == 64 * GIB


@pytest.mark.parametrize(("memory", "limit"), [(24, 16), (36, 24), (48, 36), (128, 96)])
def test_two_thirds_of_little_memory_three_quarters_of_much(memory: int, limit: int) -> None:
    assert usual_limit(memory * GIB) == limit * GIB


def test_an_intel_mac_has_no_memory_to_share() -> None:
    assert mac(hw__optional__arm64="") == Found()


def test_a_system_that_knows_nothing_gives_a_device_of_unknown_size() -> None:
    (device,) = ask(lambda name: "1" if name == "hw.optional.arm64" else "").devices
    assert (device.name, device.total) == ("Apple graphics", 0)
