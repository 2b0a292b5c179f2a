"""A slider is answered from what an engine said at a few stops."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headers import header, known
from recorded import Silent
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.errors import SlipstreamError
from slipstream.planning.curves import STOPS, Curves, between
from slipstream.planning.formula import predict
from slipstream.planning.model import model_of
from slipstream.planning.parts import HOST, Breakdown, Offload, Setup, Share
from slipstream.weights.header import Header

MTP = SpecConfig(DrafterKind.MTP, None, 3)
MIB = 1 << 20
HERE = Offload()


@dataclass
class Engine:
    """Answers by the formula, and notes what it is asked."""

    asked: list[int] = field(default_factory=list)

    def __call__(
        self,
        target: Header,
        setup: Setup,
        drafter: Header | None,  # noqa: ARG002
        where: Offload,  # noqa: ARG002
    ) -> Breakdown:
        self.asked.append(setup.context)
        return predict(model_of(target), setup)


def test_at_a_stop_it_is_what_the_engine_says() -> None:
    engine = Engine()
    curves = Curves(engine)
    model = known("qwen3.6-27b")
    for stop in STOPS:
        if stop <= 262_144:
            setup = Setup(stop, MTP)
            assert curves(model, setup, None, HERE) == predict(model_of(model), setup)
    assert set(engine.asked) <= set(STOPS)


def test_between_stops_it_lies_on_the_line_and_asks_only_at_them() -> None:
    engine = Engine()
    curves = Curves(engine)
    model = known("llama-3.1-8b")
    for context in (10_000, 10_001, 4097, 16_383):
        curves(model, Setup(context), None, HERE)
    assert engine.asked == [4096, 16_384]
    said = curves(model, Setup(10_240), None, HERE)
    assert said
    middle = said.target[HOST]
    assert middle.context == 1280 * MIB


def test_the_trained_context_is_a_stop_too() -> None:
    engine = Engine()
    model = known("qwen3-8b")  # 40,960 tokens
    Curves(engine)(model, Setup(40_960), None, HERE)
    Curves(engine)(model, Setup(30_000), None, HERE)
    assert engine.asked == [40_960, 16_384, 40_960]


def test_below_the_first_stop_and_beyond_the_last_the_engine_is_asked_itself() -> None:
    engine = Engine()
    model = known("qwen3-8b")
    for context in (300, 50_000):
        there = Curves(engine)(model, Setup(context), None, HERE)
        assert there == predict(model_of(model), Setup(context))
        assert context in engine.asked


@pytest.mark.parametrize("trained", [-5, 0, "many"])
def test_a_trained_context_that_is_none_is_no_stop(trained: int | str) -> None:
    engine = Engine()
    Curves(engine)(header("llama", {"context_length": trained}), Setup(3000), None, HERE)
    assert engine.asked == [2048, 4096]


def test_quantizations_of_a_model_share_the_stops() -> None:
    engine = Engine()
    curves = Curves(engine)
    for label in ("Q8_0", "Q4_K_M"):
        curves(known("llama-3.1-8b", label), Setup(10_000), None, HERE)
    assert engine.asked == [4096, 16_384]


@pytest.mark.parametrize(
    ("setup", "where", "drafter"),
    [
        (Setup(10_000, MTP), HERE, None),
        (Setup(10_000, kv_type="q8_0"), HERE, None),
        (Setup(10_000), Offload({"CUDA0": 66}), None),
        (Setup(10_000), HERE, header("dflash", path=Path("drafter.gguf"))),
    ],
)
def test_another_question_has_stops_of_its_own(
    setup: Setup, where: Offload, drafter: Header | None
) -> None:
    engine = Engine()
    curves = Curves(engine)
    model = known("qwen3.6-27b")
    curves(model, Setup(10_000), None, HERE)
    curves(model, setup, drafter, where)
    assert engine.asked == [4096, 16_384] * 2


def test_an_engine_that_fails_fails_here() -> None:
    with pytest.raises(SlipstreamError):
        Curves(Silent())(known("qwen3-8b"), Setup(1000), None, HERE)


@settings(max_examples=25)
@given(
    st.sampled_from(["llama-3.1-8b", "qwen3.6-27b", "gemma-3-27b", "gpt-oss-20b", "deepseek-v3"]),
    st.integers(512, 260_000),
    st.sampled_from([PLAIN, MTP]),
    st.integers(-20 * MIB, 20 * MIB),
)
def test_between_stops_the_formula_is_corrected_by_what_it_was_off_at_them(
    name: str, context: int, spec: SpecConfig, off: int
) -> None:
    """An engine that takes so much more at any context, and a little more with each token."""
    model, setup = known(name), Setup(context, spec)

    def engine(target: Header, setup: Setup, drafter: Header | None, where: Offload) -> Breakdown:
        planned = predict(model_of(target), setup, offload=where)
        more = Share(context=20 * MIB + off, compute=100 * setup.context)
        return replace(planned, target={id_: one + more for id_, one in planned.target.items()})

    guess, said = Curves(engine)(model, setup, None, HERE), engine(model, setup, None, HERE)
    assert guess
    for place, share in said.target.items():
        assert guess.target[place].total == pytest.approx(share.total, abs=2)


def test_a_device_that_only_one_of_two_answers_has_is_taken_to_need_nothing_there() -> None:
    low = Breakdown({HOST: Share(1, 10, 10), "CUDA0": Share(1, 6, 6)})
    high = Breakdown({HOST: Share(1, 20, 30)})
    nothing = [Breakdown({})] * 3
    assert between(low, high, nothing, 0.5).target == {
        HOST: Share(1, 15, 20),
        "CUDA0": Share(1, 3, 3),
    }


def test_whichever_quantization_was_asked_about_the_weights_are_those_of_the_wanted_one() -> None:
    def engine(target: Header, setup: Setup, drafter: Header | None, where: Offload) -> Breakdown:
        """As engines do, it counts a head inside the target with the target."""
        planned = predict(model_of(target), setup, offload=where)
        head = {id_: Share(weights=one.weights) for id_, one in planned.drafter.items()}
        return Breakdown(
            {id_: one + head.get(id_, Share()) for id_, one in planned.target.items()},
            {id_: replace(one, weights=0) for id_, one in planned.drafter.items()},
        )

    curves, small, large = Curves(engine), known("qwen3.6-27b", "Q4_K_M"), known("qwen3.6-27b")
    curves(large, Setup(16_384, MTP), None, HERE)
    for model in (small, large):
        for context in (16_384, 20_000):
            setup = Setup(context, MTP)
            said, right = curves(model, setup, None, HERE), engine(model, setup, None, HERE)
            assert said
            assert said.target[HOST].weights == right.target[HOST].weights
            assert said.total == pytest.approx(right.total, abs=4)


def test_what_is_known_asks_nothing_and_is_exact_where_it_was_asked() -> None:
    engine, model = Engine(), known("llama-3.1-8b")
    curves = Curves(engine)
    assert curves.known(model, Setup(10_000), None, HERE) is None
    for context in (8192, 32_768):
        curves.exact(model, Setup(context), None, HERE)
    for context in (8192, 10_000, 32_768, 512, 100_000):
        assert curves.known(model, Setup(context), None, HERE) == predict(
            model_of(model), Setup(context)
        )
    assert curves.known(model, Setup(10_000, kv_type="q8_0"), None, HERE) is None
    assert engine.asked == [8192, 32_768]


def test_beside_one_answer_the_formula_is_corrected_by_what_it_was_off_there() -> None:
    model = known("llama-3.1-8b")

    def engine(target: Header, setup: Setup, drafter: Header | None, where: Offload) -> Breakdown:
        planned = predict(model_of(target), setup)
        more = Share(context=0, compute=50 * MIB)
        return replace(planned, target={id_: one + more for id_, one in planned.target.items()})

    curves = Curves(engine)
    curves.exact(model, Setup(8192), None, HERE)
    for context in (4096, 20_000):
        said = curves.known(model, Setup(context), None, HERE)
        assert said
        by_formula = predict(model_of(model), Setup(context)).target[HOST]
        assert said.target[HOST] == by_formula + Share(compute=50 * MIB)


def test_an_engine_that_cannot_be_asked_just_now_is_asked_again() -> None:
    answers = [None, Breakdown({HOST: Share(1, 2, 3)})]
    curves = Curves(lambda *_: answers.pop(0))
    model = known("llama-3.1-8b")
    assert curves.exact(model, Setup(8192), None, HERE) is None
    assert curves.exact(model, Setup(8192), None, HERE) is not None


def test_answers_are_taken_along_to_another_way_of_asking() -> None:
    engine, model = Engine(), known("llama-3.1-8b")
    curves = Curves(engine)
    curves.exact(model, Setup(8192), None, HERE)
    copy = curves.copied(Silent())
    assert copy.known(model, Setup(8192), None, HERE) == predict(model_of(model), Setup(8192))
    copy.exact(model, Setup(8192), None, HERE)
    with pytest.raises(SlipstreamError):
        copy.exact(model, Setup(4096), None, HERE)
