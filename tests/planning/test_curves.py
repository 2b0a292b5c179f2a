"""A slider is answered from what an engine said at a few stops."""

from dataclasses import dataclass, field
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
from slipstream.planning.parts import HOST, Breakdown, Setup, Share
from slipstream.weights.header import Header

MTP = SpecConfig(DrafterKind.MTP, None, 3)
MIB = 1 << 20


@dataclass
class Engine:
    """Answers by the formula, and notes what it is asked."""

    asked: list[int] = field(default_factory=list)

    def __call__(
        self,
        target: Header,
        setup: Setup,
        drafter: Header | None,  # noqa: ARG002
        gpu_layers: int | None,  # noqa: ARG002
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
            assert curves(model, setup, None, None) == predict(model_of(model), setup)
    assert set(engine.asked) <= set(STOPS)


def test_between_stops_it_lies_on_the_line_and_asks_only_at_them() -> None:
    engine = Engine()
    curves = Curves(engine)
    model = known("llama-3.1-8b")
    for context in (10_000, 10_001, 4097, 16_383):
        curves(model, Setup(context), None, None)
    assert engine.asked == [4096, 16_384]
    middle = curves(model, Setup(10_240), None, None).target[HOST]
    assert middle.context == 1280 * MIB


def test_the_trained_context_is_a_stop_too() -> None:
    engine = Engine()
    model = known("qwen3-8b")  # 40,960 tokens
    Curves(engine)(model, Setup(40_960), None, None)
    Curves(engine)(model, Setup(30_000), None, None)
    assert engine.asked == [40_960, 16_384, 40_960]


def test_below_the_first_stop_and_beyond_the_last_the_engine_is_asked_itself() -> None:
    engine = Engine()
    model = known("qwen3-8b")
    for context in (300, 50_000):
        there = Curves(engine)(model, Setup(context), None, None)
        assert there == predict(model_of(model), Setup(context))
        assert context in engine.asked


@pytest.mark.parametrize("trained", [-5, 0, "many"])
def test_a_trained_context_that_is_none_is_no_stop(trained: int | str) -> None:
    engine = Engine()
    Curves(engine)(header("llama", {"context_length": trained}), Setup(3000), None, None)
    assert engine.asked == [2048, 4096]


def test_quantizations_of_a_model_share_the_stops() -> None:
    engine = Engine()
    curves = Curves(engine)
    for label in ("Q8_0", "Q4_K_M"):
        curves(known("llama-3.1-8b", label), Setup(10_000), None, None)
    assert engine.asked == [4096, 16_384]


@pytest.mark.parametrize(
    ("setup", "gpu_layers", "drafter"),
    [
        (Setup(10_000, MTP), None, None),
        (Setup(10_000, kv_type="q8_0"), None, None),
        (Setup(10_000), 0, None),
        (Setup(10_000), None, header("dflash", path=Path("drafter.gguf"))),
    ],
)
def test_another_question_has_stops_of_its_own(
    setup: Setup, gpu_layers: int | None, drafter: Header | None
) -> None:
    engine = Engine()
    curves = Curves(engine)
    model = known("qwen3.6-27b")
    curves(model, Setup(10_000), None, None)
    curves(model, setup, drafter, gpu_layers)
    assert engine.asked == [4096, 16_384] * 2


def test_an_engine_that_fails_fails_here() -> None:
    with pytest.raises(SlipstreamError):
        Curves(Silent())(known("qwen3-8b"), Setup(1000), None, None)


@settings(max_examples=25)
@given(
    st.sampled_from(["llama-3.1-8b", "qwen3.6-27b", "gemma-3-27b", "gpt-oss-20b", "deepseek-v3"]),
    st.integers(256, 300_000),
    st.sampled_from([PLAIN, MTP]),
)
def test_curves_stay_close_to_what_the_engine_would_say(
    name: str, context: int, spec: SpecConfig
) -> None:
    model, setup = known(name), Setup(context, spec)
    guess, said = Curves(Engine())(model, setup, None, None), predict(model_of(model), setup)
    assert guess.target.keys() == said.target.keys()
    for place, share in said.target.items():
        assert guess.target[place].weights == share.weights
        # Cells come in steps; a window fills up between two stops.
        assert guess.target[place].total == pytest.approx(share.total, rel=0.01, abs=64 * MIB)


def test_a_device_that_only_one_of_two_answers_has_stays_as_it_is() -> None:
    low = Breakdown({HOST: Share(1, 10, 10), "CUDA0": Share(1, 5, 5)})
    high = Breakdown({HOST: Share(1, 20, 30)})
    assert between(low, high, 0.5).target == {HOST: Share(1, 15, 20), "CUDA0": Share(1, 5, 5)}
