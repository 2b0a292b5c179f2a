import json
import os
import sys
import threading
from pathlib import Path

import pytest

from slipstream import paths
from slipstream.drafters.attached import (
    Attached,
    Fetched,
    attach,
    attached,
    choose_drafter,
    identity,
)
from slipstream.drafters.lineage import Place
from slipstream.errors import SlipstreamError

PLACE = Place("z-lab/Model-DFlash-GGUF", bases=("org/Model",))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    return tmp_path


def cached(cache: Path, commit: str, content: str = "x", repo: str = "org--Model-GGUF") -> Path:
    """A file in a Hugging Face cache."""
    file = cache / f"models--{repo}" / "snapshots" / commit / "MTP" / "a.gguf"
    file.parent.mkdir(parents=True)
    blob = cache / f"models--{repo}" / "blobs" / content
    blob.parent.mkdir(exist_ok=True)
    blob.write_text(content)
    file.symlink_to(blob)
    return file


def test_a_model_that_nothing_is_known_of_is_drafted_for_automatically(home: Path) -> None:
    assert attached(home / "model.gguf") == Attached("automatic", ())


def test_a_choice_is_kept_until_it_is_automatic_again(home: Path) -> None:
    target, drafter = home / "model.gguf", home / "drafter.gguf"
    choose_drafter(target, drafter)
    assert attached(target).choice == drafter
    choose_drafter(target, "none")
    assert attached(target).choice == "none"
    choose_drafter(target, "automatic")
    assert attached(target) == Attached()
    assert json.loads(paths.pairs_file().read_bytes()) == {}


def test_a_choice_holds_wherever_the_next_program_is_started(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    choose_drafter(Path("model.gguf"), Path("drafter.gguf"))
    monkeypatch.chdir("/")
    assert attached(home / "model.gguf").choice == home / "drafter.gguf"


def test_what_was_fetched_is_kept_with_its_repository_beside_the_choice(home: Path) -> None:
    target = home / "model.gguf"
    one, two = (Fetched(home / f"{name}.gguf", PLACE) for name in "ab")
    choose_drafter(target, "none")
    for fetched in (one, two, one):
        attach(target, fetched)
    assert attached(target) == Attached("none", (two, one))
    assert attached(home / "another.gguf") == Attached()


def test_a_model_in_the_cache_is_the_same_in_its_next_revision(home: Path) -> None:
    first, second = cached(home, "a" * 40), cached(home, "b" * 40, "y")
    assert identity(first) == identity(second) == "org/Model-GGUF:MTP/a.gguf"
    choose_drafter(first, "none")
    assert attached(second).choice == "none"


def test_a_drafter_in_the_cache_is_found_in_its_next_revision(home: Path) -> None:
    old = cached(home, "a" * 40)
    attach(home / "model.gguf", Fetched(old, PLACE))
    old.unlink()
    new = cached(home, "b" * 40, "y")
    assert attached(home / "model.gguf").fetched == (Fetched(new, PLACE),)


def test_a_model_is_known_through_a_link(home: Path) -> None:
    target, link = home / "model.gguf", home / "link.gguf"
    target.write_text("x")
    link.symlink_to(target)
    choose_drafter(link, "none")
    assert attached(target).choice == "none"


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"KEY": 5}',
        b'{"KEY": {"choice": {"file": 5}, "fetched": 5}}',
        b'{"KEY": {"choice": {"file": "a\\u0000b"}, "fetched": [5, {"file": null}, {}]}}',
        b'{"KEY": {"choice": "whatever", "fetched": [[]]}}',
    ],
)
def test_damage_counts_as_nothing(home: Path, damage: bytes) -> None:
    target = home / "model.gguf"
    key = json.dumps(identity(target))[1:-1].encode()
    paths.pairs_file().write_bytes(damage.replace(b"KEY", key))
    assert attached(target) == Attached()
    choose_drafter(target, "none")
    assert attached(target).choice == "none"


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text there")
def test_a_file_whose_name_is_no_text_can_be_chosen(home: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(home) + b"/dflash-\xff.gguf"))
    choose_drafter(home / "model.gguf", odd)
    assert attached(home / "model.gguf").choice == odd


def test_two_that_save_at_once_keep_both(home: Path) -> None:
    threads = [
        threading.Thread(target=choose_drafter, args=(home / f"{number}.gguf", "none"))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(attached(home / f"{number}.gguf").choice == "none" for number in range(8))


def test_a_folder_that_cannot_be_written_is_an_error_with_a_way_out(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "file").write_text("in the way")
    monkeypatch.setenv("SLIPSTREAM_HOME", str(home / "file"))
    assert attached(home / "model.gguf") == Attached()
    with pytest.raises(SlipstreamError) as caught:
        choose_drafter(home / "model.gguf", "none")
    assert caught.value.code == "home_not_writable"
    monkeypatch.setenv("SLIPSTREAM_HOME", str(home))
    paths.pairs_file().mkdir()
    with pytest.raises(SlipstreamError) as caught:
        choose_drafter(home / "model.gguf", "none")
    assert caught.value.code == "not_saved"
