"""Every quantization of a model is planned, and one of them recommended."""

from dataclasses import replace
from pathlib import Path

import pytest

from gguf_files import write_mtp
from headers import known
from machines import apple, computer
from recorded import MIB, MTP, QWEN_MTP, QWEN_PLAIN, Recorded, Silent
from slipstream.cancel import Cancelled
from slipstream.drafters.kinds import PLAIN, DrafterKind, Found, SpecConfig
from slipstream.errors import SlipstreamError
from slipstream.planning.computer import Computer
from slipstream.planning.layouts import Measure
from slipstream.planning.model import model_of
from slipstream.planning.parts import HOST, Breakdown, Offload, Setup
from slipstream.planning.placement import Fit
from slipstream.planning.plan import Plans, Wish, plan
from slipstream.planning.quantizations import Quantization
from slipstream.weights.header import Header
from slipstream.weights.skeleton import shape_key

LABELS = ("F16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q3_K_M", "IQ2_XXS")
"""Of Qwen3.6-27B: 51, 27, 21, 18, 15.5, 12.6 and 7.2 GiB."""
CONTEXT = 16_384


def quantization(name: str, label: str, download: int = 0) -> Quantization:
    header = known(name, label)
    return Quantization(
        label, header, model_of(header), shape_key(header), (header.path,), Found(()),
        download=download,
    )  # fmt: skip


def plans_on(
    where: Computer,
    *labels: str,
    name: str = "qwen3.6-27b",
    spec: SpecConfig = PLAIN,
    context: int = CONTEXT,
    measure: Measure | None = None,
) -> Plans:
    quantizations = [quantization(name, label) for label in labels or LABELS]
    return plan(quantizations, where, Wish(context, choose=lambda _: spec), measure)


def recommended(plans: Plans) -> str | None:
    best = [one.quantization.label for one in plans.plans if one.recommended]
    assert len(best) <= 1
    return best[0] if best else None


def test_the_smallest_comes_first_and_one_is_recommended() -> None:
    plans = plans_on(computer(64, 24))
    weights = [one.placement.need.weights for one in plans.plans]
    assert weights == sorted(weights)
    assert [one.quantization.label for one in plans.plans] == [*reversed(LABELS)]
    assert recommended(plans) == "Q6_K"
    assert [one.placement.fit for one in plans.plans] == [*[Fit.GPU] * 5, *[Fit.PARTIAL] * 2]
    assert plans.problems == ()


@pytest.mark.parametrize(
    ("where", "label"),
    [
        (computer(64), "Q4_K_M"),
        (computer(16), "Q3_K_M"),
        (computer(10), "IQ2_XXS"),
        (computer(4), None),
        (computer(64, 80), "Q6_K"),
        (computer(8, 11, 11), "Q5_K_M"),
        (computer(32, apple(20)), "Q5_K_M"),
        (computer(0), "Q4_K_M"),
    ],
)
def test_what_is_recommended_where(where: Computer, label: str | None) -> None:
    assert recommended(plans_on(where)) == label


def test_more_memory_of_any_kind_never_leads_to_a_smaller_one() -> None:
    def size_on(where: Computer) -> int:
        best = recommended(plans_on(where))
        return len(LABELS) - LABELS.index(best) if best else 0

    for grow in (
        [computer(ram) for ram in (4, 9, 16, 20, 64)],
        [computer(24, free) for free in (0, 1, 8, 12, 20, 24, 80)],
        [computer(8, *[8.0] * number) for number in range(5)],
        [computer(16, 8, free) for free in (0, 1, 3, 6, 12, 24)],
        [computer(ram, apple(ram * 0.7)) for ram in (8, 16, 24, 36, 64)],
    ):
        sizes = [size_on(where) for where in grow]
        assert sizes == sorted(sizes)


def test_more_context_never_needs_less() -> None:
    for name in ("qwen3.6-27b", "gemma-3-27b", "qwen3-30b-a3b"):
        for where in (computer(64), computer(200, 200)):
            needs = [
                plans_on(where, "Q4_K_M", name=name, context=context).plans[0].placement.need.total
                for context in (256, 4096, 5000, 16_384, 65_536, 131_072)
            ]
            assert needs == sorted(needs)


def test_a_context_beyond_the_trained_one_is_cut_to_it() -> None:
    beyond = plans_on(computer(64), name="qwen3-8b", context=1_000_000).plans[0]
    assert beyond.setup.context == 40_960
    assert plans_on(computer(64), name="qwen3-8b", context=300).plans[0].setup.context == 300


def test_each_model_among_several_has_a_recommendation() -> None:
    quantizations = [
        quantization(name, label) for name in ("llama-3.1-8b", "qwen3-8b") for label in LABELS
    ]
    plans = plan(quantizations, computer(64, 24), Wish(CONTEXT)).plans
    best = [one.quantization.header.path.stem for one in plans if one.recommended]
    assert best == ["llama-3.1-8b-Q6_K", "qwen3-8b-Q6_K"]


def test_by_formula_context_and_computing_are_estimated_and_told_so() -> None:
    (one,) = plans_on(computer(64), "Q8_0", spec=MTP).plans
    assert one.method == "formula"
    assert one.estimated == ("context", "compute", "drafter", "host_buffers", "margin")


def test_an_engine_leaves_only_the_margin_to_be_estimated() -> None:
    engine = Recorded(QWEN_MTP)
    plans = plans_on(computer(64), spec=MTP, measure=engine).plans
    assert len(engine.asked) == 1
    assert {one.method for one in plans} == {"dry-run"}
    assert {one.estimated for one in plans} == {
        (
            "host_buffers",
            "margin",
        )
    }
    q8 = next(one for one in plans if one.quantization.label == "Q8_0")
    need = q8.placement.need
    assert q8.drafter_bytes / MIB == pytest.approx(431, abs=1)
    # The engine's, and the hidden states of a batch that the head is handed.
    assert need.drafter == q8.drafter_bytes + (64 + 148 + 40) * MIB
    assert need.context == 1622 * MIB
    # The scores of all tokens, for one that is decoded and three that are drafted.
    outputs = 4 * 4 * q8.quantization.header.token_count
    assert need.compute == 148 * MIB + outputs


def test_what_the_engine_could_not_measure_is_marked() -> None:
    missing = replace(QWEN_PLAIN, drafter_missing=True)
    (one,) = plans_on(computer(64), "Q8_0", spec=MTP, measure=Recorded(missing)).plans
    assert (one.method, one.estimated) == ("dry-run", ("drafter", "host_buffers", "margin"))
    assert one.placement.need.drafter > 431 * MIB


def test_layers_in_part_are_planned_by_formula_even_with_an_engine() -> None:
    said = replace(QWEN_PLAIN, target={**QWEN_PLAIN.target, "CUDA0": QWEN_PLAIN.target[HOST]})
    (one,) = plans_on(computer(64, 12), "Q8_0", measure=Recorded(said)).plans
    assert (one.placement.fit, one.method) == (Fit.PARTIAL, "formula")


def test_an_engine_that_does_not_answer_is_told_of_once() -> None:
    engine = Silent()
    plans = plans_on(computer(64), measure=engine)
    assert engine.asked == 2
    assert [problem.code for problem in plans.problems] == ["dry_run_failed"]
    assert plans.plans == plans_on(computer(64)).plans


def test_a_user_who_stops_it_is_obeyed() -> None:
    def measure(target: Header, setup: Setup, drafter: Header | None, where: Offload) -> Breakdown:
        raise Cancelled

    with pytest.raises(Cancelled):
        plans_on(computer(64), measure=measure)


def test_a_drafter_of_its_own_counts(tmp_path: Path) -> None:
    drafter = write_mtp(tmp_path / "mtp.gguf", width=64)
    spec = SpecConfig(DrafterKind.MTP, drafter, 3)
    (one,) = plans_on(computer(64), "Q8_0", spec=spec).plans
    header_bytes = 64 * 8 * 4 + 128 * 64 * 4
    assert one.drafter_bytes == header_bytes
    assert one.placement.need.drafter > header_bytes
    drafter.unlink()
    with pytest.raises(SlipstreamError):
        plans_on(computer(64), "Q8_0", spec=spec)


def test_what_cannot_be_planned_is_told_beside_the_rest() -> None:
    def choose(one: Quantization) -> SpecConfig:
        if one.header.path.name.startswith("qwen3-8b"):
            raise SlipstreamError("no_drafter", "It has none.", action="Choose another.")
        return PLAIN

    wish = Wish(CONTEXT, choose=choose)
    with_none = [quantization("qwen3-8b", label) for label in LABELS]
    plans = plan([*with_none, quantization("llama-3.1-8b", "Q8_0")], computer(64), wish)
    assert [one.quantization.header.path.stem for one in plans.plans] == ["llama-3.1-8b-Q8_0"]
    assert [problem.code for problem in plans.problems] == ["no_drafter"]
    with pytest.raises(SlipstreamError, match="It has none"):
        plan(with_none, computer(64), wish)


def test_what_is_downloaded_is_preferred() -> None:
    quantizations = [quantization("qwen3.6-27b", label, download=1) for label in LABELS]
    quantizations[4] = quantization("qwen3.6-27b", "Q4_K_M")
    plans = plan(quantizations, computer(64, 24), Wish(CONTEXT))
    assert recommended(plans) == "Q4_K_M"


def test_quantizations_differ_in_their_weights_alone() -> None:
    plans = plans_on(computer(500), measure=Recorded(QWEN_PLAIN)).plans
    for one in plans:
        need, first = one.placement.need, plans[0].placement.need
        assert (need.context, need.compute) == (first.context, first.compute)
        assert (one.setup, one.placement.offload) == (plans[0].setup, Offload())
        assert need.host == need.total


def test_nothing_to_plan() -> None:
    assert plan([], computer(8), Wish(CONTEXT)) == Plans(())


def test_fine_tunes_of_one_architecture_are_models_of_their_own() -> None:
    mine = quantization("llama-3.1-8b", "Q4_K_M")
    theirs = replace(mine, files=(Path("Hermes-8B-Q4_K_M.gguf"),))
    assert mine.shape == theirs.shape
    engine = Recorded(QWEN_PLAIN)
    plans = plan([mine, theirs], computer(64), Wish(CONTEXT), engine).plans
    assert [one.recommended for one in plans] == [True, True]
    assert len(engine.asked) == 1


def test_weights_of_unknown_types_are_estimated() -> None:
    known_types = quantization("llama-3.1-8b", "Q8_0")
    sizes = replace(known_types.model.sizes, exact=False)
    strange = replace(known_types, model=replace(known_types.model, sizes=sizes))
    (one,) = plan([strange], computer(64), Wish(CONTEXT)).plans
    assert one.estimated[0] == "weights"
