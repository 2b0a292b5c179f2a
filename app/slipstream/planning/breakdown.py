"""The bytes that an engine tells of in its log: before it loads a model, and after.

Formats: ``common_params_fit_impl`` and ``common_memory_breakdown_print`` in llama.cpp's
``common/fit.cpp``; the "buffer size" lines of ``src/llama-*.cpp``.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from slipstream.planning.parts import HOST, Breakdown, Share

MIB = 1 << 20
PROJECTED = "projected to use "
"""In the line that ends the projection."""

_MOST_BYTES = 1 << 60
_TABLE = "common_memory_breakdown_print: | memory breakdown"
_DRAFTER = "getting device memory data for the extra model"
_NO_DRAFTER = "failed to measure the memory of the extra model"
# Only the rows of devices tell what is free; the others ("Host", "CPU_REPACK") are main memory.
_ROW = re.compile(
    r"common_memory_breakdown_print: \|\s+- (?P<name>\S+).*=\s*"
    r"(?P<model>[0-9]{1,12}) \+\s*(?P<context>[0-9]{1,12}) \+\s*(?P<compute>[0-9]{1,12})"
    r"(?P<device>\) \+\s*-?[0-9]+)?\s*\|\s*$"
)

_MODEL = "load_tensors: loading model tensors"
_CONTEXT = "llama_context: constructing llama_context"
_RESERVE = "sched_reserve: reserving"
_LOADED = "all slots are idle"
"""From then on contexts reserve anew in any order, without telling which of them it is."""
_BUFFER = re.compile(
    r"\b(?P<where>\w+):\s+(?P<buffer>\S+)\s+(?P<kind>model|KV|RS|\S+ \S+ state|compute)"
    r" buffer size =\s*(?P<mib>[0-9]{1,12}\.[0-9]{1,4}) MiB"
)
_MARKS = (
    *(PROJECTED, "common_memory_breakdown_print: |", _DRAFTER, _NO_DRAFTER),
    *(_MODEL, _CONTEXT, _RESERVE, _LOADED, " buffer size = "),
)

Sizes = Mapping[str, int]


def tells_of_memory(line: str) -> bool:
    """Whether ``parse_projection`` or ``parse_loaded`` reads this line."""
    return any(mark in line for mark in _MARKS)


def parse_projection(lines: Iterable[str], *, drafter_inside: bool = False) -> Breakdown | None:
    """What the engine projects before it loads anything.

    Args:
        lines: its log, at verbosity 4.
        drafter_inside: the drafter is a head inside the target, whose weights the engine lists
            once more with it.

    Returns: bytes, rounded down to MiB by the engine; None where the projection is not complete.
    """
    target: dict[str, Share] = {}
    drafter: dict[str, Share] = {}
    table, missing = target, False
    for line in lines:
        if PROJECTED in line:
            return Breakdown(target, drafter, missing) if target else None
        if _TABLE in line:
            table.clear()
        elif _DRAFTER in line:
            table = drafter
        elif _NO_DRAFTER in line:
            missing = True
        elif row := _ROW.search(line):
            id, share = _read_row(row)
            if drafter_inside and table is drafter:
                share = replace(share, weights=0)
            table[id] = table.get(id, Share()) + share
    return None


def parse_loaded(lines: Iterable[str]) -> Breakdown | None:
    """What a real load took, from the sizes of its buffers.

    A file that is mapped counts with its tensors that were repacked for the processor, and the
    repacked copies count once more (``CPU_REPACK``). What must stay in memory is one of the two, so
    the copies are taken off the mapping: main memory's weights are max(0, mapping - copies) and
    the copies. Output buffers are left out, as in the engine's own breakdown.

    Args:
        lines: its log, at verbosity 4, at least those that ``tells_of_memory``.

    Returns: bytes; None if no model or no context was loaded.
    """
    log = _Load()
    for line in lines:
        if _LOADED in line:
            break
        log.read(line)
    if not log.models or not log.contexts:
        return None
    target, *drafters = log.contexts
    return Breakdown(
        _shares(log.models[:1], [target]),
        _shares(log.models[1:], drafters),
    )


def to_json(breakdown: Breakdown) -> dict[str, Any]:
    """A breakdown as ``from_json`` reads it."""
    return {
        "target": {id: asdict(share) for id, share in breakdown.target.items()},
        "drafter": {id: asdict(share) for id, share in breakdown.drafter.items()},
        "drafter_missing": breakdown.drafter_missing,
    }


def from_json(value: Any) -> Breakdown:
    """A breakdown from what ``to_json`` made.

    Raises: KeyError, TypeError, ValueError, AttributeError, for anything else.
    """
    target = _shares_from(value["target"])
    if HOST not in target:
        raise ValueError(target)
    return Breakdown(
        target=target,
        drafter=_shares_from(value["drafter"]),
        drafter_missing=bool(value["drafter_missing"]),
    )


def _shares_from(value: Any) -> dict[str, Share]:
    return {
        str(id): Share(*(_bytes(share[part]) for part in ("weights", "context", "compute")))
        for id, share in value.items()
    }


def _bytes(value: Any) -> int:
    if not isinstance(value, int) or not 0 <= value <= _MOST_BYTES:
        raise ValueError(value)
    return value


def _read_row(row: re.Match[str]) -> tuple[str, Share]:
    id = row["name"] if row["device"] else HOST
    return id, Share(*(int(row[part]) * MIB for part in ("model", "context", "compute")))


@dataclass
class _Context:
    """Bytes per buffer of one context; a context may reserve its compute buffers again."""

    memory: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    compute: dict[str, int] = field(default_factory=lambda: defaultdict(int))


class _Load:
    """Sorts buffers to the model and the context that they belong to, the target's first."""

    def __init__(self) -> None:
        self.models: list[dict[str, int]] = []
        self.contexts: list[_Context] = []

    def read(self, line: str) -> None:
        if _MODEL in line:
            self.models.append(defaultdict(int))
        elif _CONTEXT in line:
            self.contexts.append(_Context())
        elif _RESERVE in line and self.contexts:
            self.contexts[-1].compute.clear()
        elif found := _BUFFER.search(line):
            sizes = self._sizes_for(found["where"], found["kind"])
            if sizes is not None:
                sizes[found["buffer"]] += round(float(found["mib"]) * MIB)

    def _sizes_for(self, where: str, kind: str) -> dict[str, int] | None:
        if kind == "model":
            return self.models[-1] if self.models and where == "load_tensors" else None
        if not self.contexts:
            return None
        if kind == "compute":  # a projector has compute buffers of its own
            return self.contexts[-1].compute if where == "sched_reserve" else None
        return self.contexts[-1].memory


def _shares(models: Iterable[Sizes], contexts: Iterable[_Context]) -> dict[str, Share]:
    shares: dict[str, Share] = defaultdict(Share)
    for model in models:
        for id, size in _weights(model).items():
            shares[id] += Share(weights=size)
    for context in contexts:
        for buffer, size in context.memory.items():
            shares[_device_of(buffer)] += Share(context=size)
        for buffer, size in context.compute.items():
            shares[_device_of(buffer)] += Share(compute=size)
    return dict(shares)


def _weights(model: Sizes) -> dict[str, int]:
    weights: dict[str, int] = defaultdict(int)
    copies = sum(size for buffer, size in model.items() if _is_copy(buffer))
    for buffer, size in model.items():
        mapped = buffer == "CPU_Mapped"
        weights[_device_of(buffer)] += max(0, size - copies) if mapped else size
    return weights


def _is_copy(buffer: str) -> bool:
    """Whether it holds tensors in another layout than the file's."""
    return _device_of(buffer) == HOST and not buffer.endswith(("CPU", "_Mapped", "_Host"))


def _device_of(buffer: str) -> str:
    """The device that a kind of buffer lies on: ``CUDA0``, ``MTL0_Mapped``, ``RPC0[address]``."""
    if buffer.startswith(("CPU", "AMX")) or buffer.endswith("_Host"):
        return HOST
    return re.split(r"[\[_]", buffer, maxsplit=1)[0] or buffer
