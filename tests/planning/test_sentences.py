"""Why a quantization is recommended or not, in a sentence with the right numbers."""

import pytest

from headers import known
from machines import GIB, apple, computer
from slipstream.drafters.kinds import Found
from slipstream.machine.memory import Memory
from slipstream.planning.computer import Computer
from slipstream.planning.model import model_of
from slipstream.planning.placement import Fit
from slipstream.planning.plan import Plan, Wish, plan
from slipstream.planning.quantizations import Quantization
from slipstream.planning.sentences import why
from slipstream.weights.skeleton import shape_key
from slipstream.words import size


def planned(where: Computer, *labels: str, name: str = "qwen3.6-27b", here: str = "") -> list[Plan]:
    """Plans, of quantizations on the Hub if one of them is ``here``."""
    quantizations = [
        Quantization(
            label,
            header,
            model_of(header),
            shape_key(header),
            (header.path,),
            Found(()),
            download=header.file_bytes if here not in ("", label) else 0,
        )
        for label in labels
        for header in [known(name, label)]
    ]
    return list(plan(quantizations, where, Wish(16_384)).plans)


def told(where: Computer, *labels: str, name: str = "qwen3.6-27b") -> dict[str, str]:
    plans = planned(where, *labels, name=name)
    return {one.quantization.label: why(one, where) for one in plans}


def test_on_the_gpu() -> None:
    where = computer(64, 24)
    best, lesser = reversed(planned(where, "Q4_K_M", "Q5_K_M"))
    assert best.recommended
    needed = size(best.placement.need.on_devices)
    assert why(best, where) == (
        "The largest of up to 6 bits that the GPU holds as a whole; more gain hardly anything. "
        f"It fits fully on Card 0: {needed} of 25.8 GB that are free."
    )
    assert why(lesser, where).startswith("It fits fully on Card 0: ")


def test_what_is_here_already_is_preferred_and_the_other_named() -> None:
    where = computer(64, 48)
    smaller, larger = planned(where, "Q4_K_M", "Q6_K", here="Q4_K_M")
    assert smaller.recommended
    assert not larger.recommended
    assert why(smaller, where).startswith(
        "It is on this computer already; else Q6_K would be the one to take. It fits fully"
    )
    assert "already" not in why(planned(where, "Q4_K_M", "Q6_K", here="Q6_K")[1], where)


def test_on_several_gpus() -> None:
    said = told(computer(64, 12, 12), "Q4_K_M")["Q4_K_M"]
    assert "It fits fully on Card 0 and Card 1: " in said
    assert "of 25.8 GB that are free" in said


def test_on_a_part_of_the_gpu() -> None:
    where = computer(64, 12)
    (one,) = planned(where, "Q8_0")
    assert one.placement.fit is Fit.PARTIAL
    layers = one.placement.offload.count
    assert f"It fits on Card 0 in part, {layers} of 66 layers: 12." in why(one, where)


def test_experts_in_main_memory() -> None:
    where = computer(64, 8)
    (one,) = planned(where, "Q4_K_M", name="qwen3-30b-a3b")
    kept = one.placement.offload.host_experts
    told = why(one, where)
    assert f"It fits on Card 0 but for the experts of {kept} layers: 8." in told
    assert f"The rest, {size(one.placement.need.host)}, runs on the processor" in told


def test_in_main_memory() -> None:
    where = computer(64)
    small, large = planned(where, "Q4_K_M", "Q6_K")
    needed = size(small.placement.need.total)
    assert why(small, where) == (
        "Close to the smallest that keeps 4 bits: from main memory, fewer bytes are quicker. "
        f"It fits in main memory: {needed} of 68.7 GB that are free."
    )
    assert why(large, where).startswith("It fits in main memory: ")


def test_quick_anywhere() -> None:
    said = told(computer(64), "Q4_K_M", "Q8_0", name="qwen3-0.6b")
    assert said["Q4_K_M"].startswith("Good, and quick on any processor. It fits in main memory: ")
    assert said["Q8_0"].startswith("It fits in main memory: ")


def test_memory_that_is_not_known() -> None:
    (one,) = planned(computer(0), "Q4_K_M")
    needed = size(one.placement.need.total)
    assert f"It needs {needed}; how much memory is free is not known." in why(one, computer(0))


def test_too_large_for_all_there_is() -> None:
    where = computer(8, 4)
    (one,) = planned(where, "Q8_0")
    needed = size(one.placement.need.total)
    assert why(one, where) == f"Too large: it needs {needed}, and there are 12.9 GB in all."
    shared = computer(8, apple(6))
    assert "and there are 8.6 GB in all." in told(shared, "Q8_0")["Q8_0"]


def test_too_large_while_other_programs_run() -> None:
    busy = Computer(Memory(64 * GIB, 4 * GIB))
    (one,) = planned(busy, "Q8_0")
    needed = size(one.placement.need.total)
    assert why(one, busy) == (
        f"Too large for now: it needs {needed}, and 4.3 GB are free. "
        "It may fit when other programs are closed."
    )


@pytest.mark.parametrize("label", ["Q3_K_M", "IQ2_XXS"])
def test_few_bits_come_with_a_warning(label: str) -> None:
    only = told(computer(64), label)[label]
    assert only.startswith("The largest that fits. It fits in main memory: ")
    assert only.endswith(" Below 4 bits the quality drops.")
    beside = told(computer(64), label, "Q4_K_M")
    assert not beside[label].startswith("The largest")
    assert beside[label].endswith(" Below 4 bits the quality drops.")
    assert "quality" not in beside["Q4_K_M"]


def test_one_that_is_good_enough_because_the_good_ones_do_not_fit() -> None:
    where = computer(17)
    best = next(one for one in planned(where, "IQ4_XS", "Q4_K_M", "Q6_K") if one.recommended)
    assert best.quantization.label == "IQ4_XS"
    assert why(best, where).startswith("The best of those that fit. It fits in main memory")
