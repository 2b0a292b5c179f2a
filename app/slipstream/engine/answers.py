"""Reading what ``llama-server`` prints about itself; pure functions that never raise."""

import re
from dataclasses import dataclass

from slipstream.machine.devices import Device

_MIB = 1 << 20


@dataclass(frozen=True)
class Hardware:
    """What an engine can run on now.

    Attributes:
        backends: "CPU" and what else it drives.
        devices: what can hold layers, besides the CPU.
    """

    backends: tuple[str, ...] = ("CPU",)
    devices: tuple[Device, ...] = ()


def parse_flags(text: str) -> frozenset[str]:
    """Every spelling of every option in the text of ``--help``, without the removed ones."""
    flags: set[str] = set()
    for entry in re.split(r"\n(?=-)", "\n" + text):
        spellings = re.match(r"--?[a-zA-Z][^\s,]*(?:,\s+--?[a-zA-Z][^\s,]*)*", entry)
        if spellings and "argument has been removed" not in " ".join(entry.split()):
            flags.update(re.split(r",\s+", spellings[0]))
    return frozenset(flags)


def parse_spec_types(text: str) -> tuple[str, ...]:
    """The values of ``--spec-type`` in the text of ``--help``."""
    found = re.search(r"^--spec-type\s+\[?([\w,|-]+)", text, re.MULTILINE)
    types = re.split(r"[,|]", found[1]) if found else []
    return tuple(name for name in types if name and name != "none")


def traces(text: str) -> bool:
    """Whether the fourth level of its log is "trace" in the text of ``--help``.

    In older builds it is "debug", which writes prompts into the log.
    """
    return re.search(r"\b4:? trace\b", text) is not None


def parse_build(text: str) -> str:
    """The version in the text of ``--version``."""
    found = re.search(r"^version: (.+)$", text, re.MULTILINE)
    return found[1].strip()[:200] if found else ""


def parse_hardware(text: str) -> Hardware:
    """The devices in the text of ``--list-devices``, and the backends that it says were loaded."""
    devices = _devices(text)
    loaded = re.findall(r"^load_backend: loaded (\w+) backend", text, re.MULTILINE)
    backends = dict.fromkeys(["CPU", *loaded, *(device.backend for device in devices)])
    return Hardware(tuple(backends), devices)


def _devices(text: str) -> tuple[Device, ...]:
    shared = {
        f"Vulkan{number}"
        for number in re.findall(r"^ggml_vulkan: (\d+) = .*\| uma: 1\b", text, re.MULTILINE)
    }
    lines = re.findall(r"^ +(\S+): (.*) \((\d+) MiB, (\d+) MiB free\)\s*$", text, re.MULTILINE)
    return tuple(
        Device(
            id=name,
            name=description,
            backend=_backend(name),
            total=int(total) * _MIB,
            free=int(free) * _MIB,
            unified=_backend(name) == "Metal" or name in shared,
        )
        for name, description, total, free in lines
    )


def _backend(device: str) -> str:
    name = device.rstrip("0123456789")
    return "Metal" if name == "MTL" else name
