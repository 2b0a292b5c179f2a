"""Comparisons that were made are kept, and can be taken elsewhere as a table or as text."""

import csv
import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from slipstream import paths
from slipstream.compare import history
from slipstream.compare.export import as_csv, as_markdown
from slipstream.compare.history import keep_run, kept_runs

BEGIN = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
PLAIN: dict[str, Any] = {
    "mode": "plain",
    "draft_tokens": 0,
    "tokens_per_second": 33.24,
    "speedup": 1.0,
    "interval": [1.0, 1.0],
    "outcome": "no difference",
    "acceptance": None,
    "tokens_per_step": 1.0,
    "first_token": 0.29,
    "prompt_per_second": 200.0,
    "extra_memory": 0,
    "same_text": 8,
    "of": 8,
    "error": None,
}
MTP = PLAIN | {
    "mode": "mtp",
    "draft_tokens": 3,
    "tokens_per_second": 62.1,
    "speedup": 1.87,
    "interval": [1.83, 1.91],
    "outcome": "faster",
    "acceptance": 0.81,
    "tokens_per_step": 3.4,
    "extra_memory": 580_000_000,
}
BROKEN = PLAIN | {"mode": "dflash", "speedup": None, "interval": None}
BROKEN |= {"error": {"message": "dflash cannot be run here."}}
DOCUMENT: dict[str, Any] = {
    "machine": {"os": "Linux", "cpu": {"name": "A CPU"}, "ram": {"total": 16_000_000_000}},
    "engine": "embedded 1",
    "model": "/models/m.gguf",
    "context": 4096,
    "passes": 4,
    "tokens": 256,
    "modes": [PLAIN, MTP, BROKEN],
    "verdict": {"use": "mtp", "draft_tokens": 3, "reason": "mtp is 1.87 times as fast."},
}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))


def test_the_newest_come_first_and_the_oldest_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST", 3)
    for hour in range(5):
        keep_run(DOCUMENT | {"context": hour}, BEGIN + timedelta(hours=hour))
    found = list(kept_runs())
    assert [one.document["context"] for one in found] == [4, 3, 2]
    assert found[0].when == BEGIN + timedelta(hours=4)


def test_what_cannot_be_read_is_left_out() -> None:
    keep_run(DOCUMENT, BEGIN)
    folder = paths.comparisons_folder()
    (folder / "20990101T000000000000.json").write_text('{"modes": "no"}')
    (folder / "a name.json").write_text("{}")
    (folder / "20990102T000000000000.json").write_text("{")
    assert [one.document for one in kept_runs()] == [DOCUMENT]


def test_a_table_for_other_programs() -> None:
    plain, mtp, broken = csv.DictReader(io.StringIO(as_csv(DOCUMENT)))
    assert (plain["mode"], plain["tokens_per_second"], plain["error"]) == ("plain", "33.24", "")
    assert (mtp["speedup"], mtp["low"], mtp["high"], mtp["outcome"]) == (
        *("1.87", "1.83", "1.91", "faster"),
    )
    assert (broken["speedup"], broken["error"]) == ("", "dflash cannot be run here.")


def test_text_to_paste() -> None:
    text = as_markdown(DOCUMENT)
    assert text.startswith("**mtp is 1.87 times as fast.**\n")
    assert "| mtp | 62.1 | 1.87 (1.83 to 1.91) | 81% | 3.40 | 0.29 s | 580 MB |" in text
    assert "| dflash | dflash cannot be run here. |" in text
    assert "Measured with embedded 1 on A CPU, 16.0 GB, Linux: 4 passes of 256 tokens" in text
