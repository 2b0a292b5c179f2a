"""AMD and Intel cards on Linux, as their drivers tell in ``/sys/class/drm``.

Sources: the kernel's "Misc AMDGPU driver information" (``mem_info_*``, ``product_name``) and
``kgd_pp_interface.h`` (``gpu_metrics``); for Intel the files that igt-gpu-tools reads
(``tile*/physical_vram_size_bytes`` of xe) and ``lmem_total_bytes`` of Intel's own i915. The
kernel's i915 tells no size.
"""

import re
from pathlib import Path

from slipstream.machine.card_names import amd_name, intel_name
from slipstream.machine.devices import Device, Found, pci_address
from slipstream.machine.files import ROOT, read_number, read_text

AMD, INTEL = "AMD", "Intel"
CARDS = Path("sys/class/drm")
_NO_SIZE = "Its driver does not say how much memory it has."
_NO_FREE = "Its driver does not say how much of its memory is free."
_INTEGRATED_INTEL = "00:02.0"
"""Where Intel's processors have their own graphics, always."""


def cards(root: Path) -> list[Path]:
    """The folders of the graphics cards, in the order of their numbers."""
    try:
        folders = list((root / CARDS).iterdir())
    except OSError:
        return []
    numbered = [folder for folder in folders if re.fullmatch(r"card\d+", folder.name)]
    return sorted(numbered, key=lambda folder: int(folder.name.removeprefix("card")))


def read(root: Path = ROOT) -> Found:
    """Every AMD and Intel card of this computer."""
    devices = []
    for card in cards(root):
        vendor = read_text(card / "device/vendor")
        if vendor == "0x1002":
            devices.append(_amd(root, card))
        elif vendor == "0x8086":
            devices.append(_intel(root, card))
    return Found(tuple(devices))


def _amd(root: Path, card: Path) -> Device:
    folder = card / "device"
    vram, vram_free = _amd_memory(folder, "vram")
    gtt, gtt_free = _amd_memory(folder, "gtt")
    # What the firmware set aside for the graphics is lost to the system, so it is not main memory.
    # Where it is the larger part (a Strix Halo set to 96 of 128 GB), only that part is counted.
    unified = _is_amd_apu(folder) and gtt > vram
    total, free = (vram + gtt, vram_free + gtt_free) if unified else (vram, vram_free)
    number = read_text(folder / "device").removeprefix("0x")
    revision = read_text(folder / "revision").removeprefix("0x")
    name = read_text(folder / "product_name") or amd_name(root, number, revision)
    return Device(
        id=_address(folder),
        name=name or "AMD Graphics",
        backend=AMD,
        total=total,
        free=free,
        unified=unified,
        note="" if total else _NO_SIZE,
        pci=_address(folder),
    )


def _amd_memory(folder: Path, kind: str) -> tuple[int, int]:
    total = max(0, read_number(folder / f"mem_info_{kind}_total") or 0)
    used = read_number(folder / f"mem_info_{kind}_used") or 0
    return total, min(total, max(0, total - used))


def _is_amd_apu(folder: Path) -> bool:
    """Whether it is part of a processor: no maker of memory chips, and the metrics of an APU."""
    if read_text(folder / "mem_info_vram_vendor").lower() not in ("", "unknown", "n/a"):
        return False
    try:
        with (folder / "gpu_metrics").open("rb") as file:
            header = file.read(4)
    except OSError:
        return True
    # struct metrics_table_header: two bytes of size, then format_revision, 1 for cards.
    return len(header) < 4 or header[2] != 1


def _intel(root: Path, card: Path) -> Device:
    folder = card / "device"
    address = _address(folder)
    unified = address.endswith(_INTEGRATED_INTEL)
    total = 0 if unified else _intel_memory(card)
    number = read_text(folder / "device").removeprefix("0x")
    return Device(
        id=address,
        name=intel_name(root, number) or "Intel Graphics",
        backend=INTEL,
        total=total,
        free=total,
        unified=unified,
        note="" if unified else _NO_FREE if total else _NO_SIZE,
        pci=address,
    )


def _intel_memory(card: Path) -> int:
    tiles = (card / "device").glob("tile*/physical_vram_size_bytes")
    sizes = [size for size in map(read_number, tiles) if size and size > 0]
    return sum(sizes) or max(0, read_number(card / "lmem_total_bytes") or 0)


def _address(folder: Path) -> str:
    found = re.search(r"^PCI_SLOT_NAME=(.+)$", read_text(folder / "uevent"), re.MULTILINE)
    return pci_address(found[1]) if found else folder.parent.name
