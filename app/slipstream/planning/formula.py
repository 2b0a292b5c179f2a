"""The bytes of one launch by formula, for when no engine can be asked.

Weights are exact. The context follows llama.cpp's own rules (``context.py``), computing a fitted
one (``compute.py``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate

from slipstream.drafters.kinds import DRAFTER_KV, MADE_FOR_A_TARGET, PLAIN, DrafterKind
from slipstream.machine.devices import OTHER_COMPUTERS
from slipstream.planning import compute
from slipstream.planning.context import per_layer
from slipstream.planning.model import Model
from slipstream.planning.parts import HOST, Breakdown, Offload, Setup, Share
from slipstream.weights.architecture import Architecture
from slipstream.weights.layers import Layer

_TIED_TWICE = frozenset({"gemma3n", "gemma4"})
"""Their output is made before the token embeddings, so that tied ones lie in memory twice."""
_REPACKED = frozenset({"IQ4_NL", "Q4_0", "Q4_K"})
"""Types that are repacked for processors with AVX2 (``ggml/src/ggml-cpu/repack.cpp``): an output
in one of them is a copy of tied token embeddings, which are not repacked."""
_NEVER_FLASH = frozenset({"grok"})
"""They never run with flash attention (``llama_init_from_model``)."""
_SHARES_CONTEXT = "gemma4-assistant"
"""A drafter that looks into the target's KV cache and has none of its own."""
_SPLIT_AT_ATTENTION = frozenset({"lfm2", "lfm2moe"})
"""They lose flash attention when the last block in main memory is one with attention (seen)."""
_WHOLE_MODELS = frozenset({DrafterKind.DRAFT, DrafterKind.SELF})


def predict(
    target: Model, setup: Setup, *, drafter: Model | None = None, offload: Offload | None = None
) -> Breakdown:
    """What one launch takes of each device and of main memory.

    Args:
        target: the model.
        setup: what is run.
        drafter: the drafter's file, if it has one of its own. As the engine does, it is put as a
            whole on the first device, if there is one.
        offload: where the target's layers lie; None is main memory.
    """
    return Formula(target, setup, drafter).at(offload or Offload())


@dataclass(frozen=True)
class Formula:
    """One launch, ready to be asked what it takes in many places: a search for the best asks often.

    Attributes:
        target: the model.
        setup: what is run.
        drafter: the drafter's file, if it has one of its own.
    """

    target: Model
    setup: Setup
    drafter: Model | None = None

    def at(self, offload: Offload) -> Breakdown:
        """What it takes with the target's layers in these places."""
        places = _Places(self.target.layers, offload)
        return Breakdown(self._target(places), self._drafting(places))

    @cached_property
    def _terms(self) -> "_Terms":
        return _terms(self.target.architecture, self.setup)

    def _target(self, places: "_Places") -> Mapping[str, Share]:
        trunk, split = len(self.target.architecture.layers), places.host_experts
        sums, kept = self.target.sizes.up_to, self._terms.kept
        blocks, experts = sums.blocks, sums.experts
        weights, contexts = {HOST: self.target.sizes.looked_up}, {HOST: 0}
        for place, start, end in places.parts:
            low, high = min(start, trunk), min(end, trunk)
            on_host = experts[min(high, split)] - experts[min(low, split)] if split else 0
            weights[place] = weights.get(place, 0) + blocks[high] - blocks[low] - on_host
            weights[HOST] += on_host
            contexts[place] = contexts.get(place, 0) + kept[high] - kept[low]
        weights[places.last] += self._output(places.last)
        return _shares(weights, contexts, self._compute(places))

    def _output(self, place: str) -> int:
        sizes, name = self.target.sizes, self.target.architecture.name
        twice = place != HOST or name in _TIED_TWICE or sizes.embedding_type in _REPACKED
        return sizes.output + (sizes.embedding if sizes.tied and twice else 0)

    def _compute(self, places: "_Places") -> Mapping[str, int]:
        """Each device that computes layers needs room for it; main memory always holds the
        inputs."""
        shape, setup, devices = self.target.architecture, self.setup, places.devices
        pipelined = len(devices) > 1 and not places.on_host
        terms = self._terms
        blocks = terms.blocks
        if _loses_flash_attention(shape, places.on_host):
            blocks = compute.without_flash_attention(shape, setup)
        computes = places.on_host or places.host_experts
        inputs = terms.inputs_of_several if pipelined else terms.inputs
        needed = {HOST: blocks if computes else inputs}
        copied = self._copied(places) if devices else 0
        for number, device in enumerate(devices):
            needed[device] = blocks
            if copied and not device.startswith(OTHER_COMPUTERS):
                needed[device], copied = blocks + copied, 0
            if pipelined:
                needed[device] += compute.of_pipeline(shape, setup, first=number == 0)
        return needed

    def _copied(self, places: "_Places") -> int:
        """The largest tensor in main memory: for a batch it is copied to the first device, which
        multiplies with it (``ggml_backend_sched_split_graph``, ``offload_op``). Devices of other
        computers multiply only with what lies there (``ggml-rpc.cpp``).
        """
        largest = self.target.sizes.up_to
        experts = min(max(places.on_host, places.host_experts), len(largest.largest_experts) - 1)
        return max(largest.largest[places.on_host], largest.largest_experts[experts])

    def _drafting(self, places: "_Places") -> Mapping[str, Share]:
        if self.drafter is not None:
            return self._own_file(self.drafter, places.devices[0] if places.devices else HOST)
        if self.setup.spec.kind is DrafterKind.MTP:
            return self._head(places)
        return {}

    def _own_file(self, drafter: Model, where: str) -> Mapping[str, Share]:
        """A drafter with a file of its own, all of it in one place."""
        known = self._own_files.get(where)
        if known is None:
            known = self._own_files[where] = _alone(drafter, self.setup, where)
        return known

    @cached_property
    def _own_files(self) -> dict[str, Mapping[str, Share]]:
        """What was found out about it, by its place."""
        return {}

    def _head(self, places: "_Places") -> Mapping[str, Share]:
        """An MTP head inside the target: its blocks, a context and a computation of its own."""
        weights, contexts = {HOST: 0}, {HOST: 0}
        trunk = len(self.target.architecture.layers)
        for number, kept in enumerate(self._terms.kept_by_head, trunk):
            place = places.of(number)
            weights[place] = weights.get(place, 0) + self.target.sizes.blocks[number]
            contexts[place] = contexts.get(place, 0) + kept
        inputs = self._terms.inputs if places.last != HOST else 0
        computing = {HOST: inputs, places.last: self._terms.head}
        return _shares(weights, contexts, computing)


class _Places:
    """Where each block lies, and the output after them.

    Attributes:
        parts: places with the first and the end of the blocks there, the output counted as one.
        devices: that hold layers.
        on_host: blocks in main memory, the output counted as one.
        last: where the output lies.
        host_experts: of the first blocks, so many keep their experts in main memory.
    """

    def __init__(self, layers: int, offload: Offload) -> None:
        self.on_host = end = max(0, layers - offload.count)
        self.parts = [(HOST, 0, end)] if end else []
        self.devices = [device for device, count in offload.layers.items() if count]
        for device in self.devices:
            start, end = end, min(layers, end + offload.layers[device])
            self.parts.append((device, start, end))
        self.last = self.of(layers - 1)
        self.host_experts = offload.host_experts

    def of(self, block: int) -> str:
        """Where a block lies."""
        for place, _, end in self.parts:
            if block < end:
                return place
        return HOST


@dataclass(frozen=True)
class _Terms:
    """Bytes that do not depend on where layers lie, nor on the quantization.

    Attributes:
        kept: what the trunk's blocks keep, up to each.
        kept_by_head: what each block of an MTP head keeps.
        blocks: for computing the blocks on one device.
        inputs, inputs_of_several: for what goes to one device, or to several at once.
        head: for computing an MTP head.
    """

    kept: Sequence[int]
    kept_by_head: Sequence[int]
    blocks: int
    inputs: int
    inputs_of_several: int
    head: int


@lru_cache(maxsize=64)
def _terms(shape: Architecture, setup: Setup) -> _Terms:
    keeps_more = shape.rolls_back and setup.spec.kind in MADE_FOR_A_TARGET
    rollback = setup.spec.draft_tokens if keeps_more else 0
    return _Terms(
        kept=_sums(per_layer(shape.layers, setup, setup.kv_type, rollback)),
        kept_by_head=_draft_contexts(shape.nextn, setup),
        blocks=compute.of_blocks(shape, setup),
        inputs=compute.of_inputs(shape, setup),
        inputs_of_several=compute.of_inputs(shape, setup, compute.PIPELINE_COPIES),
        head=compute.of_head(shape, setup),
    )


def _loses_flash_attention(shape: Architecture, on_host: int) -> bool:
    """Whether attention cannot be flash attention, or the engine finds it on another device."""
    if shape.name in _NEVER_FLASH:
        return any(layer.key for layer in shape.layers)
    split = 0 < on_host <= len(shape.layers)
    return split and shape.name in _SPLIT_AT_ATTENTION and shape.layers[on_host - 1].key > 0


def _alone(drafter: Model, setup: Setup, where: str) -> Mapping[str, Share]:
    """A drafter with a file of its own, all of it in one place."""
    if setup.spec.kind in _WHOLE_MODELS:
        alone = replace(setup, spec=PLAIN, kv_type=DRAFTER_KV)
        all_layers = Offload({} if where == HOST else {where: drafter.layers})
        return predict(drafter, alone, offload=all_layers).target
    shape, sizes = drafter.architecture, drafter.sizes
    layers = shape.nextn or shape.layers
    kept = 0 if shape.name == _SHARES_CONTEXT else sum(_draft_contexts(layers, setup))
    weights = {HOST: sizes.looked_up}
    weights[where] = weights.get(where, 0) + sum(sizes.blocks) + sizes.output
    inputs = compute.of_inputs(shape, setup) if where != HOST else 0
    computing = {HOST: inputs, where: compute.of_head(shape, setup)}
    return _shares(weights, {where: kept}, computing)


def _draft_contexts(layers: tuple[Layer, ...], setup: Setup) -> Sequence[int]:
    return per_layer(layers, setup, DRAFTER_KV)


def _sums(amounts: Sequence[int]) -> Sequence[int]:
    """The sum of the first ones, for every number of them."""
    return (0, *accumulate(amounts))


def _shares(
    weights: Mapping[str, int], context: Mapping[str, int], computing: Mapping[str, int]
) -> Mapping[str, Share]:
    return {
        device: Share(weights.get(device, 0), context.get(device, 0), computing.get(device, 0))
        for device in {**weights, **context, **computing}
    }
