import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from gguf_files import DEMO, DEMO_DFLASH, DEMO_MTP, DEMO_SMALL, write_every_value, write_target
from slipstream import paths
from slipstream.weights import cache
from slipstream.weights.header import TOKENS, read_header
from slipstream.weights.parser import ArrayInfo
from slipstream.weights.shards import read_model

KEY = "owner/model@0123456789abcdef/model.gguf"
ALL = [DEMO, DEMO_SMALL, DEMO_DFLASH, DEMO_MTP]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(cache, "_memory", cache._Memory())
    return tmp_path / "home"


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled as soon as they are written."""
    monkeypatch.setattr(cache, "SETTLED", -1.0)


def kept_files() -> list[Path]:
    return sorted((paths.cache_folder() / "headers").iterdir())


@pytest.mark.usefixtures("at_once")
def test_a_file_that_has_not_changed_is_not_read_again(tmp_path: Path) -> None:
    file = write_target(tmp_path / "a.gguf")
    first = read_model(file)
    assert read_model(file) is first
    assert first == read_header(file)


@pytest.mark.usefixtures("at_once")
def test_one_file_under_two_names_is_read_once(tmp_path: Path) -> None:
    file = write_target(tmp_path / "a.gguf")
    link = tmp_path / "link.gguf"
    link.symlink_to(file)
    first, second = read_model(file), read_model(link)
    assert second.tensors is first.tensors
    assert (first.path, second.path) == (file, link)


@pytest.mark.usefixtures("at_once")
def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    file = write_target(tmp_path / "a.gguf", name="First")
    before = file.stat()
    assert read_model(file).text("general.name") == "First"

    write_target(file, name="Other")  # as long as the first
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert read_model(file).text("general.name") == "Other"

    replacement = write_target(tmp_path / "b.gguf", name="Third")
    replacement.replace(file)
    assert read_model(file).text("general.name") == "Third"

    link = tmp_path / "link.gguf"
    link.symlink_to(file)
    read_model(link)
    link.unlink()
    link.symlink_to(write_target(tmp_path / "c.gguf", name="Fourth"))
    assert read_model(link).text("general.name") == "Fourth"


def test_a_file_that_is_still_being_written_is_always_read(tmp_path: Path) -> None:
    file = write_target(tmp_path / "a.gguf")
    assert read_model(file) is not read_model(file)


@pytest.mark.usefixtures("at_once")
def test_memory_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [write_target(tmp_path / f"{number}.gguf") for number in range(4)]
    monkeypatch.setattr(cache, "MEMORY_BYTES", 2 * cache._built_bytes(read_header(files[0])))
    first, second = read_model(files[0]), read_model(files[1])
    assert read_model(files[0]) is first  # used again: the second is the older one now
    read_model(files[2])
    assert read_model(files[0]) is first
    assert read_model(files[1]) is not second


@pytest.mark.usefixtures("at_once")
def test_many_threads_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [write_target(tmp_path / f"{number}.gguf", name=str(number)) for number in range(5)]
    monkeypatch.setattr(cache, "MEMORY_BYTES", 2 * cache._built_bytes(read_header(files[0])))
    wrong: list[object] = []

    def read() -> None:
        for _ in range(40):
            for number, file in enumerate(files):
                name = read_model(file).text("general.name")
                if name != str(number):
                    wrong.append(name)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_header_comes_back_from_disk_as_it_was(path: Path) -> None:
    header = read_header(path)
    assert cache.stored(KEY, path) is None
    cache.store(KEY, header)
    assert cache.stored(KEY, path) == header
    assert list(cache.stored(KEY, path).keys) == list(header.keys)  # type: ignore[union-attr]
    assert cache.stored(KEY, Path("other.gguf")) == replace(header, path=Path("other.gguf"))
    assert cache.stored(f"{KEY}.other", path) is None


def test_every_value_comes_back(tmp_path: Path) -> None:
    header = read_header(write_every_value(tmp_path / "values.gguf"))
    cache.store(KEY, header)
    assert cache.stored(KEY, header.path) == header


def test_vocabularies_can_be_compared_and_take_no_space() -> None:
    cache.store(KEY, read_header(DEMO))
    tokens = cache.stored(KEY, DEMO).keys[TOKENS]  # type: ignore[union-attr]
    others = read_header(DEMO_SMALL).keys[TOKENS]
    assert isinstance(tokens, ArrayInfo)
    assert isinstance(others, ArrayInfo)
    assert (tokens.length, tokens.digest) == (others.length, others.digest)
    [file] = kept_files()
    # The demo's chat template is the larger part of what is left.
    assert file.stat().st_size < read_header(DEMO).data_start / 3


def test_arrays_built_on_request_are_not_kept() -> None:
    cache.store(KEY, read_header(DEMO, keep_arrays=(TOKENS,)))
    assert cache.stored(KEY, DEMO) is None


def test_damaged_entries_do_not_count_and_are_replaced() -> None:
    header = read_header(DEMO)
    cache.store(KEY, header)
    [file] = kept_files()
    whole = file.read_bytes()
    flipped = bytes([*whole[:-9], whole[-9] ^ 1, *whole[-8:]])
    for damaged in (b"", whole[:10], whole[:40], whole[:-1], whole + b"0", flipped):
        file.write_bytes(damaged)
        assert cache.stored(KEY, DEMO) is None
    cache.store(KEY, header)
    assert cache.stored(KEY, DEMO) == header


@pytest.mark.skipif(os.name != "posix", reason="pipes have names there")
def test_a_pipe_in_place_of_an_entry_is_not_waited_for() -> None:
    cache.store(KEY, read_header(DEMO))
    (file,) = kept_files()
    file.unlink()
    os.mkfifo(file)
    assert cache.stored(KEY, DEMO) is None


def test_the_folder_has_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "DISK_FILES", 3)
    header = read_header(DEMO_DFLASH)
    for number in range(5):
        cache.store(f"{number}", header)
        os.utime(cache._file(f"{number}"), (number, number))
        assert cache.stored("0", DEMO_DFLASH) == header  # what is used stays
    assert len(kept_files()) == 3
    assert [cache.stored(f"{number}", DEMO_DFLASH) is None for number in range(5)] == [
        False, True, True, False, False,
    ]  # fmt: skip
    monkeypatch.setattr(cache, "DISK_BYTES", kept_files()[0].stat().st_size)
    cache.store("newest", header)
    assert kept_files() == [cache._file("newest")]


def test_without_a_folder_nothing_is_kept(home: Path) -> None:
    home.write_text("in the way")
    cache.store(KEY, read_header(DEMO))
    assert cache.stored(KEY, DEMO) is None
