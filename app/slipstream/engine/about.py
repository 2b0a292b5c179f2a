"""What a computer can run, as one sentence for somebody who knows nothing of models."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory
from slipstream.planning.computer import Computer
from slipstream.planning.recommend import most_parameters

QUICK_PARAMETERS = 9.5e9
"""Used for each token: with 4 bits an ordinary processor reads them about seven times a second."""
_HELPS = 3e9
"""Parameters that a graphics card holds at least, if it is to be a help."""
_ROOM = 0.75
"""Of what ``most_parameters`` may fit; the rest is for 16k tokens of context and a drafter."""
_GIB = 1 << 30
# fmt: off
_SIZES = (1, 2, 3, 4, 8, 12, 14, 20, 24, 27, 32, 70, 120, 235, 400, 700, 1000)
"""Billions of parameters that people know models to have."""
_AS_SOLD = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 80, 96, 128, 192, 256, 384, 512, 768, 1024)
"""Gigabytes that memory is sold in; a little of it is never there for programs."""
# fmt: on
_NEARLY = 0.93
_MUCH_MORE = 2


@dataclass(frozen=True)
class Reach:
    """How large models may be, in parameters; 0 where there is no such memory, or too little.

    Attributes:
        on_gpu: to lie on the graphics cards as a whole.
        in_memory: to lie in main memory.
        in_all: to lie in both together.
    """

    on_gpu: float
    in_memory: float
    in_all: float

    @property
    def gpu_helps(self) -> bool:
        """Whether a model worth running lies on the graphics cards."""
        return self.on_gpu >= _HELPS


def reach(computer: Computer) -> Reach:
    """How large models may be that fit into what is free now, with room to work."""
    unknown = Memory(0, 0)
    devices = tuple(_within(one, computer.memory) for one in computer.devices)
    return Reach(
        on_gpu=_comfortable(Computer(unknown, devices)),
        in_memory=_comfortable(Computer(computer.memory)),
        in_all=_comfortable(Computer(Memory(computer.total, computer.free))),
    )


def about(computer: Computer, devices: Sequence[Device]) -> str:
    """One sentence: what there is, and how large models may be that run well on it.

    Args:
        computer: what can be planned with.
        devices: all that were found, also those that no engine can use.
    """
    can = reach(computer)
    if can.gpu_helps:
        return f"{_with_gpu(computer)}: {_on_gpu(can)}."
    if not computer.memory.total:
        return "How much memory is free is not known here: the demo and small models are a start."
    there = f"{_gigabytes(computer.memory.total)} of RAM, {_no_gpu(devices)}"
    return f"{there}: {_in_memory(can, computer.memory)}."


def _comfortable(computer: Computer) -> float:
    return _ROOM * most_parameters(computer)


def _within(device: Device, memory: Memory) -> Device:
    """A device that shares main memory has no more free than that."""
    shared = device.unified and memory.total
    return replace(device, free=min(device.free, memory.free)) if shared else device


def _on_gpu(can: Reach) -> str:
    whole = f"models up to about {_size(can.on_gpu)} run fully on the GPU"
    if _size(can.in_all) == _size(can.on_gpu) or can.in_all < can.on_gpu:
        return whole
    return f"{whole}, larger ones up to about {_size(can.in_all)} in part and more slowly"


def _in_memory(can: Reach, memory: Memory) -> str:
    later = _comfortable(Computer(Memory(memory.total, round(_NEARLY * memory.total))))
    more = later > _MUCH_MORE * can.in_memory and _size(later) != _size(can.in_memory)
    closed = ", and more once other programs are closed" if more else ""
    if not _size(can.in_memory):
        return f"enough for the demo and the smallest models{closed}"
    quick = _size(min(can.in_memory, QUICK_PARAMETERS))
    words = f"small models up to about {quick} will be comfortable"
    if quick != _size(can.in_memory):
        words += f", larger ones up to about {_size(can.in_memory)} fit and are slower"
    return words + closed


def _with_gpu(computer: Computer) -> str:
    memory, cards = computer.memory, computer.devices
    names = " and ".join(
        f"{number} × {name}" if number > 1 else name
        for name, number in Counter(card.short_name for card in cards).items()
    )
    if all(card.unified for card in cards):
        return f"{_gigabytes(memory.total or cards[0].total)} of memory, shared with the {names}"
    own = sum(card.total for card in cards if not card.unified)
    together = " together" if len(cards) > 1 else ""
    ram = f" and {_gigabytes(memory.total)} of RAM" if memory.total else ""
    return f"{names} with {_gigabytes(own)}{together}{ram}"


def _no_gpu(devices: Sequence[Device]) -> str:
    idle = next((one for one in devices if not one.usable and not one.unified), None)
    if idle is None:
        return "no GPU that helps"
    return f"and the engine cannot use the {idle.short_name}"


def _size(parameters: float) -> str:
    """The largest size that people know and that is not more; empty below all of them."""
    known = bisect_right(_SIZES, parameters / 1e9)
    return f"{_SIZES[known - 1]}B" if known else ""


def _gigabytes(number: int) -> str:
    """Memory as it is sold, where only a little of that is missing; else as it is."""
    there = number / _GIB
    sold = next((size for size in _AS_SOLD if _NEARLY * size <= there <= size), None)
    return f"{sold or max(1, round(there))} GB"
