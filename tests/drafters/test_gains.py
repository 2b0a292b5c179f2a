"""What drafters were measured to bring is kept for these very files and this very engine."""

from pathlib import Path

import pytest

from slipstream import paths
from slipstream.drafters.gains import Gain, Run, gain_of, keep_gains
from slipstream.drafters.kinds import DrafterKind

GAIN = Gain(1.42, 1.3, 1.55, sure=True, draft_tokens=3, when=2000.5)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    target = tmp_path / "target.gguf"
    target.write_bytes(b"target")
    return Run(target, None, DrafterKind.MTP, "b1")


def test_what_was_measured_is_known(run: Run, tmp_path: Path) -> None:
    other = Run(run.target, None, DrafterKind.NGRAM, "b1")
    keep_gains([(run, GAIN)])
    keep_gains([(other, Gain(0.98, 0.9, 1.1, sure=False, draft_tokens=12, when=1.0))])
    assert gain_of(run) == GAIN
    assert gain_of(Run(run.target, None, DrafterKind.MTP, "b2")) is None
    newer = Gain(1.2, 1.1, 1.3, sure=True, draft_tokens=2, when=3000.0)
    keep_gains([(run, newer)])
    assert gain_of(run) == newer
    assert gain_of(other) is not None


def test_a_file_that_changed_was_not_measured(run: Run) -> None:
    keep_gains([(run, GAIN)])
    run.target.write_bytes(b"another target")
    assert gain_of(run) is None
    run.target.unlink()
    assert gain_of(run) is None
    keep_gains([(run, GAIN)])


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ('"speedup": 1.42', '"speedup": "fast"'),
        ('"sure": true', '"sure": 1'),
        ('"when": 2000.5', '"when": 1e17'),
    ],
)
def test_a_damaged_entry_is_no_measurement(run: Run, good: str, bad: str) -> None:
    keep_gains([(run, GAIN)])
    text = paths.gains_file().read_text()
    assert good in text
    paths.gains_file().write_text(text.replace(good, bad))
    assert gain_of(run) is None
