"""What a launch needs in all, with what is kept free, and whether a computer has it."""

from dataclasses import replace

import pytest

from headers import header, known
from machines import GIB, apple, card, computer
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.machine.memory import Memory
from slipstream.planning.computer import Computer
from slipstream.planning.extras import extras_of, projector_bytes
from slipstream.planning.need import DEVICE_SPARE, ENGINE_SPARE, Extras, Need, fits, need_of
from slipstream.planning.parts import HOST, Breakdown, Setup, Share

ON_BOTH = Breakdown(
    {HOST: Share(100, 0, 20), "CUDA0": Share(30 * GIB, 5 * GIB, GIB)},
    {HOST: Share(10, 0, 0), "CUDA0": Share(0, 4 * GIB, 0)},
)


def needing(**by_device: float) -> Need:
    amounts = {HOST: 0} | {id_: round(amount * GIB) for id_, amount in by_device.items()}
    return Need(0, 0, 0, 0, 0, 0, amounts)


def test_the_parts_add_up_to_the_whole() -> None:
    need = need_of(ON_BOTH, Extras(projector=7, drafter_inputs=5), computer(8, 48))
    assert need.weights == 100 + 30 * GIB
    assert need.context == 5 * GIB
    assert need.compute == 20 + GIB
    assert need.drafter == 10 + 4 * GIB + 5
    assert need.projector == 7
    parts = need.weights + need.context + need.compute + need.drafter + need.projector
    assert need.total == parts + need.margin == sum(need.by_device.values())
    assert need.host + need.on_devices == need.total


def test_a_twentieth_is_kept_free_on_each_device() -> None:
    need = need_of(ON_BOTH, Extras(), computer(8, 48))
    assert need.host == round(130 * 1.05)
    assert need.by_device["CUDA0"] == round(40 * GIB * 1.05)


def test_what_launches_have_taught_is_kept_free_instead() -> None:
    taught = replace(computer(8, 48), margins={"CUDA": 0.2, HOST: 0.1})
    need = need_of(ON_BOTH, Extras(), taught)
    assert need.host == round(130 * 1.1)
    assert need.by_device["CUDA0"] == round(40 * GIB * 1.2)


def test_a_card_has_its_driver_s_memory_to_spare_and_an_unused_one_nothing() -> None:
    small = Breakdown({HOST: Share(), "CUDA0": Share(1000), "CUDA1": Share()})
    need = need_of(small, Extras(), computer(8, 8, 8))
    assert need.by_device == {HOST: 0, "CUDA0": 1000 + DEVICE_SPARE, "CUDA1": 0}
    shared = need_of(Breakdown({"MTL0": Share(1000)}), Extras(), computer(8, apple(6)))
    assert shared.by_device == {HOST: 0, "MTL0": 1000 + ENGINE_SPARE}


def test_a_projector_lies_on_the_first_device_that_is_used() -> None:
    on_second = Breakdown({HOST: Share(1), "CUDA0": Share(), "CUDA1": Share(1)})
    machine = replace(computer(8, 8, 8), margins={"CUDA": 0.0, HOST: 0.0})
    with_it, without = (
        need_of(on_second, Extras(projector=projector), machine).by_device for projector in (50, 0)
    )
    assert {id_: with_it[id_] - without[id_] for id_ in with_it} == {
        HOST: 0, "CUDA0": 0, "CUDA1": 50
    }  # fmt: skip
    in_memory = need_of(Breakdown({HOST: Share(1)}), Extras(projector=50), machine)
    assert in_memory.by_device == {HOST: 51}


@pytest.mark.parametrize(
    ("need", "has"),
    [
        (needing(CPU=8), True),
        (needing(CPU=8.1), False),
        (needing(CPU=8, CUDA0=6, CUDA1=4), True),
        (needing(CUDA0=6.1), False),
        (needing(CUDA1=4.1), False),
    ],
)
def test_each_device_holds_what_lies_on_it(need: Need, has: bool) -> None:
    assert fits(need, computer(8, 6, 4)) is has


def test_shared_memory_counts_once() -> None:
    mac = computer(16, apple(11))
    assert fits(needing(CPU=5, MTL0=11), mac)
    assert not fits(needing(CPU=6, MTL0=11), mac)
    assert not fits(needing(MTL0=12), mac)


def test_memory_that_is_not_known_is_taken_as_enough() -> None:
    unknown = Computer(Memory(0, 0), (card(0, 4),))
    assert fits(needing(CPU=500, CUDA0=4), unknown)
    assert not fits(needing(CPU=1, CUDA0=5), unknown)


def test_a_drafter_is_handed_hidden_states_of_a_batch() -> None:
    target = known("qwen3.6-27b")
    states = 5120 * 2048 * 4
    dflash = header("dflash", {"target_layers": (1, 16, 31, 46, 61)})
    for kind, drafter, read in (
        (None, None, 0),
        (DrafterKind.NGRAM, None, 0),
        (DrafterKind.DRAFT, dflash, 0),
        (DrafterKind.MTP, None, 1),
        (DrafterKind.DFLASH, dflash, 5),
        (DrafterKind.EAGLE3, header("eagle3"), 1),
    ):
        setup = Setup(4096, SpecConfig(kind, None, 3) if kind else PLAIN)
        assert extras_of(target, setup, drafter, 0).drafter_inputs == read * states


def test_a_projector_takes_its_weights_and_room_for_one_image() -> None:
    keys = {f"vision.{name}": size for name, size in (
        ("image_size", 896), ("patch_size", 14), ("embedding_length", 1152),
        ("feed_forward_length", 4304),
    )}  # fmt: skip
    tensors = {"v.patch_embd.weight": (14, 14, 3, 1152)}
    weights = 14 * 14 * 3 * 1152 * 2
    assert (
        projector_bytes(header("clip", keys, tensors))
        == weights + 64 * 64 * (3 * 4304 + 5 * 1152) * 4
    )
    # What is missing is taken as usual, what is senseless as nothing.
    assert projector_bytes(header("clip", {}, tensors)) == weights
    strange = {"vision.image_size": -1, "vision.patch_size": 2**60, "block_count": 2**60}
    strange |= {"vision.embedding_length": 64}
    assert projector_bytes(header("clip", strange, tensors)) == weights


def test_a_card_that_only_computes_now_and_then_needs_nothing_to_spare() -> None:
    in_memory = Breakdown({HOST: Share(GIB), "CUDA0": Share(compute=400 << 20)})
    need = need_of(in_memory, Extras(), computer(8, 1))
    assert need.by_device["CUDA0"] < 500 << 20
    assert fits(need, computer(8, 1))
