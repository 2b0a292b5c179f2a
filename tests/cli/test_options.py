"""Sizes and devices on the command line."""

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from slipstream.cli.options import SPECS, device_of, devices_of, memory_of, spec_choice
from slipstream.drafters.kinds import DrafterKind
from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory

GIB = 1 << 30


@pytest.mark.parametrize(
    ("text", "total", "free"),
    [
        ("8GiB", 8 * GIB, 7 * GIB),
        ("8GiB:2GiB", 8 * GIB, 2 * GIB),
        ("8gib:512mib", 8 * GIB, GIB // 2),
        ("16GB", 16 * 10**9, 14 * 10**9),
        ("16G:1.5G", 16 * 10**9, 15 * 10**8),
        ("24Gi", 24 * GIB, 21 * GIB),
        (" 64 GiB : 0 ", 64 * GIB, 0),
        ("1TiB", 1024 * GIB, 1020 * GIB),
        ("25769803776", 24 * GIB, 21 * GIB),
        ("512kB", 512_000, 448_000),
        ("1" * 400 + "GiB", 2**60, 2**60 - 4 * GIB),
        ("999999999999TiB", 2**60, 2**60 - 4 * GIB),
    ],
)
def test_memory_in_all_and_free_of_it(text: str, total: int, free: int) -> None:
    assert memory_of(text) == Memory(total, free)


@pytest.mark.parametrize(
    "text",
    ["", "0", "0GiB", "much", "-1GiB", "8GiB:", ":8GiB", "8GiB:9GiB", "8 apples",
     "8GiB:2GiB:1GiB", "1e9", "٢٤GiB", "NaN", "8XB", "8.GiB", "i", "B", "8IB"],
)  # fmt: skip
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="--ram"):
        memory_of(text)


def test_a_device_has_an_id_and_memory() -> None:
    assert device_of("CUDA0=24GiB:20GiB") == Device(
        "CUDA0", "CUDA0", "CUDA", 24 * GIB, 20 * GIB, unified=False
    )
    assert device_of("Vulkan1=8GiB").backend == "Vulkan"


@pytest.mark.parametrize("id_", ["MTL0", "Metal"])
def test_apple_s_devices_share_main_memory(id_: str) -> None:
    device = device_of(f"{id_}=20GiB")
    assert (device.backend, device.unified) == ("Metal", True)


@pytest.mark.parametrize(
    "text", ["", "CUDA0", "CUDA0=", "=24GiB", "0=24GiB", "CUDA 0=8GiB", "CUDA0=8GiB:9GiB", "A=much",
             "CUDA0:24GiB", f"{'A' * 50}=8GiB", "\x1b[2J=8GiB"],
)  # fmt: skip
def test_what_is_no_device_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="--device"):
        device_of(text)


def test_each_device_has_a_name_of_its_own() -> None:
    assert [one.id for one in devices_of(["CUDA0=8GiB", "CUDA1=8GiB"])] == ["CUDA0", "CUDA1"]
    for texts in (["CUDA0=8GiB", "cuda0=8GiB"], ["CPU=8GiB"]):  # main memory is called CPU
        with pytest.raises(typer.BadParameter, match="--device"):
            devices_of(texts)


@given(st.text())
def test_any_text_is_a_size_or_refused(text: str) -> None:
    try:
        memory = memory_of(text)
    except typer.BadParameter:
        return
    assert 0 <= memory.free <= memory.total <= 2**60


def test_the_ways_to_speculate() -> None:
    assert [spec_choice(word) for word in ("auto", "off")] == ["auto", "off"]
    assert spec_choice("mtp") is DrafterKind.MTP
    assert len(SPECS) == 2 + len(DrafterKind)
    for word in ("", "MTP", "fast"):
        with pytest.raises(typer.BadParameter, match="auto, off, mtp"):
            spec_choice(word)
