"""Trees of ``/sys/class/drm`` as Linux makes them, for computers that are not here."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from slipstream.machine.devices import Device, Found
from slipstream.machine.sysfs import cards, read

GIB = 1 << 30
MIB = 1 << 20

RX_7900_XTX = {
    "vendor": "0x1002",
    "device": "0x744c",
    "revision": "0xc8",
    "mem_info_vram_total": 25753026560,
    "mem_info_vram_used": 1073741824,
    "mem_info_gtt_total": 33606320128,
    "mem_info_gtt_used": 50331648,
    "mem_info_vram_vendor": "hynix",
}
RYZEN_APU = {
    "vendor": "0x1002",
    "device": "0x164e",
    "revision": "0xc1",
    "mem_info_vram_total": 512 * MIB,
    "mem_info_vram_used": 200 * MIB,
    "mem_info_gtt_total": 16 * GIB,
    "mem_info_gtt_used": 100 * MIB,
    "gpu_metrics": b"\x98\x00\x02\x02rest",
}
STRIX_HALO = {
    **RYZEN_APU,
    "device": "0x1586",
    "mem_info_gtt_total": 62 * GIB,
    "gpu_metrics": b"\x00\x02\x03\x00rest",
}
ARC_A770 = {"vendor": "0x8086", "device": "0x56a0", "revision": "0x08"}
UHD_770 = {"vendor": "0x8086", "device": "0x4680", "revision": "0x0c"}
NVIDIA = {"vendor": "0x10de", "device": "0x2684"}


def add_card(root: Path, number: int, pci: str, files: Mapping[str, object], **own: object) -> Path:
    """A card in the tree, and its folder: ``files`` of the device, ``own`` of the card."""
    device = root / "sys/devices/pci0000:00" / pci
    card = device / "drm" / f"card{number}"
    card.mkdir(parents=True)
    (card / "device").symlink_to(device)
    for folder, contents in ((device, files), (card, own)):
        for name, content in contents.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else f"{content}\n".encode())
    (device / "uevent").write_text(f"DRIVER=some\nPCI_SLOT_NAME={pci}\n")
    names = root / "sys/class/drm"
    names.mkdir(parents=True, exist_ok=True)
    (names / card.name).symlink_to(card)
    (names / f"{card.name}-DP-1").mkdir()
    return device


def only(root: Path) -> Device:
    (device,) = read(root).devices
    return device


def test_a_radeon_card(tmp_path: Path) -> None:
    add_card(tmp_path, 1, "0000:03:00.0", RX_7900_XTX)
    assert only(tmp_path) == Device(
        id="0000:03:00.0",
        name="AMD Graphics",
        backend="AMD",
        total=25753026560,
        free=25753026560 - 1073741824,
        unified=False,
        pci="0000:03:00.0",
    )


def test_a_radeon_card_is_called_what_the_system_s_list_calls_it(tmp_path: Path) -> None:
    add_card(tmp_path, 0, "0000:03:00.0", RX_7900_XTX)
    names = tmp_path / "usr/share/libdrm/amdgpu.ids"
    names.parent.mkdir(parents=True)
    names.write_text(
        "# List of AMDGPU IDs\n1.0.0\n744C,\tC4,\tAMD Radeon RX 7900 GRE\n"
        "744C,\tC8,\tAMD Radeon RX 7900 XTX\n"
    )
    assert only(tmp_path).name == "AMD Radeon RX 7900 XTX"


def test_a_server_s_card_carries_its_own_name(tmp_path: Path) -> None:
    add_card(tmp_path, 0, "0000:03:00.0", {**RX_7900_XTX, "product_name": "AMD INSTINCT MI210"})
    assert only(tmp_path).name == "AMD INSTINCT MI210"


def test_a_processor_s_graphics_share_main_memory(tmp_path: Path) -> None:
    add_card(tmp_path, 0, "0000:0e:00.0", RYZEN_APU)
    device = only(tmp_path)
    assert device.unified
    assert device.total == 16 * GIB + 512 * MIB
    assert device.free == device.total - 300 * MIB


@pytest.mark.parametrize("vendor", ["unknown", "N/A", ""])
def test_older_kernels_have_a_word_for_no_maker_of_memory(tmp_path: Path, vendor: str) -> None:
    add_card(tmp_path, 0, "0000:0e:00.0", {**RYZEN_APU, "mem_info_vram_vendor": vendor})
    assert only(tmp_path).unified


def test_a_card_in_a_virtual_machine_is_no_part_of_a_processor(tmp_path: Path) -> None:
    card = {**RX_7900_XTX, "mem_info_vram_vendor": "", "gpu_metrics": b"\x78\x00\x01\x03"}
    add_card(tmp_path, 0, "0000:03:00.0", card)
    assert not only(tmp_path).unified


def test_strix_halo_shares_almost_all_memory(tmp_path: Path) -> None:
    add_card(tmp_path, 0, "0000:c5:00.0", STRIX_HALO)
    device = only(tmp_path)
    assert (device.unified, device.total) == (True, 62 * GIB + 512 * MIB)


def test_memory_that_the_firmware_set_aside_is_the_card_s_own(tmp_path: Path) -> None:
    split = {"mem_info_vram_total": 96 * GIB, "mem_info_gtt_total": 15 * GIB}
    add_card(tmp_path, 0, "0000:c5:00.0", {**STRIX_HALO, **split})
    device = only(tmp_path)
    assert (device.unified, device.total) == (False, 96 * GIB)
    assert device.free == 96 * GIB - 200 * MIB


def test_an_arc_card_whose_driver_tells_its_size(tmp_path: Path) -> None:
    tiles = {"tile0/physical_vram_size_bytes": 8 * GIB, "tile1/physical_vram_size_bytes": 8 * GIB}
    add_card(tmp_path, 0, "0000:03:00.0", {**ARC_A770, **tiles})
    device = only(tmp_path)
    assert (device.name, device.backend, device.unified) == ("Intel Graphics", "Intel", False)
    assert device.total == 16 * GIB
    assert device.note == "Its driver does not say how much of its memory is free."


def test_an_arc_card_with_intel_s_own_driver(tmp_path: Path) -> None:
    add_card(tmp_path, 0, "0000:03:00.0", ARC_A770, lmem_total_bytes=16 * GIB)
    assert only(tmp_path).total == 16 * GIB


def test_an_arc_card_with_the_kernel_s_driver_has_no_known_size(tmp_path: Path) -> None:
    add_card(tmp_path, 0, "0000:03:00.0", ARC_A770)
    device = only(tmp_path)
    assert (device.total, device.unified) == (0, False)
    assert device.note == "Its driver does not say how much memory it has."


@pytest.mark.parametrize(
    ("number", "name"), [("0x56a0", "Intel Arc A770"), ("0x7d55", "Intel Arc Graphics")]
)
def test_intel_s_cards_are_called_what_the_system_s_list_calls_them(
    tmp_path: Path, number: str, name: str
) -> None:
    add_card(tmp_path, 0, "0000:03:00.0", {**ARC_A770, "device": number})
    names = tmp_path / "usr/share/misc/pci.ids"
    names.parent.mkdir(parents=True)
    names.write_text(
        "# PCI IDs\n8085  Other\n\t56a0  Wrong one\n8086  Intel Corporation\n"
        "\t56a0  DG2 [Arc A770]\n\t\t8086 1020  Board\n\t7d55  Meteor Lake-P [Intel Arc Graphics]\n"
    )
    assert only(tmp_path).name == name


def test_intel_s_processors_share_main_memory(tmp_path: Path) -> None:
    add_card(tmp_path, 0, "0000:00:02.0", UHD_770)
    device = only(tmp_path)
    assert (device.unified, device.total, device.note) == (True, 0, "")


def test_cards_come_in_the_order_of_their_numbers_without_nvidia_s(tmp_path: Path) -> None:
    add_card(tmp_path, 10, "0000:0a:00.0", RX_7900_XTX)
    add_card(tmp_path, 2, "0000:00:02.0", UHD_770)
    add_card(tmp_path, 3, "0000:01:00.0", NVIDIA)
    assert [device.pci for device in read(tmp_path).devices] == ["0000:00:02.0", "0000:0a:00.0"]
    assert len(cards(tmp_path)) == 3


def test_without_cards_there_is_nothing(tmp_path: Path) -> None:
    assert read(tmp_path) == Found()
    assert cards(tmp_path) == []


@pytest.mark.parametrize("garbage", ["", "many", "-5", "\0", "9" * 30])
def test_sizes_that_make_no_sense(tmp_path: Path, garbage: str) -> None:
    sizes = dict.fromkeys(["mem_info_vram_used", "mem_info_gtt_total"], garbage)
    add_card(tmp_path, 0, "0000:03:00.0", {**RX_7900_XTX, **sizes})
    device = only(tmp_path)
    assert 0 <= device.free <= device.total == 25753026560


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    folder = add_card(tmp_path, 0, "0000:03:00.0", RX_7900_XTX)
    for name in ("mem_info_vram_total", "uevent"):
        (folder / name).unlink()
        (folder / name).mkdir()  # reading it fails, whoever reads
    device = only(tmp_path)
    assert (device.total, device.free) == (0, 0)
    assert device.note == "Its driver does not say how much memory it has."
