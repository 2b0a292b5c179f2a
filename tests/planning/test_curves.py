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
from slipstream.planning.layouts import Measure
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


def learnt(measure: Measure, model: Header, setup: Setup, drafter: Header | None = None) -> Curves:
    """What was asked for at every stop that a slider is answered from."""
    curves = Curves(measure)
    for stop in STOPS:
        curves.exact(model, replace(setup, context=stop), drafter, HERE)
    return curves


def test_at_a_stop_it_is_what_the_engine_says() -> None:
    engine, model = Engine(), known("qwen3.6-27b")
    curves = learnt(engine, model, Setup(0, MTP))
    for stop in STOPS:
        setup = Setup(stop, MTP)
        assert curves.known(model, setup, None, HERE) == predict(model_of(model), setup)
    assert engine.asked == list(STOPS)


def test_between_stops_it_lies_on_the_line_and_asks_nothing() -> None:
    engine, model = Engine(), known("llama-3.1-8b")
    said = learnt(engine, model, Setup(0)).known(model, Setup(10_240), None, HERE)
    assert said
    assert said.target[HOST].context == 1280 * MIB
    assert engine.asked == list(STOPS)


def test_quantizations_of_a_model_share_what_was_asked() -> None:
    engine = Engine()
    curves = Curves(engine)
    for label in ("Q8_0", "Q4_K_M"):
        curves.exact(known("llama-3.1-8b", label), Setup(4096), None, HERE)
    assert engine.asked == [4096]


@pytest.mark.parametrize(
    ("setup", "where", "drafter"),
    [
        (Setup(4096, MTP), HERE, None),
        (Setup(4096, kv_type="q8_0"), HERE, None),
        (Setup(4096), Offload({"CUDA0": 66}), None),
        (Setup(4096), HERE, header("dflash", path=Path("drafter.gguf"))),
    ],
)
def test_another_question_is_asked_again(
    setup: Setup, where: Offload, drafter: Header | None
) -> None:
    engine, model = Engine(), known("qwen3.6-27b")
    curves = Curves(engine)
    curves.exact(model, Setup(4096), None, HERE)
    assert curves.known(model, setup, drafter, where) is None
    curves.exact(model, setup, drafter, where)
    assert engine.asked == [4096, 4096]


def test_an_engine_that_fails_fails_here() -> None:
    with pytest.raises(SlipstreamError):
        Curves(Silent()).exact(known("qwen3-8b"), Setup(1000), None, HERE)


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

    guess = learnt(engine, model, setup).known(model, setup, None, HERE)
    said = engine(model, setup, None, HERE)
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

    small, large = known("qwen3.6-27b", "Q4_K_M"), known("qwen3.6-27b")
    curves = learnt(engine, large, Setup(0, MTP))
    for model in (small, large):
        for context in (16_384, 20_000):
            setup = Setup(context, MTP)
            said = curves.known(model, setup, None, HERE)
            right = engine(model, setup, None, HERE)
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
