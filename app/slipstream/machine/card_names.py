"""What people call a graphics card, from the lists that Linux distributions install.

AMD: ``amdgpu.ids`` of libdrm, lines "device, revision, name". Intel: ``pci.ids`` of hwdata, where
the name that people know stands in brackets.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from slipstream.machine.files import read_text

_AMD_LIST = "usr/share/libdrm/amdgpu.ids"
_PCI_LISTS = ("usr/share/hwdata/pci.ids", "usr/share/misc/pci.ids")
_INTEL = "8086"


def amd_name(root: Path, device: str, revision: str) -> str:
    """The name of an AMD card; "" where the list does not have it.

    Args:
        root: where the system's files begin.
        device: the card's number, four hexadecimal digits.
        revision: its revision, two hexadecimal digits.
    """
    for line in read_text(root / _AMD_LIST).splitlines():
        fields = [field.strip() for field in line.split(",", 2)]
        if [field.lower() for field in fields[:2]] == [device.lower(), revision.lower()]:
            return fields[-1]
    return ""


def intel_name(root: Path, device: str) -> str:
    """The name of an Intel card by its number, four hexadecimal digits; "" where unknown."""
    for number, name in _intel_devices(root):
        if number == device.lower():
            known = re.search(r"\[(.+)\]", name)
            return "Intel " + (known[1] if known else name).removeprefix("Intel ")
    return ""


def _intel_devices(root: Path) -> Iterator[tuple[str, str]]:
    for file in _PCI_LISTS:
        vendor = ""
        for line in read_text(root / file).splitlines():
            if line[:1] not in ("\t", "#", ""):
                vendor = line[:4]
            elif vendor == _INTEL and line[:1] == "\t" and line[1:2] != "\t":
                yield line[1:5].lower(), line[5:].strip()
