"""Where a model goes: on devices as far as they hold it, the rest in main memory."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headers import header, known
from machines import GIB, apple, card, computer
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.machine.memory import Memory
from slipstream.planning.computer import Computer
from slipstream.planning.formula import predict
from slipstream.planning.model import Model, model_of
from slipstream.planning.need import Extras, Need, fits, need_of
from slipstream.planning.parts import Offload, Setup
from slipstream.planning.placement import Fit, Placement, place

MTP = SpecConfig(DrafterKind.MTP, None, 3)
LLAMA, QWEN, MIXTURE = (
    model_of(known(name, "Q4_K_M")) for name in ("llama-3.1-8b", "qwen3.6-27b", "qwen3-30b-a3b")
)
"""4.6, 15.4 and 17.3 GiB; nearly all of the last are experts."""
NOTHING = model_of(header("llama", {}, {"token_embd.weight": (8, 10)}))
SETUP = Setup(16_384)
BETTER = [Fit.NONE, Fit.CPU, Fit.PARTIAL, Fit.GPU]


def needing(model: Model, where: Computer, setup: Setup) -> Callable[[Offload], Need]:
    def need(offload: Offload) -> Need:
        return need_of(predict(model, setup, offload=offload), Extras(), where)

    return need


def placed(model: Model, where: Computer, setup: Setup = SETUP) -> Placement:
    return place(model.sizes, needing(model, where, setup), where)


@pytest.mark.parametrize(
    ("model", "where", "fit"),
    [
        (LLAMA, computer(16, 24), Fit.GPU),
        (LLAMA, computer(16, 6), Fit.PARTIAL),
        (LLAMA, computer(16), Fit.CPU),
        (LLAMA, computer(16, 0.3), Fit.CPU),
        (LLAMA, computer(4), Fit.NONE),
        (LLAMA, computer(3, 4), Fit.NONE),
        (QWEN, computer(16, 24), Fit.GPU),
        (QWEN, computer(32, 12), Fit.PARTIAL),
        (QWEN, computer(8, 12), Fit.PARTIAL),
        (MIXTURE, computer(32, 8), Fit.PARTIAL),
        # It fits into neither memory alone.
        (QWEN, computer(12, 12), Fit.PARTIAL),
    ],
)
def test_verdicts(model: Model, where: Computer, fit: Fit) -> None:
    assert placed(model, where).fit is fit


def test_a_model_that_fits_lies_on_the_device_with_all_its_layers() -> None:
    best = placed(LLAMA, computer(16, 24))
    assert best.offload == Offload({"CUDA0": LLAMA.layers})
    assert best.need.by_device["CUDA0"] > LLAMA.sizes.total - LLAMA.sizes.looked_up


def test_a_device_that_is_too_small_gets_as_many_layers_as_it_holds() -> None:
    where = computer(16, 6)
    best = placed(LLAMA, where)
    layers = best.offload.count
    assert 1 < layers < LLAMA.layers
    one_more = needing(LLAMA, where, SETUP)(Offload({"CUDA0": layers + 1}))
    assert not fits(one_more, where)


def test_experts_leave_a_device_before_whole_layers_do() -> None:
    where = computer(32, 8)
    best = placed(MIXTURE, where)
    assert best.offload.count == MIXTURE.layers
    kept = best.offload.host_experts
    assert 0 < kept < MIXTURE.layers
    one_less = Offload(best.offload.layers, kept - 1)
    assert not fits(needing(MIXTURE, where, SETUP)(one_less), where)


def test_layers_leave_it_where_even_its_parts_without_experts_are_too_large() -> None:
    best = placed(MIXTURE, computer(32, 2.5))
    assert best.fit is Fit.PARTIAL
    assert best.offload.host_experts == 0
    assert 0 < best.offload.count < MIXTURE.layers


def test_several_devices_share_the_layers_by_what_is_free() -> None:
    layers = placed(QWEN, computer(16, 24, 8)).offload.layers
    assert sum(layers.values()) == QWEN.layers
    assert layers == {"CUDA0": 50, "CUDA1": 16}  # 66 x 24/32, rounded up, as llama.cpp does
    assert placed(QWEN, computer(16, 8, 24)).offload.layers == {"CUDA0": 17, "CUDA1": 49}


def test_devices_that_together_hold_it_hold_it_however_unequal_they_are() -> None:
    for sizes in ((12, 12), (16, 6), (6, 16), (18, 3), (8, 6, 6), (20, 0.1), (0, 20)):
        best = placed(QWEN, computer(16, *sizes))
        assert best.fit is Fit.GPU, sizes
        assert sum(best.offload.layers.values()) == QWEN.layers


def test_a_small_device_more_does_not_spoil_what_one_holds_alone() -> None:
    alone = placed(LLAMA, computer(16, 24))
    exact = replace(card(0, 0), free=alone.need.by_device["CUDA0"])
    small = replace(card(1, 0.75), id="A")
    for devices in ((exact,), (small, exact), (exact, small)):
        best = placed(LLAMA, computer(16, *devices))
        assert best.fit is Fit.GPU
        assert {id_ for id_, layers in best.offload.layers.items() if layers} == {"CUDA0"}


def test_memory_that_is_shared_counts_once() -> None:
    assert placed(QWEN, computer(24, apple(20))).fit is Fit.GPU
    # All of it on the device would leave main memory nothing for the rest.
    assert placed(QWEN, computer(16, apple(16))).fit is Fit.NONE
    assert placed(QWEN, computer(24, apple(12))).fit is Fit.PARTIAL


def test_no_memory_to_spare() -> None:
    full = Computer(Memory(64 * GIB, 0), (replace(card(0, 24), free=0),))
    assert placed(LLAMA, full).fit is Fit.NONE
    assert placed(LLAMA, full).offload.count == 0
    assert placed(LLAMA, full).need.host > LLAMA.sizes.total


def test_main_memory_that_is_not_known_is_taken_as_enough() -> None:
    unknown = computer(0, 12)
    assert placed(QWEN, unknown).fit is Fit.PARTIAL
    assert placed(QWEN, computer(0)).fit is Fit.CPU


def test_a_device_without_memory_is_no_help_and_no_harm() -> None:
    assert placed(LLAMA, computer(16, 0.0)).fit is Fit.CPU
    assert placed(LLAMA, computer(16, 24, 0.0)).fit is Fit.GPU
    assert placed(LLAMA, computer(2, 0.0, 0.0)).fit is Fit.NONE


def test_a_model_without_layers_goes_somewhere_too() -> None:
    for where in (computer(1), computer(1, 1), computer(1, 1, 1), computer(0, 0.0)):
        assert placed(NOTHING, where).fit in (Fit.CPU, Fit.GPU)


cards = st.lists(st.integers(0, 96).map(lambda quarters: quarters / 4), max_size=3)
setups = st.builds(
    Setup, context=st.sampled_from([1024, 16_384, 131_072]), spec=st.sampled_from([PLAIN, MTP])
)
models = st.sampled_from([LLAMA, QWEN, MIXTURE])
memory = st.integers(0, 64).map(lambda halves: halves / 2)
more = st.floats(0, 8)


def no_worse(before: Placement, after: Placement) -> None:
    assert BETTER.index(after.fit) >= BETTER.index(before.fit)
    assert after.offload.count >= before.offload.count


@settings(max_examples=40)
@given(models, setups, memory, cards)
def test_what_is_planned_fits_into_what_is_free(
    model: Model, setup: Setup, ram: float, free: list[float]
) -> None:
    where = computer(ram, *free)
    best = placed(model, where, setup)
    assert best.offload.count <= model.layers
    assert best.need == needing(model, where, setup)(best.offload)
    assert fits(best.need, where) is (best.fit is not Fit.NONE)
    assert (best.offload.count == model.layers and not best.offload.host_experts) is (
        best.fit is Fit.GPU
    )
    assert (best.offload.count == 0) is (best.fit in (Fit.CPU, Fit.NONE))


@settings(max_examples=40)
@given(models, setups, st.integers(1, 64), cards, more)
def test_more_main_memory_is_never_worse(
    model: Model, setup: Setup, ram: int, free: list[float], added: float
) -> None:
    no_worse(
        placed(model, computer(ram, *free), setup),
        placed(model, computer(ram + added, *free), setup),
    )


@settings(max_examples=50)
@given(models, setups, memory, cards, st.integers(0, 2), more)
def test_more_memory_of_a_device_is_never_worse(
    model: Model, setup: Setup, ram: float, free: list[float], which: int, added: float
) -> None:
    larger = [size + added * (number == which) for number, size in enumerate(free)]
    no_worse(
        placed(model, computer(ram, *free), setup), placed(model, computer(ram, *larger), setup)
    )


@settings(max_examples=50)
@given(models, setups, memory, cards, st.integers(0, 96), st.integers(0, 3))
def test_one_device_more_is_never_worse(
    model: Model, setup: Setup, ram: float, free: list[float], size: int, at: int
) -> None:
    more_devices = [*free[:at], size / 4, *free[at:]]
    no_worse(
        placed(model, computer(ram, *free), setup),
        placed(model, computer(ram, *more_devices), setup),
    )


@settings(max_examples=40)
@given(models, memory, cards, st.integers(256, 1 << 18), st.integers(256, 1 << 18))
def test_more_context_never_fits_better(
    model: Model, ram: float, free: list[float], one: int, other: int
) -> None:
    where = computer(ram, *free)
    small, large = (placed(model, where, Setup(context)) for context in sorted((one, other)))
    no_worse(large, small)
    assert (
        small.need.weights + small.need.context <= (large.need.weights + large.need.context)
        or small.fit is not large.fit
    )


@pytest.mark.parametrize(
    ("model", "where", "layers", "fit"),
    [
        (LLAMA, computer(16, 24), 33, Fit.GPU),
        (LLAMA, computer(16, 24), 10, Fit.PARTIAL),
        (LLAMA, computer(16, 24), 0, Fit.CPU),
        (LLAMA, computer(16, 6), 33, Fit.NONE),
        (LLAMA, computer(4, 24), 5, Fit.NONE),
        (LLAMA, computer(4, 24), 33, Fit.GPU),
        (MIXTURE, computer(32, 8), 49, Fit.NONE),
        (LLAMA, computer(16), 20, Fit.CPU),
    ],
)
def test_by_hand_so_many_layers_go_to_the_devices_whether_they_hold_them_or_not(
    model: Model, where: Computer, layers: int, fit: Fit
) -> None:
    need = needing(model, where, SETUP)
    best = place(model.sizes, need, where, layers)
    assert best.by_hand
    assert best.fit is fit
    assert best.offload.count == (layers if where.devices else 0)
    assert best.offload.host_experts == 0
    assert best.need == need(best.offload)
    assert fits(best.need, where) is (fit is not Fit.NONE)


def test_by_hand_no_more_layers_than_there_are() -> None:
    where = computer(16, 24)
    for layers, count in ((1000, LLAMA.layers), (-3, 0)):
        best = place(LLAMA.sizes, needing(LLAMA, where, SETUP), where, layers)
        assert best.offload.count == count


def test_several_devices_share_what_is_given_by_hand_by_what_is_free() -> None:
    where = computer(16, 24, 8)
    best = place(QWEN.sizes, needing(QWEN, where, SETUP), where, 32)
    assert best.offload.layers == {"CUDA0": 24, "CUDA1": 8}


@settings(max_examples=40)
@given(models, memory, cards, st.integers(256, 1 << 18), st.integers(256, 1 << 18))
def test_wherever_the_search_begins_it_finds_the_same(
    model: Model, ram: float, free: list[float], before: int, context: int
) -> None:
    where = computer(ram, *free)
    near = placed(model, where, Setup(before)).offload
    need = needing(model, where, Setup(context))
    assert place(model.sizes, need, where, near=near) == placed(model, where, Setup(context))
