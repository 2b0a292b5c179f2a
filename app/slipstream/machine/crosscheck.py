"""One row per physical device, from what engines list and what drivers know.

Memory is the lower of what the sources say. A device that shares main memory has at most that
much; whoever adds up memory leaves such devices out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from slipstream.machine.devices import OTHER_COMPUTERS, Device
from slipstream.machine.identity import identity, is_processor
from slipstream.machine.memory import Memory
from slipstream.words import size

_BUILDS = {
    "NVIDIA": "CUDA or Vulkan",
    "AMD": "ROCm or Vulkan",
    "Intel": "SYCL or Vulkan",
    "Apple": "Metal",
}
"""The builds of llama.cpp that drive a maker's cards, by the driver."""
_PROCESSOR = "It is the processor posing as a graphics card, which would only be slower."
_NORMAL_BYTES = 512 << 20
_NORMAL_SHARE = 0.03
"""Sources differ by as much as the larger of these without anything being wrong."""


@dataclass
class _Card:
    """One physical device: those who list it, and the drivers that know it."""

    listed: list[Device] = field(default_factory=list)
    drivers: list[Device] = field(default_factory=list)

    @property
    def sources(self) -> list[Device]:
        return [*self.listed, *self.drivers]

    @property
    def pci(self) -> str:
        return next((source.pci for source in self.sources if source.pci), "")


def merge(
    listed: Sequence[Device], drivers: Sequence[Device], memory: Memory
) -> tuple[Device, ...]:
    """Every physical device once: those that engines list, then those that only drivers know.

    Two devices are one if they have the same PCI address or, where one has none, the same name. Of
    several cards of one name it is the one with the most similar memory, then the first.

    Args:
        listed: what engines list; the first engine to list a device names it.
        drivers: what drivers know.
        memory: main memory; 0 in all means unknown and limits nothing.
    """
    cards: list[_Card] = []
    for device in listed:
        card = _at_same_address(device, cards) or _most_similar(
            device, [card for card in cards if _lists(card, device)]
        )
        if card is None:
            cards.append(card := _Card())
        card.listed.append(device)
    left = list(drivers)
    for alike in (_same_name, _may_be):  # the sure ones first
        left = [driver for driver in left if not _joined(driver, cards, alike)]
    for driver in left:
        card = _at_same_address(driver, cards)
        if card is None:
            cards.append(card := _Card())
        card.drivers.append(driver)
    return tuple(_row(card, memory) for card in cards)


def _joined(driver: Device, cards: list[_Card], alike: Callable[[Device, Device], bool]) -> bool:
    """Whether one of the cards is the driver's, which then has it as a source."""
    card = _at_same_address(driver, cards) or _most_similar(
        driver, [card for card in cards if not card.drivers and alike(card.listed[0], driver)]
    )
    if card:
        card.drivers.append(driver)
    return card is not None


def _at_same_address(device: Device, cards: list[_Card]) -> _Card | None:
    return next((card for card in cards if device.pci and card.pci == device.pci), None)


def _most_similar(device: Device, cards: list[_Card]) -> _Card | None:
    """Of cards that it may be, the one with the most similar memory; never one placed elsewhere."""

    def difference(card: _Card) -> int:
        total = card.sources[0].total
        return abs(total - device.total) if total and device.total else 0

    placeless = [card for card in cards if not (card.pci and device.pci)]
    return min(placeless, key=difference, default=None)


def _lists(card: _Card, device: Device) -> bool:
    """Whether an engine that lists ``device`` may mean a card that was listed before."""
    for other in card.listed:
        if other.backend == device.backend and other.id != device.id:
            return False
    return _same_name(card.listed[0], device)


def _same_name(one: Device, other: Device) -> bool:
    if OTHER_COMPUTERS in (one.backend, other.backend):
        return (one.id, one.name) == (other.id, other.name)
    return identity(one).same_name(identity(other))


def _may_be(one: Device, other: Device) -> bool:
    """Whether both are of one maker, and a name says no more than that or the sizes agree."""
    if OTHER_COMPUTERS in (one.backend, other.backend):
        return False
    names = identity(one), identity(other)
    if not names[0].maker or names[0].maker != names[1].maker:
        return False
    return not all(name.model for name in names) or _agree((one.total, other.total))


def _row(card: _Card, memory: Memory) -> Device:
    first = card.sources[0]
    # The driver knows best: an engine for CUDA does not tell, and a processor's graphics may have
    # memory set aside for them that the system does not have.
    unified = any(source.unified for source in card.drivers or card.listed)
    limit = memory if unified and memory.total else None
    known = [source for source in card.sources if source.total > 0]
    measured = [source for source in known if not source.estimated] or known
    totals = [source.total for source in measured]
    frees = [source.free for source in measured]
    if limit:
        totals = [min(total, limit.total) for total in totals] or [limit.total]
        frees = [min(free, limit.free) for free in frees] or [limit.free]
    total = min(totals, default=0)
    row = replace(
        first,
        total=total,
        free=min([total, *frees]),
        unified=unified,
        holders=next((driver.holders for driver in card.drivers if driver.holders), ()),
        pci=card.pci,
        estimated=all(source.estimated for source in measured) and bool(measured),
    )
    if not card.listed:
        return replace(row, usable=False, note=_why_not(first))
    if is_processor(first):
        return replace(row, usable=False, note=_PROCESSOR)
    return replace(row, note=first.note or _disagreement(totals, frees))


def _why_not(driver: Device) -> str:
    builds = _BUILDS.get(driver.backend, driver.backend)
    reason = f"No installed engine can use this card: it needs a build for {builds}."
    return f"{reason} {driver.note}".rstrip()


def _disagreement(totals: Sequence[int], frees: Sequence[int]) -> str:
    for figures, what in ((totals, "memory"), (frees, "free memory")):
        if not _agree(figures):
            return (
                f"Its sources do not agree about its {what}, {size(max(figures))} and "
                f"{size(min(figures))}; the lower figure counts."
            )
    return ""


def _agree(figures: Sequence[int]) -> bool:
    low, high = min(figures, default=0), max(figures, default=0)
    return high - low <= max(_NORMAL_BYTES, _NORMAL_SHARE * high)
