import os
import shutil
import sys
from pathlib import Path

import pytest

from gguf_files import (
    DEMO,
    DEMO_DFLASH,
    DEMO_SMALL,
    write_dflash,
    write_mtp,
    write_projector,
    write_target,
)
from slipstream.cancel import Cancelled, CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.cache import hub_cache
from slipstream.hub.reference import resolve, resolve_all
from slipstream.hub.renamed import remember
from slipstream.weights.shards import read_model
from slipstream.words import facts_lines


def error_of(text: str) -> SlipstreamError:
    with pytest.raises(SlipstreamError) as caught:
        resolve(text)
    return caught.value


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty Hugging Face cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("HF_HUB_CACHE", str(folder))
    return folder


def snapshot(cache: Path, revision: str = "abc", *, main: bool = True) -> Path:
    home = cache / "models--owner--Test-GGUF"
    if main:
        (home / "refs").mkdir(parents=True, exist_ok=True)
        (home / "refs" / "main").write_text(revision)
    return home / "snapshots" / revision


def test_the_demos_come_with_the_app() -> None:
    assert resolve("demo") == DEMO
    assert resolve("demo-small") == DEMO_SMALL


def test_a_path_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolve(str(DEMO_SMALL)) == DEMO_SMALL
    monkeypatch.chdir(tmp_path)
    shutil.copy(DEMO_SMALL, tmp_path / "here.gguf")
    assert resolve("here.gguf") == Path("here.gguf")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert resolve("~/here.gguf") == tmp_path / "here.gguf"


def test_any_shard_stands_for_its_set(tmp_path: Path) -> None:
    first = write_target(tmp_path / "M-00001-of-00002.gguf")
    second = write_target(tmp_path / "M-00002-of-00002.gguf")
    assert resolve(str(second)) == first
    first.unlink()
    assert error_of(str(second)).code == "missing_shard"


def test_a_name_that_turns_text_round_does_not_reach_a_sentence(tmp_path: Path) -> None:
    second = write_target(tmp_path / "M\u202efugg-00002-of-00002.gguf")
    error = error_of(str(second))
    assert error.message.endswith("missing: M\\u202efugg-00001-of-00002.gguf.")
    assert "\u202e" not in "".join(facts_lines(error))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are no files there")
def test_a_pipe_is_there_and_no_model(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    assert resolve(str(pipe)) == pipe
    with pytest.raises(SlipstreamError) as caught:
        read_model(pipe)
    assert caught.value.message == f"{pipe} cannot be read. It is not a file."


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are no files there")
def test_a_pipe_in_the_place_of_a_reference_is_not_waited_for(cache: Path) -> None:
    model = write_target(snapshot(cache, main=False) / "a-Q8_0.gguf")
    (cache / "models--owner--Test-GGUF" / "refs").mkdir()
    os.mkfifo(cache / "models--owner--Test-GGUF" / "refs" / "main")
    assert resolve("owner/Test-GGUF") == model


def test_a_folder_stands_for_the_only_model_in_it(tmp_path: Path) -> None:
    target = tmp_path / "model.gguf"
    shutil.copy(DEMO_SMALL, target)
    shutil.copy(DEMO_DFLASH, tmp_path)
    write_mtp(tmp_path / "b.gguf")
    write_projector(tmp_path / "c.gguf")
    (tmp_path / "text.gguf").write_text("I am a text")
    (tmp_path / "notes.txt").write_text("notes")
    assert resolve(str(tmp_path)) == target


def test_a_folder_with_a_set_of_shards_holds_one_model(tmp_path: Path) -> None:
    first = write_target(tmp_path / "M-00001-of-00002.gguf")
    write_target(tmp_path / "M-00002-of-00002.gguf")
    assert resolve(str(tmp_path)) == first


def test_a_folder_with_several_models_lists_them() -> None:
    error = error_of(str(DEMO.parent))
    assert error.code == "ambiguous_model"
    assert error.facts["count"] == 2
    assert DEMO.name in error.message
    assert DEMO_SMALL.name in error.message
    assert DEMO_DFLASH.name not in error.message


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    write_dflash(tmp_path / "drafter.gguf")
    assert error_of(str(tmp_path)).code == "no_model"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing",
        "./no/such",
        "/no/such.gguf",
        "owner/repo.gguf",
        "a\0b",
        "x" * 5000,
        "~nobody/x",
    ],
)
def test_what_is_nowhere(text: str, cache: Path) -> None:
    assert error_of(text).code == "not_found"


def test_a_repository_in_the_cache(cache: Path) -> None:
    target = write_target(snapshot(cache) / "Test-Q4_K_M.gguf")
    write_projector(snapshot(cache) / "mmproj-F16.gguf")
    assert resolve("owner/Test-GGUF") == target
    assert resolve("owner/Test-GGUF:Q4_K_M") == target
    assert resolve("owner/Test-GGUF:q4_k_m") == target


@pytest.mark.parametrize("mirror", [" https://hub.example/ ", "https://hub.example"])
def test_an_address_on_a_mirror_is_one_of_the_hub(
    cache: Path, mirror: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = write_target(snapshot(cache) / "Test-Q8_0.gguf")
    monkeypatch.setenv("HF_ENDPOINT", mirror)
    assert resolve("https://hub.example/owner/Test-GGUF") == target


def test_an_address_of_a_mirror_that_is_none_does_not_matter(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = write_target(snapshot(cache) / "Test-Q8_0.gguf")
    monkeypatch.setenv("HF_ENDPOINT", "https://[half")
    assert resolve("owner/Test-GGUF") == target


def test_a_quantization_chooses_among_several(cache: Path) -> None:
    write_target(snapshot(cache) / "Test-Q4_K_M.gguf")
    large = write_target(snapshot(cache) / "Q8_0" / "Test-Q8_0-00001-of-00001.gguf")
    plain = write_target(snapshot(cache) / "UD-Q2_K_XL" / "Test.gguf")
    assert resolve("owner/Test-GGUF:Q8_0") == large
    assert resolve("owner/Test-GGUF:UD-Q2_K_XL") == plain
    error = error_of("owner/Test-GGUF")
    assert error.code == "ambiguous_model"
    assert error.action == "Add a quantization: owner/Test-GGUF:QUANT."


def test_the_main_revision_comes_first_and_older_ones_serve_too(cache: Path) -> None:
    old = write_target(snapshot(cache, "old", main=False) / "Test-Q8_0.gguf")
    write_target(snapshot(cache, "old", main=False) / "Test-Q4_K_M.gguf")
    new = write_target(snapshot(cache, "new") / "Test-Q4_K_M.gguf")
    assert resolve("owner/Test-GGUF:Q4_K_M") == new
    assert resolve("owner/Test-GGUF:Q8_0") == old


def test_a_repository_that_was_renamed_is_found_by_its_old_name(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    target = write_target(snapshot(cache) / "Test-Q8_0.gguf")
    assert error_of("old/Name:Q8_0").code == "not_downloaded"
    remember("old/Name", "owner/Test-GGUF")
    assert resolve("old/Name:Q8_0") == target
    assert resolve_all("old/Name", CancelToken()) == (target,)
    earlier = write_target(cache / "models--old--Name" / "snapshots" / "a" / "Test-Q8_0.gguf")
    assert resolve("old/Name:Q8_0") == earlier


@pytest.mark.parametrize("text", ["owner/Test-GGUF", "owner/Test-GGUF:Q8_0"])
def test_what_was_not_downloaded(text: str, cache: Path) -> None:
    write_target(cache / "models--other--Test-GGUF" / "snapshots" / "a" / "Test-Q8_0.gguf")
    error = error_of(text)
    assert error.code == "not_downloaded"
    assert text in error.message


def test_the_cache_is_where_hugging_face_s_tools_keep_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert hub_cache() == Path.home() / ".cache" / "huggingface" / "hub"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert hub_cache() == tmp_path / "xdg" / "huggingface" / "hub"
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    assert hub_cache() == tmp_path / "home" / "hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    assert hub_cache() == tmp_path / "cache"


def test_a_folder_may_mean_all_that_is_in_it(tmp_path: Path) -> None:
    shards = [write_target(tmp_path / f"B-0000{number}-of-00002.gguf") for number in (1, 2)]
    deep = write_target(tmp_path / "owner" / "model" / "Q8_0" / "A.gguf")
    drafter = write_dflash(tmp_path / "a-drafter.gguf")
    damaged = tmp_path / "damaged.gguf"
    damaged.write_text("I am a text")
    (tmp_path / "notes.txt").write_text("notes")
    assert resolve_all(str(tmp_path), CancelToken()) == (shards[0], drafter, damaged, deep)


def test_an_empty_folder_means_nothing(tmp_path: Path) -> None:
    assert resolve_all(str(tmp_path), CancelToken()) == ()


def test_a_file_and_a_demo_mean_themselves(tmp_path: Path) -> None:
    second = write_target(tmp_path / "M-00002-of-00002.gguf")
    first = write_target(tmp_path / "M-00001-of-00002.gguf")
    assert resolve_all(str(second), CancelToken()) == (first,)
    assert resolve_all("demo", CancelToken()) == (DEMO,)


def test_a_demo_is_a_demo_even_where_a_folder_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "demo").mkdir()
    monkeypatch.chdir(tmp_path)
    assert resolve_all("demo", CancelToken()) == (DEMO,)
    assert resolve_all("./demo", CancelToken()) == ()


def test_a_repository_in_the_cache_may_mean_all_its_quantizations(cache: Path) -> None:
    small = write_target(snapshot(cache) / "Test-Q4_K_M.gguf")
    large = write_target(snapshot(cache) / "Q8_0" / "Test-Q8_0.gguf")
    write_target(snapshot(cache, "old", main=False) / "Test-Q2_K.gguf")
    assert resolve_all("owner/Test-GGUF", CancelToken()) == (small, large)
    assert resolve_all("owner/Test-GGUF:Q8_0", CancelToken()) == (large,)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "not_found"),
        ("nothing", "not_found"),
        ("no/such.gguf", "not_found"),
        ("owner/Other-GGUF", "not_downloaded"),
        ("owner/Test-GGUF:Q2_K", "not_downloaded"),
    ],
)
def test_all_of_what_is_nowhere(text: str, code: str, cache: Path) -> None:
    write_target(snapshot(cache) / "Test-Q4_K_M.gguf")
    with pytest.raises(SlipstreamError) as caught:
        resolve_all(text, CancelToken())
    assert caught.value.code == code


def test_looking_through_folders_can_be_cancelled(tmp_path: Path) -> None:
    write_target(tmp_path / "Test-Q4_K_M.gguf")
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        resolve_all(str(tmp_path), cancel)
