"""Why a quantization is recommended or not, in a sentence with the right numbers."""

from dataclasses import replace
from pathlib import Path

import pytest

from headers import known
from machines import GIB, apple, computer
from slipstream.drafters.kinds import PLAIN, DrafterKind, Found, SpecConfig
from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory
from slipstream.planning.computer import Computer
from slipstream.planning.model import model_of
from slipstream.planning.placement import Fit
from slipstream.planning.plan import Plan, Wish, plan
from slipstream.planning.quantizations import Quantization
from slipstream.planning.sentences import headline, verdict, why
from slipstream.weights.skeleton import shape_key
from slipstream.words import Tone, size


def planned(
    where: Computer,
    *labels: str,
    name: str = "qwen3.6-27b",
    here: str = "",
    layers: int | None = None,
    spec: SpecConfig = PLAIN,
) -> list[Plan]:
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
    wish = Wish(16_384, choose=lambda _: spec, gpu_layers=layers)
    return list(plan(quantizations, where, wish).plans)


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


MTP = SpecConfig(DrafterKind.MTP, None, 3)


def only(
    where: Computer, label: str, name: str = "qwen3.6-27b", layers: int | None = None
) -> tuple[Plan, str, Tone]:
    """One quantization, and the words for how it fits."""
    (one,) = planned(where, label, name=name, layers=layers)
    return one, *verdict(one, where)


def rtx(free: float) -> Device:
    """A card with the name that its driver tells."""
    amount = round(free * GIB)
    return Device("CUDA0", "NVIDIA GeForce RTX 4090", "CUDA", amount, amount, unified=False)


@pytest.mark.parametrize(
    ("where", "label", "words", "tone"),
    [
        (computer(64, 24), "Q4_K_M", "Fits fully on your GPU", Tone.GOOD),
        (computer(64, 12, 12), "Q4_K_M", "Fits fully on your GPUs", Tone.GOOD),
        (computer(64, apple(40)), "Q4_K_M", "Fits fully on your GPU", Tone.GOOD),
        (computer(64), "Q4_K_M", "Fits in main memory", Tone.GOOD),
        (computer(64, 24), "Q2_K", "Fits, quality drops", Tone.PLAIN),
        (computer(64), "Q2_K", "Fits, quality drops", Tone.PLAIN),
        (
            computer(64, 0.5),
            "Q4_K_M",
            "Fits in main memory, not on the GPU (slower)",
            Tone.CAUTION,
        ),
    ],
)
def test_words_come_before_numbers(where: Computer, label: str, words: str, tone: Tone) -> None:
    assert only(where, label)[1:] == (words, tone)


def test_a_part_on_the_gpu_is_slower() -> None:
    one, words, tone = only(computer(64, 12), "Q8_0")
    layers = one.placement.offload.count
    assert words == f"Fits, {layers} of 66 layers on the GPU (slower)"
    assert tone is Tone.CAUTION
    one, words, tone = only(computer(64, 8), "Q4_K_M", "qwen3-30b-a3b")
    layers = one.placement.offload.host_experts
    assert words == f"Fits, experts of {layers} layers in main memory (slower)"
    assert tone is Tone.CAUTION


def test_little_to_spare_is_a_caution() -> None:
    (roomy,) = planned(computer(64, 24), "Q4_K_M")
    needed = roomy.placement.need.by_device["CUDA0"]
    for spare, words in ((0, "0 bytes"), (500_000_000, "500 MB"), (900_000_000, "900 MB")):
        card = replace(rtx(24), free=needed + spare)
        assert only(computer(64, card), "Q4_K_M")[1:] == (
            f"Fits, {words} to spare",
            Tone.CAUTION,
        )
    enough = replace(rtx(24), free=needed + 1_100_000_000)
    assert only(computer(64, enough), "Q4_K_M")[2] is Tone.GOOD
    (in_memory,) = planned(computer(64), "Q2_K")
    tight = Computer(Memory(64 * GIB, in_memory.placement.need.host + 100_000_000))
    assert only(tight, "Q2_K")[1:] == ("Fits, 100 MB to spare", Tone.CAUTION)


def test_what_shares_main_memory_is_short_where_that_is() -> None:
    (one,) = planned(computer(64, apple(40)), "Q4_K_M")
    total = one.placement.need.total
    memory = Memory(64 * GIB, total + 300_000_000)
    where = Computer(memory, (apple(40),))
    assert verdict(planned(where, "Q4_K_M")[0], where)[0] == "Fits, 300 MB to spare"


def test_what_does_not_fit_says_how_much_is_missing() -> None:
    one, words, tone = only(computer(8, 4), "Q8_0")
    needed = size(one.placement.need.total)
    assert words == f"Too large: needs {needed}, 12.9 GB free"
    assert tone is Tone.BAD
    busy = Computer(Memory(64 * GIB, 4 * GIB))
    assert only(busy, "Q8_0")[1:] == (f"Not for now: needs {needed}, 4.3 GB free", Tone.CAUTION)


def test_memory_that_would_do_if_it_were_one() -> None:
    where = computer(3, 5)
    one, words, tone = only(where, "Q4_K_M", "llama-3.1-8b")
    assert one.placement.need.total < where.free
    needed = size(one.placement.need.total)
    assert words == f"Too large: needs {needed}, 3.2 GB and 5.4 GB free"
    assert tone is Tone.BAD


def test_memory_that_is_not_known_is_a_caution() -> None:
    one, words, tone = only(computer(0), "Q4_K_M")
    assert words == f"Needs {size(one.placement.need.total)}, free memory unknown"
    assert tone is Tone.CAUTION


def test_layers_by_hand_that_a_card_does_not_hold() -> None:
    where = computer(64, 12)
    one, words, tone = only(where, "Q4_K_M", layers=60)
    assert (words, tone) == ("Does not fit with 60 of 66 layers on the GPU", Tone.BAD)
    held = size(one.placement.need.by_device["CUDA0"])
    assert why(one, where) == (
        "It does not fit with 60 of 66 layers on the GPU:"
        f" Card 0 would hold {held}, and 12.9 GB are free."
    )
    small = computer(12, 12)
    one, words, _ = only(small, "Q4_K_M", layers=10)
    assert words == "Does not fit with 10 of 66 layers on the GPU"
    assert "main memory would hold" in why(one, small)
    assert only(where, "Q4_K_M", layers=20)[1] == "Fits, 20 of 66 layers on the GPU (slower)"
    assert only(computer(64, 24), "Q4_K_M", layers=66)[1] == "Fits fully on your GPU"


def test_the_headline_names_label_device_context_and_drafter() -> None:
    where = computer(64, rtx(24))
    plans = planned(where, "Q4_K_M", "UD-Q4_K_XL", "Q8_0", spec=MTP)
    best = next(one for one in plans if one.recommended).quantization.label
    assert headline(plans, where) == (
        f"{best} fits fully on your RTX 4090 with 16k context and the MTP head."
    )
    plain = planned(where, "Q4_K_M")
    assert headline(plain, where) == "Q4_K_M fits fully on your RTX 4090 with 16k context."


def test_the_headline_elsewhere() -> None:
    def told(where: Computer, name: str = "qwen3.6-27b") -> str:
        return headline(planned(where, "Q4_K_M", name=name), where)

    assert told(computer(64)) == "Q4_K_M fits in main memory with 16k context."
    part = told(computer(64, 12))
    assert part.startswith("Q4_K_M fits in part on your Card 0, ")
    assert part.endswith(" of 66 layers on the GPU, with 16k context.")
    experts = told(computer(64, 8), "qwen3-30b-a3b")
    assert experts.startswith("Q4_K_M fits on your Card 0 but for the experts of ")
    assert told(computer(0)).endswith("; how much memory is free is not known.")
    assert "fits fully on your Card 0 and Card 1 with" in told(computer(64, 12, 12))


def test_the_headline_where_nothing_fits() -> None:
    where = computer(4)
    plans = planned(where, "Q2_K", "Q8_0")
    needed = size(min(one.placement.need.total for one in plans))
    assert headline(plans, where) == (
        f"Nothing of this model fits: the smallest, Q2_K, needs {needed}, and 4.3 GB are free."
    )
    assert headline(plans[:1], where) == (
        f"Q2_K does not fit: it needs {needed}, and 4.3 GB are free."
    )


def test_the_headline_where_layers_by_hand_do_not_fit_says_what_does() -> None:
    where = computer(64, 12)
    automatic = planned(where, "Q4_K_M", "Q8_0")
    by_hand = planned(where, "Q4_K_M", "Q8_0", layers=60)
    best = headline(automatic, where)
    assert best.startswith("Q4_K_M fits in part on your Card 0, ")
    assert headline(by_hand, where, automatic) == (
        "Even the smallest, Q4_K_M, does not fit with 60 of 66 layers on the GPU."
        f" Left to automatic, {best}"
    )
    assert headline(by_hand[:1], where, automatic[:1]).startswith("Q4_K_M does not fit with 60 of")
    some = planned(where, "Q4_K_M", "Q8_0", layers=20)
    assert headline(some, where, automatic).startswith("Q4_K_M fits in part on your Card 0, 20 of")


def test_the_headline_where_nothing_fits_by_hand_or_otherwise() -> None:
    where = computer(4, 2)
    plans = planned(where, "Q2_K", "Q8_0", layers=60)
    automatic = planned(where, "Q2_K", "Q8_0")
    assert headline(plans, where, automatic).startswith("Nothing of this model fits: the smallest")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (DrafterKind.MTP, "its MTP drafter"),
        (DrafterKind.EAGLE3, "its EAGLE-3 drafter"),
        (DrafterKind.SELF, "a lower quantization that drafts"),
        (DrafterKind.DRAFT, "a small model that drafts"),
    ],
)
def test_the_headline_names_a_drafter_of_its_own(kind: DrafterKind, words: str) -> None:
    (one,) = planned(computer(64), "Q4_K_M")
    spec = SpecConfig(kind, Path("drafter.gguf"), 3)
    drafted = replace(one, setup=replace(one.setup, spec=spec))
    assert headline([drafted], computer(64)).endswith(f" and {words}.")
