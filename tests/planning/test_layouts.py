"""An engine is asked once per model, and its answer serves all quantizations."""

from dataclasses import replace
from pathlib import Path

import pytest

from gguf_files import DEMO
from headers import header, known
from recorded import MIB, MTP, QWEN_MTP, QWEN_PLAIN, Recorded, Silent
from slipstream.cancel import CancelToken
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.engine.dryrun import dry_run
from slipstream.engine.spec import EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.planning.layouts import HUNG, File, Launch, Layouts, Measure
from slipstream.planning.model import model_of
from slipstream.planning.parts import HOST, Breakdown, Offload, Setup, Share
from slipstream.weights.header import Header
from slipstream.weights.shards import read_model
from slipstream.weights.skeleton import shape_key

LABELS = ("Q8_0", "Q4_K_M", "F16", "IQ2_XXS")
SETUP = Setup(16_384)
IN_MEMORY = Offload()
ON_A_DEVICE = Breakdown(
    {HOST: Share(1200 * MIB, 0, 9 * MIB), "CUDA0": Share(26_000 * MIB, 1173 * MIB, 99 * MIB)}
)


def launch_of(target: Header, setup: Setup = SETUP, drafter: Header | None = None) -> Launch:
    own = File(drafter, model_of(drafter)) if drafter else None
    return Launch(shape_key(target), File(target, model_of(target)), own, setup)


def qwen(label: str, spec: SpecConfig = PLAIN) -> Launch:
    return launch_of(known("qwen3.6-27b", label), Setup(16_384, spec))


def tensor_bytes(launch: Launch) -> int:
    return sum(tensor.bytes for tensor in launch.target.header.tensors)


def test_one_answer_serves_every_quantization_with_its_own_weights() -> None:
    engine = Recorded(QWEN_PLAIN)
    layouts = Layouts(engine)
    for label in LABELS:
        launch = qwen(label)
        layout = layouts.layout(launch, IN_MEMORY)
        assert layout.measured
        target = layout.breakdown.target[HOST]
        head = launch.target.model.sizes.blocks[-1]
        assert target.weights == tensor_bytes(launch) - head
        assert (target.context, target.compute) == (1173 * MIB, 148 * MIB)
    assert engine.asked == [("qwen3.6-27b-Q8_0.gguf", Setup(16_384), IN_MEMORY)]


def test_an_mtp_head_counts_with_the_drafter() -> None:
    layouts = Layouts(Recorded(QWEN_MTP))
    for label in LABELS:
        launch = qwen(label, MTP)
        layout = layouts.layout(launch, IN_MEMORY)
        head = launch.target.model.sizes.blocks[-1]
        drafter = layout.breakdown.drafter[HOST]
        assert layout.drafter_measured
        assert drafter == Share(head, 64 * MIB, 148 * MIB)
        weights = layout.breakdown.target[HOST].weights
        assert weights + drafter.weights == tensor_bytes(launch)
    q8 = layouts.layout(qwen("Q8_0", MTP), IN_MEMORY).breakdown
    assert q8.drafter[HOST].weights / MIB == pytest.approx(431, abs=1)


def test_another_setup_model_or_place_is_asked_about_again() -> None:
    engine = Recorded(ON_A_DEVICE)
    layouts = Layouts(engine)
    launch = qwen("Q8_0")
    whole = Offload({"CUDA0": launch.target.model.layers})
    for one, where in (
        (launch, IN_MEMORY),
        (qwen("Q8_0", MTP), IN_MEMORY),
        (replace(launch, setup=Setup(4096)), IN_MEMORY),
        (launch, whole),
        (launch_of(known("llama-3.1-8b")), IN_MEMORY),
    ):
        before = len(engine.asked)
        assert layouts.layout(one, where).measured
        layouts.layout(one, where)
        assert len(engine.asked) == before + 1
    assert [asked.count for *_, asked in engine.asked] == [0, 0, 0, 66, 0]


@pytest.mark.parametrize("where", [Offload({"CUDA0": 20}), Offload({"CUDA0": 66}, host_experts=1)])
def test_what_the_engine_would_not_do_by_itself_is_not_asked(where: Offload) -> None:
    engine = Recorded(QWEN_PLAIN)
    launch = qwen("Q8_0")
    layout = Layouts(engine).layout(launch, where)
    assert (layout.measured, layout.breakdown) == (False, launch.predicted(where))
    assert engine.asked == []


def test_what_the_engine_says_of_devices_keeps_its_places() -> None:
    layouts, said = Layouts(Recorded(ON_A_DEVICE)), ON_A_DEVICE
    q8, q4 = qwen("Q8_0"), qwen("Q4_K_M")
    where = Offload({"CUDA0": q8.target.model.layers})
    assert layouts.layout(q8, where).breakdown == said
    lower = layouts.layout(q4, where).breakdown.target
    for place in (HOST, "CUDA0"):
        by_formula = (
            q8.predicted(where).target[place].weights - q4.predicted(where).target[place].weights
        )
        assert said.target[place].weights - lower[place].weights == by_formula > 0
        assert lower[place].compute == said.target[place].compute


def test_a_drafter_that_could_not_be_measured_is_added_by_formula() -> None:
    drafter = known("qwen3-0.6b")
    spec = SpecConfig(DrafterKind.DFLASH, drafter.path, 5)
    launch = launch_of(known("qwen3.6-27b"), Setup(16_384, spec), drafter)
    layouts = Layouts(Recorded(replace(QWEN_PLAIN, drafter_missing=True)))
    layout = layouts.layout(launch, IN_MEMORY)
    assert layout.measured
    assert not layout.drafter_measured
    assert layout.breakdown.drafter == launch.predicted(IN_MEMORY).drafter
    assert layout.breakdown.drafter[HOST].weights == launch.drafter.model.sizes.total  # type: ignore[union-attr]


def test_a_drafter_that_was_measured_has_its_own_weights() -> None:
    drafter = known("qwen3-0.6b")
    spec = SpecConfig(DrafterKind.DRAFT, drafter.path, 8)
    own = Share(604 * MIB, 1792 * MIB, 300 * MIB)
    launch = launch_of(known("qwen3.6-27b"), Setup(16_384, spec), drafter)
    layout = Layouts(Recorded(replace(QWEN_PLAIN, drafter={HOST: own}))).layout(launch, IN_MEMORY)
    assert layout.drafter_measured
    assert layout.breakdown.drafter == {HOST: own}
    assert layout.breakdown.target[HOST].weights == launch.predicted(IN_MEMORY).target[HOST].weights


def test_weights_are_those_of_the_tensor_table_unless_the_engine_lays_out_others() -> None:
    launch = qwen("Q8_0")
    exact = launch.predicted(IN_MEMORY).target[HOST].weights
    share = QWEN_PLAIN.target[HOST]
    for said, weights in ((exact - MIB // 2, exact), (exact + 500 * MIB, exact + 500 * MIB)):
        engine = Recorded(Breakdown({HOST: replace(share, weights=said)}))
        layout = Layouts(engine).layout(launch, IN_MEMORY)
        assert layout.breakdown.target[HOST].weights == weights


def test_a_device_that_is_gone_is_a_problem_and_the_formula_serves() -> None:
    layouts = Layouts(Recorded(QWEN_PLAIN))
    launch = qwen("Q8_0")
    where = Offload({"CUDA0": launch.target.model.layers, "CUDA1": 0})
    assert layouts.layout(launch, where).breakdown == launch.predicted(where)
    (problem,) = layouts.problems
    assert problem.code == "device_gone"
    assert "CUDA0" in problem.message


def test_an_engine_that_does_not_answer_is_given_up_and_the_formula_serves() -> None:
    engine = Silent()
    layouts = Layouts(engine)
    for label in LABELS:
        launch = qwen(label)
        layout = layouts.layout(launch, IN_MEMORY)
        assert (layout.measured, layout.breakdown) == (False, launch.predicted(IN_MEMORY))
    assert engine.asked == 2
    assert [problem.code for problem in layouts.problems] == ["dry_run_failed"] * 2


def test_an_engine_that_hangs_is_asked_once() -> None:
    asked = []

    def hangs(target: Header, setup: Setup, drafter: Header | None, where: Offload) -> Breakdown:
        asked.append(target.path.name)
        raise SlipstreamError(HUNG, "It does not answer.", action="Go on.")

    layouts = Layouts(hangs)
    for label in LABELS:
        assert not layouts.layout(qwen(label), IN_MEMORY).measured
    assert len(asked) == 1


def test_where_one_quantization_cannot_be_asked_about_another_is() -> None:
    engines: list[Measure] = [Silent(), Recorded(QWEN_PLAIN)]
    layouts = Layouts(lambda *question: engines.pop(0)(*question))
    assert not layouts.layout(qwen("Q8_0"), IN_MEMORY).measured
    assert layouts.layout(qwen("Q4_K_M"), IN_MEMORY).measured


def test_one_bad_file_does_not_cost_others_their_answers() -> None:
    bad, good = qwen("Q8_0"), qwen("Q4_K_M")

    def engine(target: Header, setup: Setup, drafter: Header | None, where: Offload) -> Breakdown:
        if target is bad.target.header:
            raise SlipstreamError("dry_run_failed", "It cannot be asked about.", action="Go on.")
        return QWEN_PLAIN

    layouts = Layouts(engine)
    for where in (Offload({"CUDA0": 66}), IN_MEMORY, Offload({"CUDA0": 66})):
        assert not layouts.layout(bad, where).measured
    assert layouts.layout(good, IN_MEMORY).measured


def test_an_answer_for_another_split_over_devices_is_not_taken() -> None:
    launch = qwen("Q8_0")
    where = Offload({"CUDA0": 40, "CUDA1": 26})
    shares = dict(launch.predicted(where).target)
    layouts = Layouts(
        Recorded(Breakdown(launch.predicted(Offload({"CUDA0": 33, "CUDA1": 33})).target))
    )
    assert not layouts.layout(launch, where).measured
    assert Layouts(Recorded(Breakdown(shares))).layout(launch, where).measured


def test_without_an_engine_the_formula_serves() -> None:
    layouts = Layouts(None)
    launch = qwen("Q8_0")
    assert layouts.layout(launch, IN_MEMORY).breakdown == launch.predicted(IN_MEMORY)
    assert layouts.problems == []


def test_an_answer_without_anything_is_no_answer_to_fail_on() -> None:
    layouts = Layouts(Recorded(Breakdown({})))
    nothing = launch_of(header("llama", path=Path("nothing.gguf")))
    assert layouts.layout(nothing, IN_MEMORY).breakdown.total == 0


def test_the_real_engine_s_answer_for_the_demo(embedded: EngineSpec) -> None:
    demo = read_model(DEMO)

    def measure(target: Header, setup: Setup, drafter: Header | None, where: Offload) -> Breakdown:
        return dry_run(embedded, target, setup, CancelToken(), drafter=drafter)

    layout = Layouts(measure).layout(launch_of(demo, Setup(1024, MTP)), IN_MEMORY)
    assert layout.measured
    assert layout.drafter_measured
    launch = launch_of(demo, Setup(1024, MTP))
    predicted = launch.predicted(IN_MEMORY)
    for said, by_formula in (
        (layout.breakdown.target[HOST], predicted.target[HOST]),
        (layout.breakdown.drafter[HOST], predicted.drafter[HOST]),
    ):
        assert said.weights == pytest.approx(by_formula.weights, abs=2 * MIB)
        assert said.context == pytest.approx(by_formula.context, abs=2 * MIB)
    with pytest.raises(SlipstreamError, match="estimated"):
        measure(header("nonsense"), Setup(512), None, IN_MEMORY)
