from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.machine.crosscheck import merge
from slipstream.machine.devices import Device, Holder
from slipstream.machine.memory import Memory

GIB = 1 << 30
MAIN = Memory(64 * GIB, 50 * GIB)


def listed(
    id_: str, name: str, total: int, free: int | None = None, *, unified: bool = False
) -> Device:
    """What ``--list-devices`` makes of a device; sizes in GiB."""
    backend = {"MTL": "Metal"}.get(id_.rstrip("0123456789"), id_.rstrip("0123456789"))
    size = (total if free is None else free) * GIB
    return Device(id_, name, backend, total * GIB, size, unified)


def driver(
    pci: str, name: str, total: int, free: int | None = None, *, unified: bool = False
) -> Device:
    """What a driver knows; sizes in GiB."""
    makers = {"N": "NVIDIA", "A": "AMD", "I": "Intel"}
    size = (total if free is None else free) * GIB
    return Device(pci, name, makers[name[0]], total * GIB, size, unified, pci=pci)


RTX_4090 = driver("0000:01:00.0", "NVIDIA GeForce RTX 4090", 24)
XTX = "AMD Radeon RX 7900 XTX (RADV NAVI31)"


def ids(devices: tuple[Device, ...]) -> list[str]:
    return [device.id for device in devices]


def test_a_card_that_two_backends_list_is_one_row() -> None:
    cards = [listed("CUDA0", "NVIDIA GeForce RTX 4090", 24), listed("Vulkan0", "RTX 4090", 24)]
    (device,) = merge(cards, [RTX_4090], MAIN)
    assert (device.id, device.pci, device.usable, device.note) == (
        "CUDA0",
        "0000:01:00.0",
        True,
        "",
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (listed("ROCm0", "Radeon RX 7900 XTX", 24), listed("Vulkan0", XTX, 24)),
        (
            listed("SYCL0", "Intel(R) Arc(TM) A770 Graphics", 16),
            listed("Vulkan0", "Intel(R) Arc(tm) A770 Graphics (DG2)", 16),
        ),
        (listed("CUDA0", "H200", 140), listed("Vulkan0", "NVIDIA H200", 140)),
        (
            listed("ROCm0", "AMD Radeon Graphics", 16),
            listed("Vulkan0", "AMD Radeon Graphics (RADV RAPHAEL)", 16),
        ),
        (listed("RPC0", "127.0.0.1:50052", 16), listed("RPC0", "127.0.0.1:50052", 16)),
    ],
)
def test_names_of_one_card(one: Device, other: Device) -> None:
    assert ids(merge([one, other], [], MAIN)) == [one.id]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (listed("CUDA0", "NVIDIA GeForce RTX 4090", 24), listed("CUDA1", "RTX 4090", 24)),
        (listed("CUDA0", "NVIDIA RTX 4000", 20), listed("Vulkan0", "NVIDIA RTX 5000", 20)),
        (listed("Vulkan0", XTX, 24), listed("Vulkan1", "AMD Radeon Graphics (RADV)", 16)),
        (listed("CUDA0", "NVIDIA L4", 24), listed("RPC0", "NVIDIA L4", 24)),
        (listed("RPC0", "one:50052", 24), listed("RPC1", "other:50052", 24)),
    ],
)
def test_names_of_two_cards(one: Device, other: Device) -> None:
    assert ids(merge([one, other], [], MAIN)) == [one.id, other.id]


def test_two_engines_that_list_the_same_two_cards() -> None:
    cards = [listed("CUDA0", "NVIDIA L4", 24), listed("CUDA1", "NVIDIA L4", 24)]
    vulkan = [listed("Vulkan0", "NVIDIA L4", 24), listed("Vulkan1", "NVIDIA L4", 24)]
    assert ids(merge([*cards, *vulkan, *cards], [], MAIN)) == ["CUDA0", "CUDA1"]


def test_equal_names_are_told_apart_by_memory() -> None:
    cards = [listed("CUDA0", "RTX 3060", 12), listed("CUDA1", "RTX 3060", 8)]
    drivers = [
        driver("0000:01:00.0", "NVIDIA GeForce RTX 3060", 8),
        driver("0000:02:00.0", "NVIDIA GeForce RTX 3060", 12),
    ]
    big, small = merge(cards, drivers, MAIN)
    assert (big.pci, small.pci) == ("0000:02:00.0", "0000:01:00.0")


def test_equal_cards_come_in_their_order() -> None:
    cards = [listed("CUDA0", "H200", 140), listed("CUDA1", "H200", 140)]
    drivers = [driver(f"0000:0{n}:00.0", "NVIDIA H200", 140) for n in (1, 2)]
    assert [device.pci for device in merge(cards, drivers, MAIN)] == [
        "0000:01:00.0",
        "0000:02:00.0",
    ]


def test_the_address_counts_more_than_the_name() -> None:
    card = replace(listed("Vulkan0", "Some other name", 24), pci=RTX_4090.pci)
    (device,) = merge([card], [RTX_4090], MAIN)
    assert device.name == "Some other name"


def test_equal_names_at_two_addresses_are_two_cards() -> None:
    card = replace(listed("CUDA0", "RTX 4090", 24), pci="0000:02:00.0")
    assert ids(merge([card], [RTX_4090], MAIN)) == ["CUDA0", "0000:01:00.0"]


def test_drivers_that_have_no_names_are_told_apart_by_memory() -> None:
    cards = [
        listed("Vulkan0", XTX, 24),
        listed("Vulkan1", "AMD Radeon Graphics (RADV RAPHAEL)", 16, unified=True),
    ]
    drivers = [
        driver("0000:0e:00.0", "AMD Graphics", 16, unified=True),
        driver("0000:03:00.0", "AMD Graphics", 24),
    ]
    card, apu = merge(cards, drivers, MAIN)
    assert (card.pci, card.unified) == ("0000:03:00.0", False)
    assert (apu.pci, apu.unified) == ("0000:0e:00.0", True)


def test_a_maker_s_cards_of_one_size_are_the_same_whatever_they_are_called() -> None:
    card = listed("ROCm0", "AMD Instinct MI300X", 192)
    other = driver("0000:03:00.0", "AMD INSTINCT MI300X OAM", 192)
    assert ids(merge([card], [other], MAIN)) == ["ROCm0"]


def test_a_hidden_card_of_the_same_size_does_not_take_the_place_of_the_listed_one() -> None:
    hidden = driver("0000:01:00.0", "NVIDIA GeForce RTX 3090", 24)
    shown = driver("0000:02:00.0", "NVIDIA GeForce RTX 4090", 24)
    card, unused = merge([listed("CUDA0", "RTX 4090", 24)], [hidden, shown], MAIN)
    assert (card.pci, unused.pci, unused.usable) == (shown.pci, hidden.pci, False)


def test_the_lower_figures_count() -> None:
    card = listed("CUDA0", "RTX 4090", 24, 20)
    (device,) = merge([card], [driver("0000:01:00.0", "NVIDIA RTX 4090", 24, 10)], MAIN)
    assert (device.total, device.free) == (24 * GIB, 10 * GIB)
    assert device.note == (
        "Its sources do not agree about its free memory, 21.5 GB and 10.7 GB; "
        "the lower figure counts."
    )
    (device,) = merge([listed("CUDA0", "RTX 4090", 20)], [RTX_4090], MAIN)
    assert device.total == 20 * GIB
    assert "about its memory, 25.8 GB and 21.5 GB" in device.note


def test_small_differences_are_normal() -> None:
    card = replace(RTX_4090, total=24 * GIB - (500 << 20), free=23 * GIB)
    (device,) = merge([listed("CUDA0", "RTX 4090", 24, 23)], [card], MAIN)
    assert (device.total, device.note) == (24 * GIB - (500 << 20), "")


def test_a_card_that_no_engine_lists_is_shown_with_the_reason() -> None:
    (device,) = merge([], [RTX_4090], MAIN)
    assert not device.usable
    assert device.note == (
        "No installed engine can use this card: it needs a build for CUDA or Vulkan."
    )
    silent = replace(driver("0000:03:00.0", "Intel Graphics", 0), note="Its size is unknown.")
    (device,) = merge([], [silent], MAIN)
    assert device.note.endswith("a build for SYCL or Vulkan. Its size is unknown.")


def test_a_driver_that_does_not_know_the_size_leaves_it_to_the_engine() -> None:
    card = listed("SYCL0", "Intel(R) Arc(TM) A770 Graphics", 16, 15)
    (device,) = merge([card], [driver("0000:03:00.0", "Intel Arc A770", 0)], MAIN)
    assert (device.total, device.free, device.note) == (16 * GIB, 15 * GIB, "")


def test_a_device_that_no_driver_knows_stays_usable() -> None:
    card = listed("RPC0", "127.0.0.1:50052", 24)
    assert merge([card], [RTX_4090], MAIN)[0] == card


def test_shared_memory_is_never_more_than_main_memory() -> None:
    apu = driver("0000:c5:00.0", "AMD Graphics", 110, 100, unified=True)
    (device,) = merge([listed("Vulkan0", "AMD Radeon 8060S", 110, 100)], [apu], MAIN)
    assert (device.unified, device.total, device.free) == (True, MAIN.total, MAIN.free)
    (device,) = merge([], [driver("000f:01:00.0", "NVIDIA GB10", 0, unified=True)], MAIN)
    assert (device.total, device.free) == (MAIN.total, MAIN.free)


def test_unknown_main_memory_limits_nothing() -> None:
    card = listed("MTL0", "Apple M3 Max", 48, unified=True)
    assert merge([card], [], Memory(0, 0)) == (card,)


def test_what_the_firmware_set_aside_is_not_main_memory() -> None:
    card = listed("Vulkan0", "AMD Radeon 8060S (RADV GFX1151)", 111, unified=True)
    own = driver("0000:c5:00.0", "AMD Graphics", 96)
    (device,) = merge([card], [own], Memory(31 * GIB, 20 * GIB))
    assert (device.unified, device.total) == (False, 96 * GIB)


def test_an_estimate_gives_way_to_a_measurement() -> None:
    guess = Device("apple", "Apple M5 Max", "Apple", 96 * GIB, 96 * GIB, True, estimated=True)
    card = listed("MTL0", "Apple M5 Max", 107, 106, unified=True)
    (device,) = merge([card], [guess], Memory(128 * GIB, 120 * GIB))
    assert (device.total, device.free, device.note) == (107 * GIB, 106 * GIB, "")
    assert not device.estimated
    (device,) = merge([], [guess], Memory(128 * GIB, 90 * GIB))
    assert (device.total, device.free, device.estimated) == (96 * GIB, 90 * GIB, True)


@pytest.mark.parametrize("name", ["llvmpipe (LLVM 18.1.3, 256 bits)", "SwiftShader Device"])
def test_a_processor_that_poses_as_a_card_is_not_used(name: str) -> None:
    (device,) = merge([listed("Vulkan0", name, 31)], [], MAIN)
    assert not device.usable
    assert device.note.startswith("It is the processor")


def test_who_holds_memory_is_known_by_the_driver() -> None:
    card = replace(RTX_4090, holders=(Holder("game", 7, GIB),))
    (device,) = merge([listed("CUDA0", "RTX 4090", 24)], [card], MAIN)
    assert device.holders == card.holders


NAMES = ["NVIDIA L4", "L4", "AMD Graphics", XTX, "Intel Graphics", "", "llvmpipe", "?"]
PLACES = ["", "0000:01:00.0", "0000:02:00.0", "0000:03:00.0"]
sizes = st.integers(0, 200).map(lambda number: number * GIB)
devices = st.builds(
    Device,
    id=st.sampled_from(["CUDA0", "CUDA1", "Vulkan0", "RPC0"]),
    name=st.sampled_from(NAMES),
    backend=st.sampled_from(["CUDA", "Vulkan", "RPC", "ROCm", "NVIDIA", "AMD", "odd"]),
    total=sizes,
    free=sizes,
    unified=st.booleans(),
    pci=st.sampled_from(PLACES),
)


@given(st.lists(devices, max_size=6), st.lists(devices, max_size=6), sizes, sizes)
def test_one_place_is_one_row_and_nothing_is_made_up(
    engines: list[Device], drivers: list[Device], total: int, free: int
) -> None:
    rows = merge(engines, drivers, Memory(total, min(total, free)))
    places = [row.pci for row in rows if row.pci]
    sources = [*engines, *drivers]
    assert sorted(places) == sorted({source.pci for source in sources if source.pci})
    assert len(rows) <= len(sources)
    for row in rows:
        assert 0 <= row.free <= row.total
        same = [source for source in sources if row.pci and source.pci == row.pci]
        assert all(row.total <= source.total for source in same if source.total)
        assert all(row.free <= source.free for source in same if source.total)
        if row.unified and total:
            assert row.total <= total
        if not row.usable:
            assert row.note
