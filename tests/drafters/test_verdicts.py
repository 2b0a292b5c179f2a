import json
import os
from pathlib import Path

import pytest

from slipstream import paths
from slipstream.drafters.kinds import DrafterKind
from slipstream.drafters.verdicts import MOST, Verdict, record, verdict_on

MTP, DFLASH = DrafterKind.MTP, DrafterKind.DFLASH
IDLE = Verdict(False, "It drafted nothing.", 0, 0, "b1", 1000.5)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    target, drafter = tmp_path / "target.gguf", tmp_path / "drafter.gguf"
    target.write_bytes(b"target")
    drafter.write_bytes(b"drafter")
    return target, drafter


def test_what_was_seen_is_known_for_these_files_kind_and_engine(files: tuple[Path, Path]) -> None:
    target, drafter = files
    record(target, drafter, DFLASH, IDLE)
    assert verdict_on(target, drafter, DFLASH, "b1") == IDLE
    assert verdict_on(target, drafter, DFLASH, "b2") is None
    assert verdict_on(target, drafter, MTP, "b1") is None
    assert verdict_on(target, None, DFLASH, "b1") is None
    assert verdict_on(drafter, target, DFLASH, "b1") is None


def test_a_head_inside_needs_no_file(files: tuple[Path, Path]) -> None:
    record(files[0], None, MTP, IDLE)
    assert verdict_on(files[0], None, MTP, "b1") == IDLE


def test_the_last_one_counts(files: tuple[Path, Path]) -> None:
    good = Verdict(True, "It drafts.", 60, 30, "b1", 2000.0)
    record(*files, DFLASH, IDLE)
    record(*files, DFLASH, good)
    assert verdict_on(*files, DFLASH, "b1") == good


def test_a_changed_file_is_another_one(files: tuple[Path, Path]) -> None:
    target, drafter = files
    record(target, drafter, DFLASH, IDLE)
    os.utime(drafter, ns=(1, 1))
    assert verdict_on(target, drafter, DFLASH, "b1") is None
    drafter.unlink()
    assert verdict_on(target, drafter, DFLASH, "b1") is None
    record(target, drafter, DFLASH, IDLE)


def test_the_same_file_through_a_link_is_known(files: tuple[Path, Path]) -> None:
    target, drafter = files
    link = target.with_name("link.gguf")
    link.symlink_to(target)
    record(link, drafter, DFLASH, IDLE)
    assert verdict_on(target, drafter, DFLASH, "b1") == IDLE


@pytest.mark.parametrize(
    "damage", ["", "[]", "{", '{"a": 1}', "null", '{"a": {"ok": 1}}', "[" * 100_000, "\xff"]
)
def test_a_damaged_file_holds_nothing_and_is_replaced(
    files: tuple[Path, Path], damage: str
) -> None:
    paths.verdicts_file().write_bytes(damage.encode("latin-1"))
    assert verdict_on(*files, DFLASH, "b1") is None
    record(*files, DFLASH, IDLE)
    assert verdict_on(*files, DFLASH, "b1") == IDLE


@pytest.mark.parametrize("field", ["ok", "reason", "drafted", "accepted", "engine", "when"])
@pytest.mark.parametrize("value", [None, [], "nonsense", 1e30])
def test_a_damaged_entry_counts_as_none(
    files: tuple[Path, Path], field: str, value: object
) -> None:
    record(*files, DFLASH, IDLE)
    entries = json.loads(paths.verdicts_file().read_bytes())
    for entry in entries.values():
        entry[field] = value
    paths.verdicts_file().write_text(json.dumps(entries))
    found = verdict_on(*files, DFLASH, "b1")
    assert found is None or isinstance(value, str)


def test_the_file_does_not_grow_for_ever(files: tuple[Path, Path]) -> None:
    old: dict[str, object] = {f"old-{number}": {} for number in range(2 * MOST)}
    paths.verdicts_file().write_text(json.dumps(old))
    record(*files, DFLASH, IDLE)
    entries = json.loads(paths.verdicts_file().read_bytes())
    assert len(entries) == MOST
    assert verdict_on(*files, DFLASH, "b1") == IDLE
