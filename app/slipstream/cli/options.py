"""Options that several verbs have, and how their values are read."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from slipstream.drafters.kinds import DrafterKind, SpecChoice
from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory
from slipstream.planning.parts import HOST

SPECS: dict[str, SpecChoice] = {
    "auto": "auto",
    "off": "off",
    **{kind.value: kind for kind in DrafterKind},
}
"""How to speculate, by the word of the command line."""
SMALLEST_CONTEXT = 256
"""Tokens; llama.cpp rounds up to it, and crashes below a few."""
LARGEST = 2**31 - 1
"""What llama.cpp reads its numbers into."""

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Spec = Annotated[str, typer.Option(metavar="KIND", help=f"How to speculate: {', '.join(SPECS)}.")]

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?I?)B?", re.IGNORECASE)
_LARGEST_SIZE = 2**60
_SYSTEM_BYTES = 4 << 30
_SMALLEST_WITHOUT_UNIT = 1_000_000


@dataclass(frozen=True)
class Amount:
    """Memory in bytes: in all, and what is free of it."""

    total: int
    free: int


def spec_choice(text: str) -> SpecChoice:
    """Read ``--spec``.

    Raises: typer.BadParameter.
    """
    if text not in SPECS:
        raise typer.BadParameter(f"--spec must be one of {', '.join(SPECS)}.")
    return SPECS[text]


def memory_of(text: str) -> Memory:
    """Read ``--ram TOTAL[:FREE]``; of TOTAL alone an eighth is the system's, up to 4 GiB.

    Raises: typer.BadParameter.
    """
    amount = _amount(text, "--ram")
    if ":" in text:
        return Memory(amount.total, amount.free)
    return Memory(amount.total, amount.total - min(amount.total // 8, _SYSTEM_BYTES))


def device_of(text: str) -> Device:
    """Read ``--device ID=TOTAL[:FREE]``.

    Raises: typer.BadParameter.
    """
    id_, equals, amounts = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]{0,40}", id_) or id_.upper() == HOST:
        raise typer.BadParameter("--device must look like CUDA0=24GiB.")
    amount = _amount(amounts, "--device")
    backend = id_.rstrip("0123456789")
    apple = backend in ("MTL", "Metal")
    return Device(
        id=id_,
        name=id_,
        backend="Metal" if apple else backend,
        total=amount.total,
        free=amount.free,
        unified=apple,
    )


def devices_of(texts: Sequence[str]) -> tuple[Device, ...]:
    """Read every ``--device``.

    Raises: typer.BadParameter.
    """
    devices = tuple(device_of(text) for text in texts)
    if len({device.id.lower() for device in devices}) < len(devices):
        raise typer.BadParameter("--device: each needs a name of its own, like CUDA0 and CUDA1.")
    return devices


def rate_of(text: str) -> int:
    """Read ``--limit``, bytes per second.

    Raises: typer.BadParameter.
    """
    rate = _size(text.strip().removesuffix("/s"), "--limit", "5MB")
    if not rate:
        raise typer.BadParameter("--limit must be more than nothing.")
    return rate


def _amount(text: str, option: str) -> Amount:
    total, colon, free = text.partition(":")
    amount = Amount(_size(total, option), _size(free if colon else total, option))
    if not amount.total:
        raise typer.BadParameter(f"{option}: there must be some memory.")
    if amount.free > amount.total:
        raise typer.BadParameter(f"{option}: more memory is free than there is.")
    return amount


def _size(text: str, option: str, example: str = "24GiB") -> int:
    match = _SIZE.fullmatch(text.strip())
    unit = match[2].upper() if match else "?"
    factor = {**_UNITS, **_BINARY}.get(unit)
    if match is None or factor is None:
        raise typer.BadParameter(f"{option}: {text!r} is not a size; write it like {example}.")
    size = round(min(float(match[1]) * factor, _LARGEST_SIZE))
    if not unit and 0 < size < _SMALLEST_WITHOUT_UNIT:
        raise typer.BadParameter(f"{option}: {text} would be bytes; write it like {match[1]}GiB.")
    return size
