"""Whatever a header says, planning says something sensible or what is wrong with it."""

import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headers import any_header
from slipstream.drafters.kinds import PLAIN, DrafterKind, Found, SpecConfig
from slipstream.errors import SlipstreamError
from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory
from slipstream.planning.computer import Computer
from slipstream.planning.extras import extras_of, projector_bytes
from slipstream.planning.formula import predict
from slipstream.planning.model import model_of
from slipstream.planning.need import need_of
from slipstream.planning.parts import Breakdown, Offload, Setup
from slipstream.planning.plan import Wish, plan
from slipstream.planning.quantizations import Quantization
from slipstream.planning.sentences import why
from slipstream.weights.architecture import architecture_of
from slipstream.weights.header import Header
from slipstream.weights.layers import MOST_BLOCKS
from slipstream.weights.skeleton import shape_key

SPECS = (
    PLAIN,
    SpecConfig(DrafterKind.MTP, None, 3),
    SpecConfig(DrafterKind.NGRAM, None, 12),
)
OFFLOADS = (
    None,
    Offload({"CUDA0": 2}),
    Offload({"CUDA0": 2, "CUDA1": 600}, host_experts=1),
    Offload({"CUDA0": 0, "CUDA1": 0}),
)
COMPUTER = Computer(
    Memory(16 << 30, 8 << 30),
    (
        Device("CUDA0", "", "CUDA", 8 << 30, 6 << 30, unified=False),
        Device("MTL0", "", "Metal", 0, 0, unified=True),
    ),
)
setups = st.builds(
    Setup,
    context=st.sampled_from([1, 256, 4097, 2**31 - 1]),
    spec=st.sampled_from(SPECS),
    slots=st.sampled_from([1, 4]),
    kv_type=st.sampled_from(["f16", "q8_0", "q4_0"]),
)


def amounts(breakdown: Breakdown) -> list[int]:
    shares = (*breakdown.target.values(), *breakdown.drafter.values())
    return [amount for share in shares for amount in (share.weights, share.context, share.compute)]


@settings(max_examples=40)
@given(any_header())
def test_any_header_has_a_shape_or_an_impossible_one(header: Header) -> None:
    if header.layers > MOST_BLOCKS:
        with pytest.raises(SlipstreamError, match="layers, more than any model"):
            architecture_of(header)
        return
    shape = architecture_of(header)
    assert len(shape.layers) + len(shape.nextn) == max(0, header.layers)
    for layer in (*shape.layers, *shape.nextn):
        assert min(layer.key, layer.value, layer.index, layer.window, layer.state) >= 0


@settings(max_examples=40)
@given(any_header(), st.none() | any_header(), setups, st.sampled_from(OFFLOADS))
def test_any_model_and_drafter_take_so_many_bytes(
    header: Header, drafter: Header | None, setup: Setup, offload: Offload | None
) -> None:
    with contextlib.suppress(SlipstreamError):
        own = model_of(drafter) if drafter else None
        breakdown = predict(model_of(header), setup, drafter=own, offload=offload)
        assert min(amounts(breakdown)) >= 0
        extras = extras_of(header, setup, drafter, projector_bytes(drafter or header))
        assert min(extras.projector, extras.drafter_inputs) >= 0
        need = need_of(breakdown, extras, COMPUTER)
        parts = need.weights + need.context + need.compute
        assert need.total == parts + need.drafter + need.projector + need.margin


@settings(max_examples=40)
@given(any_header(), setups)
def test_any_model_can_be_planned_and_told_about(header: Header, setup: Setup) -> None:
    with contextlib.suppress(SlipstreamError):
        model, shape = model_of(header), shape_key(header)
        one = Quantization("Q4_K_M", header, model, shape, (header.path,), Found(()))
        wish = Wish(setup.context, setup.kv_type, lambda _: setup.spec)
        (planned,) = plan([one], COMPUTER, wish).plans
        assert 0 <= planned.placement.offload.count <= planned.layers
        assert json.dumps(why(planned, COMPUTER))
