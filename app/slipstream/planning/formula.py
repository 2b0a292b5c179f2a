"""The bytes of one launch by formula, for when no engine can be asked.

Weights are exact. The context follows llama.cpp's own rules (``context.py``), computing a fitted
one (``compute.py``).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from slipstream.drafters.kinds import DRAFTER_KV, MADE_FOR_A_TARGET, PLAIN, DrafterKind
from slipstream.machine.devices import OTHER_COMPUTERS
from slipstream.planning import compute
from slipstream.planning.context import per_layer
from slipstream.planning.model import Model
from slipstream.planning.parts import HOST, Breakdown, Offload, Setup, Share
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

Placed = Iterable[tuple[str, int]]
"""Bytes and where they lie."""


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
    offload = offload or Offload()
    places = _places(target, offload)
    shares = _shares(
        _weights(target, places, offload),
        zip(places, _contexts(target, setup), strict=False),
        _compute(target, setup, places, offload),
    )
    return Breakdown(shares, _drafting(target, drafter, setup, places, offload))


def _places(model: Model, offload: Offload) -> Sequence[str]:
    """Where each block lies, and the output after them."""
    on_devices = [device for device, count in offload.layers.items() for _ in range(count)]
    on_host = max(0, model.layers - len(on_devices))
    return ([HOST] * on_host + on_devices)[: model.layers]


def _weights(model: Model, places: Sequence[str], offload: Offload) -> Iterator[tuple[str, int]]:
    """The trunk's tensors; ``_head`` has those of an MTP head."""
    sizes = model.sizes
    yield HOST, sizes.looked_up
    for block in range(len(model.architecture.layers)):
        experts = sizes.experts[block] if block < offload.host_experts else 0
        yield places[block], sizes.blocks[block] - experts
        yield HOST, experts
    yield places[-1], sizes.output
    twice = (
        places[-1] != HOST
        or model.architecture.name in _TIED_TWICE
        or sizes.embedding_type in _REPACKED
    )
    yield places[-1], sizes.embedding if sizes.tied and twice else 0


def _contexts(model: Model, setup: Setup) -> Sequence[int]:
    shape = model.architecture
    keeps_more = shape.rolls_back and setup.spec.kind in MADE_FOR_A_TARGET
    rollback = setup.spec.draft_tokens if keeps_more else 0
    return per_layer(shape.layers, setup, setup.kv_type, rollback)


def _compute(
    model: Model, setup: Setup, places: Sequence[str], offload: Offload
) -> Iterator[tuple[str, int]]:
    """Each device that computes layers needs room for it; main memory always holds the inputs."""
    shape = model.architecture
    devices = [device for device, count in offload.layers.items() if count]
    pipelined = len(devices) > 1 and offload.count >= model.layers
    copies = compute.PIPELINE_COPIES if pipelined else 1
    blocks = compute.of_blocks(shape, setup)
    if _loses_flash_attention(model, places):
        blocks = compute.without_flash_attention(shape, setup)
    inputs = compute.of_inputs(shape, setup, copies)
    yield HOST, blocks if HOST in places or offload.host_experts else inputs
    multiplying = next((one for one in devices if not one.startswith(OTHER_COMPUTERS)), None)
    if multiplying is not None:
        yield multiplying, _copied(model, places, offload)
    for number, device in enumerate(devices):
        yield device, blocks
        if pipelined:
            yield device, compute.of_pipeline(shape, setup, first=number == 0)


def _copied(model: Model, places: Sequence[str], offload: Offload) -> int:
    """The largest tensor in main memory: for a batch it is copied to the first device, which
    multiplies with it (``ggml_backend_sched_split_graph``, ``offload_op``). Devices of other
    computers multiply only with what lies there (``ggml-rpc.cpp``).
    """
    sizes = model.sizes
    on_host = (size for size, place in zip(sizes.largest, places, strict=True) if place == HOST)
    experts = (
        size
        for number, size in enumerate(sizes.largest_experts)
        if places[number] == HOST or number < offload.host_experts
    )
    return max((*on_host, *experts), default=0)


def _loses_flash_attention(model: Model, places: Sequence[str]) -> bool:
    """Whether attention cannot be flash attention, or the engine finds it on another device."""
    shape, on_host = model.architecture, places.count(HOST)
    if shape.name in _NEVER_FLASH:
        return any(layer.key for layer in shape.layers)
    split = 0 < on_host <= len(shape.layers)
    return split and shape.name in _SPLIT_AT_ATTENTION and shape.layers[on_host - 1].key > 0


def _drafting(
    target: Model,
    drafter: Model | None,
    setup: Setup,
    places: Sequence[str],
    offload: Offload,
) -> Mapping[str, Share]:
    if drafter is not None:
        first = next((device for device, count in offload.layers.items() if count), HOST)
        if setup.spec.kind in _WHOLE_MODELS:
            alone = replace(setup, spec=PLAIN, kv_type=DRAFTER_KV)
            all_layers = Offload({} if first == HOST else {first: drafter.layers})
            return predict(drafter, alone, offload=all_layers).target
        return _own_file(drafter, setup, first)
    if setup.spec.kind is DrafterKind.MTP:
        return _head(target, setup, places)
    return {}


def _head(target: Model, setup: Setup, places: Sequence[str]) -> Mapping[str, Share]:
    """An MTP head inside the target: its blocks, a context and a computation of its own."""
    shape = target.architecture
    first = len(shape.layers)
    blocks = range(first, first + len(shape.nextn))
    where = places[-1]
    inputs = compute.of_inputs(shape, setup)
    return _shares(
        ((places[block], target.sizes.blocks[block]) for block in blocks),
        zip((places[block] for block in blocks), _draft_contexts(shape.nextn, setup), strict=True),
        [
            (where, compute.of_head(shape, setup)),
            (HOST, inputs if where != HOST else 0),
        ],
    )


def _own_file(drafter: Model, setup: Setup, where: str) -> Mapping[str, Share]:
    shape = drafter.architecture
    layers = shape.nextn or shape.layers
    contexts = () if shape.name == _SHARES_CONTEXT else _draft_contexts(layers, setup)
    inputs = compute.of_inputs(shape, setup)
    sizes = drafter.sizes
    return _shares(
        [(HOST, sizes.looked_up), (where, sum(sizes.blocks) + sizes.output)],
        ((where, bytes_) for bytes_ in contexts),
        [
            (where, compute.of_head(shape, setup)),
            (HOST, inputs if where != HOST else 0),
        ],
    )


def _draft_contexts(layers: tuple[Layer, ...], setup: Setup) -> Sequence[int]:
    return per_layer(layers, setup, DRAFTER_KV)


def _shares(weights: Placed, context: Placed, computing: Placed) -> Mapping[str, Share]:
    parts = [_sums(placed) for placed in (weights, context, computing)]
    devices = dict.fromkeys([HOST, *(device for part in parts for device in part)])
    return {device: Share(*(part[device] for part in parts)) for device in devices}


def _sums(placed: Placed) -> Mapping[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for device, amount in placed:
        sums[device] += amount
    return sums
