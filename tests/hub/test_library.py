"""The library: each model once, with what belongs to it, whatever lies where."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from gguf_files import (
    DEMO_DFLASH,
    DEMO_SMALL,
    write_adapter,
    write_dflash,
    write_eagle3,
    write_imatrix,
    write_mtp,
    write_projector,
    write_target,
)
from local_stores import MAIN, OLD, in_cache, in_ollama, own_stores, settle, share, tree
from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters.attached import choose_drafter
from slipstream.drafters.identify import FileRole
from slipstream.hub.library.disk import disk
from slipstream.hub.library.duplicates import duplicates
from slipstream.hub.library.models import Library, LocalModel
from slipstream.hub.library.scan import scan
from slipstream.hub.library.stored import Source
from slipstream.hub.reference import resolve

NO_LINKS = sys.platform == "win32"
links = pytest.mark.skipif(NO_LINKS, reason="links")
Stores = tuple[Path, Path]


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stores:
    return own_stores(tmp_path, monkeypatch)


def library(*folders: Path) -> Library:
    return scan(folders, CancelToken())


def only(*folders: Path) -> LocalModel:
    (model,) = library(*folders).models
    return model


def files(found: Library) -> list[str]:
    return [model.path.name for model in found.models]


@links
def test_a_repository_is_a_row_per_quantization_with_its_drafter_and_projector(
    stores: Stores, tmp_path: Path
) -> None:
    cache, _ = stores
    for quant in ("Q4_K_M", "Q8_0"):
        target = write_target(tmp_path / f"Test-{quant}.gguf", "qwen35", padding=len(quant))
        in_cache(cache, "owner/Test-GGUF", target)
    head = in_cache(cache, "owner/Test-GGUF", write_mtp(tmp_path / "h.gguf"), "MTP/Test-Q8_0.gguf")
    eye = in_cache(cache, "owner/Test-GGUF", write_projector(tmp_path / "mmproj-F16.gguf"))
    found = library()
    assert files(found) == ["Test-Q4_K_M.gguf", "Test-Q8_0.gguf"]
    for model in found.models:
        assert [one.path for one in model.drafters] == [head]
        assert [one.path for one in model.projectors] == [eye]
        assert model.ref == f"owner/Test-GGUF:{model.quant}"
        assert resolve(model.ref) == model.path
        assert (model.source, model.revision) == (Source.HUGGINGFACE, MAIN)
        assert model.bytes == model.path.stat().st_size
        assert (model.missing, model.problem, model.unfinished) == ((), None, 0)
    assert found.models[0].name == "Test Q4_K_M"
    assert found.loose == ()
    blobs = (cache / "models--owner--Test-GGUF" / "blobs").iterdir()
    assert found.bytes == sum(blob.stat().st_size for blob in blobs)


def test_drafters_and_projectors_alone_are_no_models(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    write_dflash(folder / "model-Q8_0.gguf")
    write_eagle3(folder / "eagle3.gguf")
    write_projector(folder / "vision.gguf")
    write_imatrix(folder / "imatrix.gguf")
    write_adapter(folder / "lora.gguf")
    (folder / "mmproj-damaged.gguf").write_text("damaged")
    found = library(folder)
    assert found.models == ()
    assert {one.path.name: one.role for one in found.loose} == {
        "model-Q8_0.gguf": FileRole.DFLASH,
        "eagle3.gguf": FileRole.EAGLE3,
        "vision.gguf": FileRole.PROJECTOR,
        "mmproj-damaged.gguf": FileRole.PROJECTOR,
    }


def test_in_a_folder_of_many_models_a_drafter_belongs_to_its_own(
    stores: Stores, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    mine = write_target(folder / "Lemon-4B-Q8_0.gguf", name="Lemon 4B")
    other = write_target(folder / "Melon-4B-Q8_0.gguf", name="Melon 4B")
    write_target(folder / "Wide-4B-Q8_0.gguf", name="Wide 4B", width=128)
    write_dflash(folder / "Lemon-4B-DFlash.gguf", name="Lemon 4B DFlash")
    write_dflash(folder / "dflash-kquant.gguf", name="")
    found = {model.path: [one.path.name for one in model.drafters]
             for model in library(folder).models}  # fmt: skip
    assert found[mine] == ["Lemon-4B-DFlash.gguf", "dflash-kquant.gguf"]
    assert found[other] == ["dflash-kquant.gguf"]
    assert found[folder / "Wide-4B-Q8_0.gguf"] == []


def test_a_companion_that_names_a_model_that_is_not_there_is_loose(
    stores: Stores, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    write_target(folder / "Lemon3.6-27B-Q8_0.gguf", name="Lemon3.6 27B")
    write_dflash(folder / "dflash-Lemon3.8-27B.gguf", name="Lemon3.8 27B")
    write_projector(folder / "mmproj-SomethingElse.gguf")
    found = library(folder)
    assert [model.companions for model in found.models] == [()]
    assert [one.path.name for one in found.loose] == [
        "dflash-Lemon3.8-27B.gguf", "mmproj-SomethingElse.gguf",
    ]  # fmt: skip


def test_a_model_may_draft_for_another_and_stays_one(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    large = write_target(folder / "Lemon-4B-Q8_0.gguf", name="Lemon 4B", padding=9)
    small = write_target(folder / "small" / "Lemon-4B-Q4_0.gguf", name="Lemon 4B")
    choose_drafter(large, small)
    found = {model.path: model for model in library(folder).models}
    assert [one.path for one in found[large].drafters] == [small]
    assert found[small].drafters == ()
    choose_drafter(small, small)
    assert {model.path for model in library(folder).models} == {large, small}


def test_a_projector_belongs_to_models_of_its_width(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    write_target(folder / "small.gguf", width=64)
    write_target(folder / "large.gguf", width=2048)
    shutil.copy(write_projector(tmp_path / "p.gguf"), folder / "mmproj-F16.gguf")
    assert [len(model.projectors) for model in library(folder).models] == [1, 1]


def test_a_set_that_lacks_files_is_shown_as_such(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    write_target(folder / "a-00001-of-00003.gguf")
    write_target(folder / "a-00003-of-00003.gguf")
    write_target(folder / "b-00002-of-00002.gguf")
    one, other = library(folder).models
    assert one.path == folder / "a-00001-of-00003.gguf"
    assert one.missing == ("a-00002-of-00003.gguf",)
    assert [path.name for path in one.files] == ["a-00001-of-00003.gguf", "a-00003-of-00003.gguf"]
    assert (other.missing, other.problem) == (("b-00001-of-00002.gguf",), None)
    assert one.ref == str(one.path)


@links
def test_a_download_under_way_belongs_to_its_model(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    in_cache(cache, "owner/x", write_target(tmp_path / "a-Q8_0-00001-of-00002.gguf"))
    blob = cache / "models--owner--x" / "blobs" / f"{'1' * 64}.part"
    blob.write_bytes(bytes(4096))
    tree(cache, "owner/x", {"1" * 64: "a-Q8_0-00002-of-00002.gguf"})
    (cache / "models--owner--x" / "blobs" / "2.incomplete").write_bytes(bytes(100))
    found = library()
    (model,) = found.models
    assert (model.missing, model.unfinished) == (("a-Q8_0-00002-of-00002.gguf",), 4096)
    assert [part.bytes for part in found.parts] == [100]
    assert found.bytes == model.bytes + 4196


@links
def test_a_link_that_leads_nowhere_is_a_model_that_is_missing(
    stores: Stores, tmp_path: Path
) -> None:
    entry = in_cache(stores[0], "owner/x", write_target(tmp_path / "a.gguf"))
    (entry.parent / entry.readlink()).unlink()
    model = only()
    assert (model.path, model.missing, model.bytes) == (entry, ("a.gguf",), 0)
    assert model.ref == str(entry)


def test_damaged_files_are_listed_with_what_is_wrong(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    cut = write_target(folder / "cut.gguf")
    os.truncate(cut, cut.stat().st_size - 100)
    (folder / "page.gguf").write_text("<!DOCTYPE html>")
    (folder / "empty.gguf").touch()
    (folder / "folder.gguf").mkdir()
    assert {model.path.name: model.problem for model in library(folder).models} == {
        "cut.gguf": "It is incomplete: 100 bytes are missing.",
        "page.gguf": "This is not a GGUF file: page.gguf.",
        "empty.gguf": "This is not a GGUF file: empty.gguf.",
    }


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names are text elsewhere")
def test_names_that_are_no_text_are_listed(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    strange = Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.gguf"))
    shutil.move(write_target(tmp_path / "a.gguf"), strange)
    settle(folder)
    assert only(folder).path == strange
    assert only(folder).path == strange


@links
def test_one_file_in_two_stores_is_one_model(stores: Stores, tmp_path: Path) -> None:
    cache, home = stores
    entry = in_cache(cache, "owner/x", write_target(tmp_path / "a-Q8_0.gguf"))
    studio = home / ".lmstudio" / "models" / "owner" / "x"
    studio.mkdir(parents=True)
    (studio / "a-Q8_0.gguf").symlink_to(entry)
    folder = tmp_path / "models"
    folder.mkdir()
    os.link(entry.resolve(), folder / "hard.gguf")
    model = only(folder)
    assert model.ref == "owner/x:Q8_0"
    assert [(place.source, place.files[0].path) for place in model.places] == [
        (Source.HUGGINGFACE, entry),
        (Source.LMSTUDIO, studio / "a-Q8_0.gguf"),
        (Source.FOLDER, folder / "hard.gguf"),
    ]
    assert library(folder).bytes == model.bytes == entry.stat().st_size


@links
def test_what_two_revisions_share_is_one_model(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    for revision in (OLD, MAIN):
        shards = [write_target(tmp_path / f"a-Q8_0-0000{number}-of-00002.gguf", layers=number)
                  for number in (1, 2)]  # fmt: skip
        for shard in shards if revision == OLD else shards[:1]:
            in_cache(cache, "owner/x", shard, revision=revision)
    model = only()
    assert [place.revision for place in model.places] == [OLD, MAIN]
    assert (model.missing, len(model.files)) == ((), 2)
    assert model.path.is_relative_to(cache / "models--owner--x" / "snapshots" / OLD)


@links
def test_an_older_revision_is_a_model_of_its_own(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    old = in_cache(cache, "owner/x", write_target(tmp_path / "a-Q8_0.gguf", layers=2),
                   revision=OLD, ref=None)  # fmt: skip
    new = in_cache(cache, "owner/x", write_target(tmp_path / "a-Q8_0.gguf"))
    assert {model.path: model.ref for model in library().models} == {
        old: str(old), new: "owner/x:Q8_0",
    }  # fmt: skip


@links
def test_every_reference_leads_to_its_model(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    layouts = {
        "o/two-alike": ["a-Q8_0.gguf", "b-Q8_0.gguf", "a-Q4_0.gguf"],
        "o/in-folders": ["Q8_0/a.gguf", "UD-Q4_K_XL/a.gguf", "deep/er/a-Q2_K.gguf"],
        "o/no-label": ["model.gguf"],
        "o/mixed": ["model.gguf", "model-Q8_0.gguf"],
        "o/lower": ["model-q4_0.gguf"],
        "no-owner": ["model-Q8_0.gguf"],
    }
    for repository, paths in layouts.items():
        for number, path in enumerate(paths):
            file = write_target(tmp_path / "x.gguf", padding=1, layers=number + len(repository))
            in_cache(cache, repository, file, path)
    found = library().models
    assert len(found) == 11
    for model in found:
        assert resolve(model.ref) == model.path
    assert {model.ref for model in found if not Path(model.ref).is_absolute()} == {
        "o/two-alike:Q4_0", "o/in-folders:Q8_0", "o/in-folders:UD-Q4_K_XL",
        "o/no-label", "o/mixed:Q8_0", "o/lower:Q4_0",
    }  # fmt: skip


def test_models_of_ollama_are_named_as_ollama_does_and_opened_in_place(
    stores: Stores, tmp_path: Path
) -> None:
    store = stores[1] / ".ollama" / "models"
    layers = [
        ("model", Path(shutil.copy(DEMO_SMALL, tmp_path / "a"))),
        ("draft", Path(shutil.copy(DEMO_DFLASH, tmp_path / "b"))),
        ("projector", write_projector(tmp_path / "c")),
    ]
    model, drafter, projector = in_ollama(store, "registry.ollama.ai/library/demo/3m", layers)
    shutil.copy(model, tmp_path / "again")
    in_ollama(store, "registry.ollama.ai/library/demo/latest", [("model", tmp_path / "again")])
    one = only()
    assert (one.name, one.quant, one.ref) == ("demo:3m", "Q8_0", str(model))
    assert one.source is Source.OLLAMA
    assert [place.name for place in one.places] == ["demo:3m", "demo:latest"]
    assert [each.path for each in one.drafters] == [drafter]
    assert [each.path for each in one.projectors] == [projector]
    assert resolve(one.ref) == model


def test_a_small_model_that_ollama_says_drafts_is_no_row_of_its_own(
    stores: Stores, tmp_path: Path
) -> None:
    layers = [("model", write_target(tmp_path / "a", padding=9)),
              ("draft", write_target(tmp_path / "b"))]  # fmt: skip
    model, drafter = in_ollama(stores[1] / ".ollama" / "models", "x/y/z/1", layers)
    assert only().path == model
    assert [one.path for one in only().drafters] == [drafter]


def test_a_model_of_ollamas_that_also_drafts_is_still_a_model(
    stores: Stores, tmp_path: Path
) -> None:
    store, small = stores[1] / ".ollama" / "models", write_target(tmp_path / "small")
    copy = Path(shutil.copy(small, tmp_path / "copy"))
    in_ollama(store, "x/y/a-large/1",
              [("model", write_target(tmp_path / "a", padding=9)), ("draft", small)])  # fmt: skip
    in_ollama(store, "x/y/z-small/1", [("model", copy)])
    assert [model.name for model in library().models] == ["x/y/a-large:1", "x/y/z-small:1"]


def test_a_file_is_not_read_again_until_it_changes(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    path = write_target(folder / "a.gguf", name="Before", padding=1)
    write_dflash(folder / "dflash-kquant.gguf", name="")
    settle(folder)
    before = library(folder)
    times = path.stat()
    content = path.read_bytes()
    path.write_bytes(bytes(len(content)))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert library(folder) == before
    os.utime(path)
    assert only(folder).problem == "This is not a GGUF file: a.gguf."


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"version": 1}', "\xff", "nothing at all", "[" * 100_000]
)
def test_notes_that_are_damaged_do_not_matter(stores: Stores, tmp_path: Path, content: str) -> None:
    folder = tmp_path / "models"
    write_target(folder / "a.gguf")
    settle(folder)
    before = library(folder)
    notes = tmp_path / "slipstream" / "cache" / "library.json"
    assert notes.is_file()
    notes.write_text(content, encoding="latin-1")
    assert library(folder) == before


def test_each_store_says_what_it_takes_of_its_disk(stores: Stores, tmp_path: Path) -> None:
    model = in_cache(stores[0], "o/x", write_target(tmp_path / "a.gguf"), links=not NO_LINKS)
    other = write_target(tmp_path / "models" / "b.gguf")
    part = tmp_path / "models" / "c.gguf.part"
    part.write_bytes(bytes(4096))
    rooms = disk(library(tmp_path / "models"))
    usage = shutil.disk_usage(tmp_path)
    assert [(room.source, room.bytes) for room in rooms] == [
        (Source.HUGGINGFACE, model.stat().st_size),
        (Source.FOLDER, other.stat().st_size + 4096),
    ]
    assert {room.total for room in rooms} == {usage.total}


def test_reading_the_library_can_be_stopped(stores: Stores, tmp_path: Path) -> None:
    cancel = CancelToken()
    write_target(tmp_path / "models" / "a.gguf")
    cancel.cancel()
    with pytest.raises(Cancelled):
        scan([tmp_path / "models"], cancel)


def found_twice(*folders: Path) -> tuple[list[set[str]], int]:
    """Names of equal files, and the bytes that had to be read to be sure."""
    read = [(0, 0)]
    several = duplicates(
        library(*folders), CancelToken(), lambda done, total: read.append((done, total))
    )
    assert read[-1][0] == read[-1][1]
    return [{path.name for path in one.paths} for one in several], read[-1][0]


def test_the_same_content_in_two_folders_is_found(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    one = write_target(folder / "one" / "a.gguf", padding=2)
    (folder / "two").mkdir()
    shutil.copy(one, folder / "two" / "copy.gguf")
    unlike = folder / "two" / "unlike.gguf"
    unlike.write_bytes(one.read_bytes()[:-1] + b"x")
    assert found_twice(folder) == ([{"a.gguf", "copy.gguf"}], 2 * one.stat().st_size)
    (several,) = duplicates(library(folder), CancelToken(), lambda *_: None)
    assert (several.bytes, several.freed) == (one.stat().st_size, one.stat().st_size)


@links
def test_what_stores_tell_of_their_content_is_not_read(stores: Stores, tmp_path: Path) -> None:
    cache, home = stores
    file = write_target(tmp_path / "a.gguf")
    copies = [Path(shutil.copy(file, tmp_path / f"{name}.gguf")) for name in "bcd"]
    in_ollama(home / ".ollama" / "models", "a/b/c/d", [("model", file)])
    in_cache(cache, "owner/x", copies[0])
    shared = in_cache(cache, "owner/y", copies[1])
    share(cache, shared)
    several, read = found_twice()
    assert ([len(names) for names in several], read) == ([3], 0)
    (tmp_path / "models").mkdir()
    shutil.move(copies[2], tmp_path / "models")
    several, read = found_twice(tmp_path / "models")
    assert ([len(names) for names in several], read) == ([4], shared.stat().st_size)


@links
def test_names_of_one_file_are_no_duplicates(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    model = write_target(folder / "a.gguf")
    os.link(model, folder / "b.gguf")
    (folder / "c.gguf").symlink_to(model)
    assert found_twice(folder) == ([], 0)


def test_the_search_for_duplicates_can_be_stopped(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    shutil.copy(write_target(folder / "a.gguf"), folder / "b.gguf")
    found, cancel = library(folder), CancelToken()
    with pytest.raises(Cancelled):
        duplicates(found, cancel, lambda *_: cancel.cancel())
