import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gguf_files import (
    DEMO,
    DEMO_DFLASH,
    DEMO_MTP,
    DEMO_SMALL,
    write_dflash,
    write_dflash_of_another_target,
    write_dspark,
    write_eagle3,
    write_imatrix,
    write_mtp,
    write_projector,
    write_target,
)
from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters import discovery
from slipstream.drafters.attached import Fetched, attach, choose_drafter
from slipstream.drafters.discovery import NGRAM
from slipstream.drafters.kinds import Drafter, DrafterKind, Unfit
from slipstream.drafters.lineage import Place
from slipstream.drafters.near import files_near
from slipstream.weights.shards import read_model


def find_drafters(target: Path, cancel: CancelToken | None = None) -> tuple[Drafter, ...]:
    return discovery.find_drafters(read_model(target), cancel).drafters


def unfit(target: Path) -> dict[str, Unfit]:
    return {one.path.name: one for one in discovery.find_drafters(read_model(target)).unfit}


def kinds(target: Path) -> list[DrafterKind]:
    return [drafter.kind for drafter in find_drafters(target)]


def files(target: Path) -> list[str]:
    return [drafter.path.name for drafter in find_drafters(target) if drafter.path]


def test_the_demo_drafts_with_its_own_head_first() -> None:
    drafters = find_drafters(DEMO)
    assert drafters[0].kind is DrafterKind.MTP
    assert drafters[0].path is None
    assert drafters[0].proven
    assert {drafter.path for drafter in drafters} == {None, DEMO_DFLASH, DEMO_SMALL}
    assert drafters[-1] == NGRAM


def test_a_drafter_beside_the_small_demo() -> None:
    dflash = find_drafters(DEMO_SMALL)[1]
    assert (dflash.kind, dflash.path, dflash.proven) == (DrafterKind.DFLASH, DEMO_DFLASH, True)
    assert (dflash.bytes, dflash.longest_draft) == (DEMO_DFLASH.stat().st_size, 7)


@pytest.mark.parametrize("folder", [".", "MTP", "mtp", "Mtp", "dspark", "DFlash"])
def test_drafters_lie_beside_the_model_or_in_their_own_folder(tmp_path: Path, folder: str) -> None:
    target = tmp_path / "Slipstream-Demo-3M-Q8_0.gguf"
    shutil.copy(DEMO_SMALL, target)
    (tmp_path / folder).mkdir(exist_ok=True)
    shutil.copy(DEMO_MTP, tmp_path / folder)
    assert files(target) == [DEMO_MTP.name]


def test_drafters_in_other_folders_are_not_this_model_s(tmp_path: Path) -> None:
    target = write_target(tmp_path / "model" / "Test-Model.gguf", "qwen35")
    write_mtp(tmp_path / "model" / "other" / "mtp-Test-Model.gguf")
    write_mtp(tmp_path / "mtp-Test-Model.gguf")
    assert kinds(target) == [DrafterKind.NGRAM]


def test_around_the_folder_of_a_quantization_lies_its_repository(tmp_path: Path) -> None:
    target = write_target(tmp_path / "UD-Q4_K_XL" / "Test-Model-UD-Q4_K_XL.gguf", "qwen35")
    write_mtp(tmp_path / "mtp-Test-Model-Q8_0.gguf")
    write_mtp(tmp_path / "MTP" / "Test-Model-MTP-BF16.gguf")
    assert files(target) == ["mtp-Test-Model-Q8_0.gguf", "Test-Model-MTP-BF16.gguf"]


def test_the_best_comes_first(tmp_path: Path) -> None:
    target = write_target(tmp_path / "Test-Model-Q8_0.gguf", "qwen35", mtp=1, padding=400)
    write_target(tmp_path / "Test-Model-Q2_K.gguf", "qwen35", padding=200)
    write_target(tmp_path / "Tiny-Model-Q8_0.gguf", "qwen35", name="Tiny", layers=2)
    write_eagle3(tmp_path / "eagle3-Test-Model.gguf")
    write_dflash(tmp_path / "dflash-Test-Model-BF16.gguf")
    write_dflash(tmp_path / "dflash-Test-Model-Q8_0.gguf")
    write_dspark(tmp_path / "a-dspark.gguf", name="Another Model")
    write_dspark(tmp_path / "dspark-Test-Model.gguf")
    write_mtp(tmp_path / "mtp-Test-Model.gguf")

    found = find_drafters(target)

    assert [drafter.path and drafter.path.name for drafter in found] == [
        None,
        "mtp-Test-Model.gguf",
        "dspark-Test-Model.gguf",
        "dflash-Test-Model-Q8_0.gguf",
        "dflash-Test-Model-BF16.gguf",
        "eagle3-Test-Model.gguf",
        "Tiny-Model-Q8_0.gguf",
        "Test-Model-Q2_K.gguf",
        "a-dspark.gguf",
        None,
    ]
    assert [drafter.kind for drafter in found[6:8]] == [DrafterKind.DRAFT, DrafterKind.SELF]
    assert not found[8].proven


def test_models_that_are_not_smaller_do_not_draft(tmp_path: Path) -> None:
    target = write_target(tmp_path / "Test-Model-Q4_K_M.gguf", padding=100)
    write_target(tmp_path / "Test-Model-Q8_0.gguf", padding=200)
    write_target(tmp_path / "Sister-Q4_K_M.gguf", name="Sister", padding=100)
    assert kinds(target) == [DrafterKind.NGRAM]


def test_what_does_not_fit_or_is_broken_is_left_out(tmp_path: Path) -> None:
    target = tmp_path / "Slipstream-Demo-3M-Q8_0.gguf"
    shutil.copy(DEMO_SMALL, target)
    (tmp_path / "a.gguf").write_text("I am a text")
    (tmp_path / "b.gguf").write_bytes(DEMO_DFLASH.read_bytes()[:20_000])
    (tmp_path / "cut-dflash.gguf").write_bytes(DEMO_DFLASH.read_bytes()[:1_000_000])
    (tmp_path / "folder.gguf").mkdir()
    (tmp_path / "dead-link.gguf").symlink_to(tmp_path / "nowhere.gguf")
    write_dflash_of_another_target(tmp_path / "wide.gguf")
    write_projector(tmp_path / "mmproj.gguf")
    write_imatrix(tmp_path / "imatrix.gguf")
    assert kinds(target) == [DrafterKind.MTP, DrafterKind.NGRAM]


def test_a_drafter_that_does_not_fit_is_told_with_its_reason(tmp_path: Path) -> None:
    target = write_target(tmp_path / "Test-Model.gguf")
    write_dflash(tmp_path / "dflash-Test-Model.gguf", width=32)
    write_dflash(tmp_path / "dflash-Other.gguf", width=32, name="Other DFlash")
    wide = unfit(target)["dflash-Test-Model.gguf"]
    assert wide.kind is DrafterKind.DFLASH
    assert wide.reason == "Its hidden size is 32, this model's is 64."
    assert wide.missed
    assert not unfit(target)["dflash-Other.gguf"].missed


def test_a_damaged_drafter_is_told_whether_its_header_can_be_read_or_not(tmp_path: Path) -> None:
    target = tmp_path / "Slipstream-Demo-3M-Q8_0.gguf"
    shutil.copy(DEMO_SMALL, target)
    (tmp_path / "cut-dflash.gguf").write_bytes(DEMO_DFLASH.read_bytes()[:1_000_000])
    (tmp_path / "dflash").mkdir()
    (tmp_path / "dflash" / "a.gguf").write_bytes(DEMO_DFLASH.read_bytes()[:20_000])
    (tmp_path / "mtp-text.gguf").write_text("I am a text")
    (tmp_path / "text.gguf").write_text("I am a text, and no drafter by my name")

    found = unfit(target)

    assert {name: one.kind for name, one in found.items()} == {
        "cut-dflash.gguf": DrafterKind.DFLASH,
        "a.gguf": DrafterKind.DFLASH,
        "mtp-text.gguf": DrafterKind.MTP,
    }
    assert found["cut-dflash.gguf"].reason.startswith("It is incomplete: ")
    assert found["a.gguf"].reason == "a.gguf is damaged: it ends in the middle of its header."
    assert found["mtp-text.gguf"].reason == "This is not a GGUF file: mtp-text.gguf."
    assert all(one.missed for one in found.values())


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text there")
def test_a_drafter_whose_name_is_no_text_is_told(tmp_path: Path) -> None:
    target = tmp_path / "Slipstream-Demo-3M-Q8_0.gguf"
    shutil.copy(DEMO_SMALL, target)
    shutil.copy(DEMO_DFLASH, Path(os.fsdecode(os.fsencode(tmp_path) + b"/dflash-\xff.gguf")))
    (one,) = unfit(target).values()
    assert one.reason == "Its name is not valid text."
    assert kinds(target) == [DrafterKind.MTP, DrafterKind.NGRAM]


def test_shards_of_the_model_itself_are_not_its_drafters(tmp_path: Path) -> None:
    first = write_target(tmp_path / "M-00001-of-00002.gguf", padding=100)
    write_target(tmp_path / "M-00002-of-00002.gguf")
    assert kinds(first) == [DrafterKind.NGRAM]


def test_the_block_limits_the_draft(tmp_path: Path) -> None:
    target = write_target(tmp_path / "Test-Model.gguf")
    keys = {"dflash.sample_from_anchor": True}
    write_dspark(tmp_path / "dspark-Test-Model.gguf", keys=keys)
    write_dflash(tmp_path / "dflash-Test-Model.gguf")
    assert [drafter.longest_draft for drafter in find_drafters(target)] == [8, 7, None]


def test_several_heads_draft_one_token_each(tmp_path: Path) -> None:
    target = write_target(tmp_path / "Step.gguf", "step35", mtp=3)
    assert find_drafters(target)[0].longest_draft == 3


def test_a_slow_disk_does_not_keep_the_model_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The smallest files come first: they are the drafters."""
    target = write_target(tmp_path / "Test-Model-Q8_0.gguf", "qwen35", padding=400)
    write_mtp(tmp_path / "mtp-Test-Model.gguf")
    write_target(tmp_path / "Test-Model-Q2_K.gguf", "qwen35", padding=200)
    clock = iter([0.0, 1.0, 2.5])  # the start, and before each file
    monkeypatch.setattr(time, "monotonic", lambda: next(clock, 2.5))
    assert kinds(target) == [DrafterKind.MTP, DrafterKind.NGRAM]


def test_looking_for_drafters_can_be_cancelled(tmp_path: Path) -> None:
    target = write_target(tmp_path / "Test-Model.gguf", "qwen35")
    write_mtp(tmp_path / "mtp-Test-Model.gguf")
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        find_drafters(target, cancel)


def test_a_file_that_was_just_added_is_found(tmp_path: Path) -> None:
    target = write_target(tmp_path / "model.gguf")
    assert list(files_near(target)) == []
    for number in range(3):
        added = write_target(tmp_path / f"{number}.gguf")
        assert added in files_near(target)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    return tmp_path


def test_what_the_user_chose_comes_first_wherever_it_lies(home: Path) -> None:
    target = write_target(home / "a" / "Test-Model.gguf", "qwen35", mtp=1)
    chosen = write_mtp(home / "b" / "mtp-Other.gguf", name="Other Model")
    choose_drafter(target, chosen)
    first, second = find_drafters(target)[:2]
    assert (first.path, first.chosen, first.proven) == (chosen, True, False)
    assert (second.path, second.chosen, second.proven) == (None, False, True)


def test_a_chosen_file_is_not_found_twice(home: Path) -> None:
    target = write_target(home / "Test-Model.gguf", "qwen35")
    chosen = write_mtp(home / "mtp-Test-Model.gguf")
    choose_drafter(target, chosen)
    attach(target, Fetched(chosen, Place()))
    assert files(target) == [chosen.name]


def test_a_chosen_model_need_only_be_smaller(home: Path) -> None:
    target = write_target(home / "a" / "Test-Model-9B.gguf", padding=400)
    half = write_target(home / "b" / "Half-Model-4B.gguf", name="Half 4B", padding=200)
    choose_drafter(target, half)
    assert find_drafters(target)[0].kind is DrafterKind.DRAFT
    choose_drafter(half, target)
    (one,) = discovery.find_drafters(read_model(half)).unfit
    assert one.reason == "It is not smaller than this model, so it cannot make it faster."
    assert one.missed


@pytest.mark.parametrize("make", [write_projector, write_imatrix, Path])
def test_a_chosen_file_that_cannot_draft_is_told(home: Path, make: Callable[[Path], Path]) -> None:
    target = write_target(home / "a" / "Test-Model.gguf")
    choose_drafter(target, make(home / "b" / "chosen.gguf"))
    (one,) = discovery.find_drafters(read_model(target)).unfit
    assert one.missed
    assert one.reason
    assert kinds(target) == [DrafterKind.NGRAM]


def test_where_the_user_wants_no_drafter_that_is_told(home: Path) -> None:
    target = write_target(home / "Test-Model.gguf", "qwen35", mtp=1)
    choose_drafter(target, "none")
    found = discovery.find_drafters(read_model(target))
    assert found.plain
    assert found.drafters[0].kind is DrafterKind.MTP
    assert found.target == target


def test_what_was_fetched_for_a_model_is_found_and_known_by_its_repository(home: Path) -> None:
    target = write_target(home / "a" / "Test-Model-9B.gguf", name="Test Model 9B")
    drafter = write_dflash(home / "b" / "dflash.gguf", name="model")
    attach(target, Fetched(drafter, Place("somebody/Test-Model-9B-DFlash-GGUF")))
    first = find_drafters(target)[0]
    assert (first.path, first.proven, first.chosen) == (drafter, True, False)
    drafter.unlink()
    assert kinds(target) == [DrafterKind.NGRAM]
    assert unfit(target) == {}


def test_a_draft_model_with_a_head_drafts_by_itself_without_a_limit(tmp_path: Path) -> None:
    target = write_target(tmp_path / "Large-9B.gguf", "step35", name="Large 9B", padding=900)
    write_target(tmp_path / "Small-1B.gguf", "step35", name="Small 1B", mtp=3)
    (draft, _) = find_drafters(target)
    assert (draft.kind, draft.longest_draft) == (DrafterKind.DRAFT, None)
