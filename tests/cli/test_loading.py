"""Each rung of the ladder is told: what is tried now."""

from pathlib import Path

import pytest

from slipstream.cli.loading import next_attempt
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.engine.config import LaunchConfig
from slipstream.engine.events import FellBack
from slipstream.engine.ladder import rungs_below


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            SpecConfig(DrafterKind.MTP, draft_tokens=4, with_ngram=True),
            ["2 draft tokens", "out n-grams", "out a drafter", "8,192 tokens of context"],
        ),
        (
            SpecConfig(DrafterKind.DFLASH, Path("d.gguf"), draft_tokens=3),
            ["1 draft token", "out a drafter", "8,192 tokens of context"],
        ),
        (PLAIN, ["8,192 tokens of context", "4,096 tokens of context"]),
    ],
)
def test_every_rung_is_told(spec: SpecConfig, told: list[str]) -> None:
    config = LaunchConfig(Path("m.gguf"), 16384, spec)
    attempts = []
    for rung in rungs_below(config):
        fall = FellBack(config.spec, rung.spec, rung.context, "not_enough_memory", "No memory.")
        attempts.append(next_attempt(fall))
        config = rung
    expected = [f"Trying with{'' if words.startswith('out') else ' '}{words}." for words in told]
    assert attempts[: len(expected)] == expected


def test_giving_up_images_is_told() -> None:
    fall = FellBack(PLAIN, PLAIN, 4096, "projector_unfit", "No.", without_images=True)
    assert next_attempt(fall) == "Trying without images."
