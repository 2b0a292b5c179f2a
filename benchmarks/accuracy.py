"""How far two answers about memory may lie apart, and how far they do.

Shared by ``memory_accuracy.py`` and the tests. "Predicted" is what the formula says, "told" what
the engine says in its dry run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from architectures import Facts
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.planning.parts import HOST, Breakdown, Setup, Share

MIB = 1 << 20
CONTEXTS = (4096, 16_384, 65_536)
"""Tokens; the trained context is asked for as well."""
KV_TYPES = ("f16", "q8_0")
MTP = SpecConfig(DrafterKind.MTP, None, 3)


@dataclass(frozen=True)
class Limit:
    """How far a prediction may be off: the larger of a share and of bytes.

    Attributes:
        share: of what was told.
        bytes: at least.
        below: share that it may be too low by, whatever the others allow.
    """

    share: float
    bytes: int
    below: float = 1.0

    def __str__(self) -> str:
        either = f"{self.share:.0%} or {self.bytes // MIB} MiB" if self.share else "MiB rounding"
        return either if self.below == 1.0 else f"{either}, {self.below:.0%} below"

    def used(self, predicted: int, told: int) -> float:
        """What a prediction uses of its limit: 1 is all of it; below 0 where it is too low."""
        off = predicted - told
        allowed = max(self.share * told, self.bytes)
        return off / (min(allowed, max(self.below * told, 1)) if off < 0 else allowed)


WEIGHTS = "weights"
CONTEXT = "context"
COMPUTE = "compute"
TOTAL = "total"
LIMITS = {
    WEIGHTS: Limit(0, MIB),
    CONTEXT: Limit(0.01, 8 * MIB),
    COMPUTE: Limit(0.15, 64 * MIB),
    TOTAL: Limit(0.02, 96 * MIB, below=0.01),
}
DEVICE_LIMIT = Limit(0.02, 64 * MIB)
LOAD_LIMITS = {WEIGHTS: Limit(0, 2 * MIB), CONTEXT: Limit(0, MIB), COMPUTE: Limit(0, MIB)}
"""The engine rounds down each row to MiB, and weights have two: as in the file, and repacked."""


@dataclass(frozen=True)
class Compared:
    """One number of bytes that was predicted, beside what was told.

    Attributes:
        what: model, setup, and place if there are several.
        part: of the memory: a key of ``LIMITS``, or a device.
        predicted, told: bytes.
        used: of the limit (``Limit.used``).
    """

    what: str
    part: str
    predicted: int
    told: int
    used: float

    @property
    def kept(self) -> bool:
        """Within its limit."""
        return abs(self.used) <= 1

    @property
    def off(self) -> float:
        """Share of what was told by which the prediction is too high; below 0, too low."""
        return (self.predicted - self.told) / max(self.told, MIB)


def setups_of(facts: Facts) -> Iterator[Setup]:
    """Every way to run a model that is compared."""
    trained = facts.trained_context or CONTEXTS[1]
    contexts = sorted({trained, *(context for context in CONTEXTS if context < trained)})
    for context in contexts:
        for kv_type in KV_TYPES:
            for spec in (PLAIN, MTP) if facts.heads else (PLAIN,):
                yield Setup(context, spec, kv_type=kv_type)


def words(name: str, setup: Setup) -> str:
    """A model and its setup in words."""
    spec = f" {setup.spec.kind.value}" if setup.spec.kind else ""
    return f"{name} {setup.context // 1024}k {setup.kv_type}{spec}"


def compare(what: str, predicted: Breakdown, told: Breakdown) -> Sequence[Compared]:
    """Compare the parts of a launch in main memory, target and drafter together."""
    ours, theirs = _sum(predicted), _sum(told)
    pairs = {
        WEIGHTS: (ours.weights, theirs.weights),
        CONTEXT: (ours.context, theirs.context),
        COMPUTE: (ours.compute, theirs.compute),
        TOTAL: (ours.total, theirs.total),
    }
    return [
        Compared(what, part, mine, other, LIMITS[part].used(mine, other))
        for part, (mine, other) in pairs.items()
    ]


def compare_devices(what: str, predicted: Breakdown, told: Breakdown) -> Sequence[Compared]:
    """Compare all that lies on each device, target and drafter together."""
    ours, theirs = _by_device(predicted), _by_device(told)
    return [
        Compared(what, device, mine, other, DEVICE_LIMIT.used(mine, other))
        for device in sorted({*ours, *theirs})
        for mine, other in [(ours.get(device, 0), theirs.get(device, 0))]
    ]


def compare_load(what: str, told: Breakdown, loaded: Breakdown) -> Sequence[Compared]:
    """Compare each part of target and drafter with what a real load took.

    Args:
        what: the launch in words.
        told: before it; a drafter that the engine could not measure is taken from the formula.
        loaded: after it.
    """
    limits = LIMITS if told.drafter_missing else LOAD_LIMITS
    return [
        Compared(what, f"{who} {part}", mine, other, limit.used(mine, other))
        for who, limits_of, ours, theirs in (
            ("target", LOAD_LIMITS, told.target, loaded.target),
            ("drafter", limits, told.drafter, loaded.drafter),
        )
        if ours or theirs
        for part, limit in limits_of.items()
        if part != TOTAL
        for mine, other in [(getattr(_all(ours), part), getattr(_all(theirs), part))]
    ]


def _sum(breakdown: Breakdown) -> Share:
    return _all(breakdown.target) + _all(breakdown.drafter)


def _all(shares: Mapping[str, Share]) -> Share:
    return sum(shares.values(), Share())


def _by_device(breakdown: Breakdown) -> Mapping[str, int]:
    none = Share()
    ids = {HOST, *breakdown.target, *breakdown.drafter}
    return {
        id_: breakdown.target.get(id_, none).total + breakdown.drafter.get(id_, none).total
        for id_ in ids
    }
