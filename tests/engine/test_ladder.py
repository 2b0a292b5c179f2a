"""What is tried after a launch failed, and in which order."""

from dataclasses import replace
from pathlib import Path

import pytest

from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.engine.config import LaunchConfig
from slipstream.engine.ladder import SMALLEST_CONTEXT, helps, rungs_below

MIXED = SpecConfig(DrafterKind.MTP, draft_tokens=4, with_ngram=True)
WANTED = LaunchConfig(Path("target.gguf"), context=16384, spec=MIXED)


def test_fewer_draft_tokens_then_no_ngrams_then_no_drafter_then_less_context() -> None:
    rungs = list(rungs_below(WANTED))
    assert [rung.spec for rung in rungs] == [
        replace(MIXED, draft_tokens=2),
        replace(MIXED, draft_tokens=2, with_ngram=False),
        PLAIN,
        PLAIN,
        PLAIN,
    ]
    assert [rung.context for rung in rungs] == [16384, 16384, 16384, 8192, SMALLEST_CONTEXT]


def test_a_plain_launch_can_only_get_less_context() -> None:
    plain = replace(WANTED, spec=PLAIN)
    assert [rung.context for rung in rungs_below(plain)] == [8192, 4096]


def test_images_are_given_up_before_context_and_a_bad_projector_before_the_drafter() -> None:
    sees = replace(WANTED, projector=Path("mmproj.gguf"))
    rungs = list(rungs_below(sees))
    short_of_memory = [rung for rung in rungs if helps("not_enough_memory", sees, rung)]
    assert [rung.projector is not None for rung in short_of_memory] == [True] * 3 + [False] * 3
    assert [rung.context for rung in short_of_memory] == [16384] * 4 + [8192, SMALLEST_CONTEXT]
    blind = next(rung for rung in rungs if helps("projector_unfit", sees, rung))
    assert blind == replace(sees, projector=None)
    assert not any(rung.projector for rung in rungs if helps("not_enough_memory", blind, rung))
    assert not any(helps("projector_unfit", blind, rung) for rung in rungs)


@pytest.mark.parametrize("code", ["engine_crashed", "model_too_large"])
def test_a_model_that_fails_with_its_projector_is_tried_without(code: str) -> None:
    sees = replace(WANTED, projector=Path("mmproj.gguf"))
    plain = replace(sees, spec=PLAIN)
    first = next(rung for rung in rungs_below(sees) if helps(code, sees, rung))
    assert first.projector
    (only,) = [rung for rung in rungs_below(plain) if helps(code, plain, rung)]
    assert only == replace(plain, projector=None)


def test_lack_of_memory_is_helped_by_every_rung() -> None:
    assert all(helps("not_enough_memory", WANTED, rung) for rung in rungs_below(WANTED))


@pytest.mark.parametrize("code", ["drafter_mismatch", "engine_cannot", "model_too_large"])
def test_some_failures_are_only_helped_by_going_without_the_drafter(code: str) -> None:
    (only,) = [rung for rung in rungs_below(WANTED) if helps(code, WANTED, rung)]
    assert only == replace(WANTED, spec=PLAIN)
    assert not any(helps(code, only, rung) for rung in rungs_below(only))


def test_a_crash_with_a_drafter_is_helped_by_drafting_less_but_not_by_less_context() -> None:
    helpful = [rung for rung in rungs_below(WANTED) if helps("engine_crashed", WANTED, rung)]
    assert [rung.context for rung in helpful] == [16384] * 3


def test_extra_arguments_that_are_refused_are_no_matter_of_the_drafter() -> None:
    typed = replace(WANTED, extra="--device NOPE")
    for code in ("extra_refused", "setting_conflict"):
        assert not any(helps(code, typed, rung) for rung in rungs_below(typed))


def test_other_failures_are_helped_by_nothing() -> None:
    plain = replace(WANTED, spec=PLAIN)
    assert not any(helps("unsupported_architecture", WANTED, rung) for rung in rungs_below(WANTED))
    assert not any(helps("engine_crashed", plain, rung) for rung in rungs_below(plain))
