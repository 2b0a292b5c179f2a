"""What launches took is kept beside what was predicted, and teaches how much to keep free."""

import json
import multiprocessing
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slipstream.paths import predictions_file
from slipstream.planning.parts import HOST, Breakdown, Share
from slipstream.planning.truth import (
    DEFAULT_MARGIN,
    KEPT,
    LARGEST_MARGIN,
    LEARNT_FROM,
    Outcome,
    Prediction,
    margin,
    recent,
    record,
)

GIB = 1 << 30


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    monkeypatch.setenv("SLIPSTREAM_HOME", str(home))
    return home


def outcome(took: float = 1.0, backend: str = "CUDA", number: int = 0) -> Outcome:
    """A launch that was predicted to take 10 GiB of a card, and took ``took`` times as much."""
    return Outcome(
        model="Model",
        quantization="Q4_K_M",
        engine="embedded",
        build="1",
        backends={HOST: "CPU", f"{backend}0": backend},
        context=4096,
        kv_type="f16",
        spec="mtp",
        draft_tokens=number,
        predicted=Prediction(
            Breakdown({f"{backend}0": Share(8 * GIB, GIB, GIB), HOST: Share(GIB)}), "dry-run"
        ),
        loaded=Breakdown(
            {f"{backend}0": Share(8 * GIB, int(GIB * (10 * took - 8))), HOST: Share(GIB)}
        ),
        time=float(number),
    )


def test_the_newest_outcome_comes_first() -> None:
    for number in range(5):
        record(outcome(number=number))
    assert recent(3) == tuple(outcome(number=number) for number in (4, 3, 2))
    assert len(recent(99)) == 5


def test_nothing_recorded_is_nothing_known() -> None:
    assert recent(5) == ()
    assert margin("CUDA") == DEFAULT_MARGIN


@pytest.mark.parametrize(
    ("took", "expected"), [(0.5, 0.05), (1.0, 0.05), (1.02, 0.05), (1.1, 0.1), (1.5, 0.25)]
)
def test_a_margin_covers_what_was_missing_within_limits(took: float, expected: float) -> None:
    record(outcome(took))
    assert DEFAULT_MARGIN <= margin("CUDA") <= LARGEST_MARGIN
    assert margin("CUDA") == pytest.approx(expected, abs=0.001)
    assert margin("Vulkan") == margin("CPU") == DEFAULT_MARGIN


def test_the_worst_launch_counts_until_it_is_long_ago() -> None:
    record(outcome(1.2))
    for _ in range(LEARNT_FROM - 1):
        record(outcome())
        record(outcome(1.1, "Vulkan"))
    assert margin("CUDA") == pytest.approx(0.2, abs=0.001)
    record(outcome())
    assert margin("CUDA") == DEFAULT_MARGIN


def test_layers_that_lay_elsewhere_teach_nothing() -> None:
    moved = outcome()
    loaded = {"CUDA0": Share(6 * GIB, GIB), HOST: Share(3 * GIB, GIB)}
    record(replace(moved, loaded=Breakdown(loaded)))
    assert margin("CUDA") == margin("CPU") == DEFAULT_MARGIN


def test_what_the_engine_rounds_away_teaches_nothing() -> None:
    small = replace(
        outcome(),
        predicted=Prediction(Breakdown({"CUDA0": Share(16 << 20)}), "dry-run"),
        loaded=Breakdown({"CUDA0": Share(20 << 20)}),
    )
    record(small)
    assert margin("CUDA") == DEFAULT_MARGIN


def test_a_drafter_that_was_not_measured_is_not_held_against_it() -> None:
    one = outcome()
    known = replace(one.predicted.breakdown, drafter_missing=True)
    loaded = replace(one.loaded, drafter={"CUDA0": Share(2 * GIB)})
    record(replace(one, predicted=Prediction(known, "dry-run"), loaded=loaded))
    assert margin("CUDA") == DEFAULT_MARGIN


def test_only_the_last_outcomes_are_kept() -> None:
    for number in range(2 * KEPT):
        record(outcome(number=number))
    lines = predictions_file().read_bytes().split(b"\n")
    assert KEPT <= len(lines) <= KEPT + 60
    assert recent(1)[0].draft_tokens == 2 * KEPT - 1
    assert len(recent(10 * KEPT)) >= KEPT
    assert [file.name for file in predictions_file().parent.iterdir()] == ["predictions.jsonl"]


def test_damaged_lines_cost_only_themselves() -> None:
    record(outcome(number=1))
    with predictions_file().open("ab") as file:
        file.write(b'\n\xff\xfe\n[1]\n{"model": 3}\nnull\n{"model": "cut o')
    record(outcome(number=2))
    assert recent(9) == (outcome(number=2), outcome(number=1))


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_wrong_values_cost_only_their_line(data: st.DataObject) -> None:
    predictions_file().unlink(missing_ok=True)
    record(outcome(number=1))
    content = json.loads(predictions_file().read_bytes())
    content[data.draw(st.sampled_from(sorted(content)))] = data.draw(values)
    with predictions_file().open("ab") as file:
        file.write(b"\n" + json.dumps(content).encode())
    assert outcome(number=1) in recent(9)
    assert DEFAULT_MARGIN <= margin("CUDA") <= LARGEST_MARGIN


def _record_many(start: int) -> None:
    for number in range(start, start + 30):
        record(outcome(number=number))


def test_several_processes_can_write() -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_record_many, args=(start,)) for start in (0, 100)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    found = {one.draft_tokens for one in recent(99)}
    assert found == {*range(30), *range(100, 130)}


def test_a_home_that_cannot_be_written_is_no_error(own_home: Path) -> None:
    own_home.touch()  # in the place of the folder
    record(outcome())
    assert recent(5) == ()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a file of Linux")
def test_a_full_disk_is_no_error() -> None:
    predictions_file().symlink_to("/dev/full")
    record(outcome())


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_only_the_user_can_read_it() -> None:
    for _ in range(KEPT + 60):
        record(outcome())
    assert stat.S_IMODE(predictions_file().stat().st_mode) == 0o600
