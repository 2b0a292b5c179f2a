"""A model goes with what only it needs; nothing else is touched."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gguf_files import write_dflash, write_mtp, write_projector, write_target
from local_stores import (
    MAIN,
    OLD,
    in_cache,
    in_ollama,
    may_not_do_everything,
    own_stores,
    share,
    tree,
)
from slipstream.cancel import CancelToken
from slipstream.drafters.attached import Fetched, attach, choose_drafter
from slipstream.drafters.lineage import Place
from slipstream.errors import SlipstreamError
from slipstream.hub.library.lookup import named
from slipstream.hub.library.models import Library
from slipstream.hub.library.removal import Removal, removal
from slipstream.hub.library.removing import Removed, remove
from slipstream.hub.library.scan import scan
from slipstream.hub.library.stored import Source
from slipstream.hub.library.stores import Store

NO_LINKS = sys.platform == "win32"
links = pytest.mark.skipif(NO_LINKS, reason="links")
Stores = tuple[Path, Path]
REPO = "owner/Test-GGUF"


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stores:
    return own_stores(tmp_path, monkeypatch)


def library(*folders: Path) -> Library:
    return scan(folders, CancelToken())


def decide(name: str, *folders: Path) -> Removal:
    """What goes with the model whose file has this name."""
    found = library(*folders)
    (model,) = (one for one in found.models if one.path.name == name)
    return removal(model, found)


def left_in(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def used(folder: Path) -> int:
    """Bytes of all real files, each once."""
    found = (path.stat() for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum({one.st_ino: one.st_size for one in found}.values())


def nothing_leads_nowhere(folder: Path) -> bool:
    return all(path.exists() for path in folder.rglob("*") if path.is_symlink())


def kept(one: Removal) -> dict[str, str]:
    return {each.path.name: each.why for each in one.kept}


@pytest.fixture
def cache(stores: Stores, tmp_path: Path) -> Path:
    """A repository of two quantizations with a drafter and a projector."""
    for number, quant in enumerate(("Q4_K_M", "Q8_0")):
        target = write_target(tmp_path / f"Test-{quant}.gguf", "qwen35", padding=1 + number)
        in_cache(stores[0], REPO, target)
    in_cache(stores[0], REPO, write_mtp(tmp_path / "h.gguf"), "MTP/Test-Q8_0.gguf")
    in_cache(stores[0], REPO, write_projector(tmp_path / "mmproj-F16.gguf"))
    return stores[0]


def accepted_by_huggingface_hub(cache: Path) -> bool:
    from huggingface_hub import scan_cache_dir

    return not scan_cache_dir(cache).warnings


@links
def test_what_another_quantization_needs_stays(cache: Path) -> None:
    size = used(cache)
    decided = decide("Test-Q4_K_M.gguf")
    assert used(cache) == size
    assert kept(decided) == {
        "Test-Q8_0.gguf": "Test Q8_0 needs it.",
        "mmproj-F16.gguf": "Test Q8_0 needs it.",
    }
    done = remove(decided)
    assert done.failed == ()
    assert done.freed == decided.freed == size - used(cache) > 0
    assert nothing_leads_nowhere(cache)
    assert [model.path.name for model in library().models] == ["Test-Q8_0.gguf"]
    assert accepted_by_huggingface_hub(cache)


@links
def test_the_last_quantization_takes_its_companions_and_the_repository(cache: Path) -> None:
    tree(cache, REPO, {})
    missed = cache / "models--owner--Test-GGUF" / ".no_exist" / MAIN / "config.json"
    missed.parent.mkdir(parents=True)
    missed.touch()
    remove(decide("Test-Q4_K_M.gguf"))
    decided = decide("Test-Q8_0.gguf")
    assert decided.kept == ()
    reference = len(MAIN)
    assert decided.freed == used(cache) - reference
    assert remove(decided).freed == decided.freed
    assert list(cache.iterdir()) == []


@links
def test_a_second_call_does_nothing(cache: Path) -> None:
    decided = decide("Test-Q4_K_M.gguf")
    remove(decided)
    before = left_in(cache)
    assert remove(decided) == Removed((), 0, ())
    assert left_in(cache) == before


@links
def test_what_vanished_meanwhile_does_not_matter(cache: Path) -> None:
    decided = decide("Test-Q8_0.gguf")
    decided.files[-1].path.unlink()
    decided.links[0].path.unlink()
    done = remove(decided)
    assert done.failed == ()
    assert done.freed < decided.freed
    assert nothing_leads_nowhere(cache)


@links
def test_a_model_goes_from_every_revision(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    for revision in (OLD, MAIN):
        in_cache(cache, REPO, write_target(tmp_path / "a-Q8_0.gguf"), revision=revision)
    remove(decide("a-Q8_0.gguf"))
    assert list(cache.iterdir()) == []


@links
def test_content_that_another_file_leads_to_stays(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    entry = in_cache(cache, REPO, write_target(tmp_path / "a-Q8_0.gguf"))
    copy = entry.with_name("weights.bin")
    copy.symlink_to(entry.readlink())
    decided = decide("a-Q8_0.gguf")
    assert (decided.freed, decided.files) == (0, ())
    assert kept(decided) == {
        entry.resolve().name: "Another file of the repository has the same content."
    }
    assert [one.name for one in decided.kept] == ["a-Q8_0.gguf"]
    remove(decided)
    assert copy.exists()
    assert not entry.is_symlink()
    assert (cache / "models--owner--Test-GGUF" / "refs" / "main").exists()


@links
def test_other_files_of_the_repository_stay_with_their_reference(cache: Path) -> None:
    home = cache / "models--owner--Test-GGUF"
    (home / "snapshots" / MAIN / "README.md").write_text("# Test")
    for name in ("Test-Q4_K_M.gguf", "Test-Q8_0.gguf"):
        remove(decide(name))
    assert left_in(home) == {f"snapshots/{MAIN}/README.md", "refs/main"}
    assert accepted_by_huggingface_hub(cache)


@links
def test_shared_content_goes_with_the_last_repository(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    for name in ("owner/one", "owner/two"):
        in_cache(cache, name, write_target(tmp_path / "a-Q8_0.gguf"))
    first, second = (
        cache / f"models--owner--{name}" / "snapshots" / MAIN / "a-Q8_0.gguf"
        for name in ("one", "two")
    )
    payload = share(cache, first)
    share(cache, second)
    size = payload.stat().st_size
    one, two = library().models
    assert library().bytes == size
    decided = removal(one, library())
    assert (decided.freed, kept(decided)) == (
        0, {payload.name: "Another repository has the same content."},
    )  # fmt: skip
    assert [one.name for one in decided.kept] == ["a-Q8_0.gguf"]
    assert remove(decided).freed == 0
    assert two.path.exists()
    decided = removal(two, library())
    assert decided.freed == size
    done = remove(decided)
    assert (done.freed, done.failed) == (size, ())
    assert not payload.exists()
    assert {name for name in left_in(cache) if not name.endswith(".lock")} == {
        "blobs/.huggingface-shared-blobs"
    }


@links
def test_content_with_names_in_two_repositories_goes_with_the_last(
    stores: Stores, tmp_path: Path
) -> None:
    cache, _ = stores
    entry = in_cache(cache, "owner/one", write_target(tmp_path / "a-Q8_0.gguf"))
    os.link(entry.resolve(), tmp_path / "a-Q8_0.gguf")
    in_cache(cache, "owner/two", tmp_path / "a-Q8_0.gguf")
    size = used(cache) - 2 * len(MAIN)
    one, two = library().models
    assert (one.ref, two.ref) == ("owner/one:Q8_0", "owner/two:Q8_0")
    decided = removal(one, library())
    assert set(kept(decided).values()) == {
        "Only this name goes: its content has another one on this disk."
    }
    assert decided.freed == remove(decided).freed == 0
    (model,) = library().models
    assert model == two
    assert remove(removal(model, library())).freed == size
    assert list(cache.iterdir()) == []


def test_where_there_are_no_links_a_second_name_goes_along(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    entry = in_cache(cache, REPO, write_target(tmp_path / "a-Q8_0.gguf"), links=False)
    blob = cache / "models--owner--Test-GGUF" / "blobs" / ("1" * 64)
    os.link(entry, blob)
    size = entry.stat().st_size
    assert remove(decide("a-Q8_0.gguf")).freed == size
    assert list(cache.iterdir()) == []


@links
def test_shared_content_that_no_snapshot_leads_to_stays(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    entry = in_cache(cache, "owner/one", write_target(tmp_path / "a-Q8_0.gguf"))
    payload = share(cache, entry)
    other = cache / "models--owner--two" / "blobs" / "0"
    other.parent.mkdir(parents=True)
    other.symlink_to(os.path.relpath(payload, other.parent))
    with payload.with_name(f"{payload.name}.refs").open("a") as names:
        names.write("models--owner--two/blobs/0\n")
    decided = decide("a-Q8_0.gguf")
    assert decided.freed == 0
    assert remove(decided).freed == 0
    assert other.exists()


def test_a_cache_without_links_is_freed_as_well(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    in_cache(cache, REPO, write_target(tmp_path / "a-Q8_0.gguf"), links=False)
    in_cache(cache, REPO, write_target(tmp_path / "a-Q4_0.gguf", padding=1), links=False)
    size = used(cache)
    done = remove(decide("a-Q8_0.gguf"))
    assert done.freed == size - used(cache)
    remove(decide("a-Q4_0.gguf"))
    assert list(cache.iterdir()) == []


@links
def test_what_has_arrived_of_a_model_goes_along(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    in_cache(cache, REPO, write_target(tmp_path / "a-00001-of-00002.gguf"))
    blobs = cache / "models--owner--Test-GGUF" / "blobs"
    mine, other = blobs / f"{'1' * 64}.part", blobs / f"{'2' * 64}.part"
    mine.write_bytes(bytes(5000))
    mine.with_suffix(".map").write_bytes(b"which blocks are there")
    other.write_bytes(bytes(3000))
    tree(cache, REPO, {"1" * 64: "a-00002-of-00002.gguf", "2" * 64: "b.gguf"})
    size = used(cache)
    done = remove(decide("a-00001-of-00002.gguf"))
    assert done.failed == ()
    assert list(blobs.iterdir()) == [other]
    assert size - used(cache) >= done.freed > 5000


@links
def test_links_that_lead_nowhere_go(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    entry = in_cache(cache, REPO, write_target(tmp_path / "a.gguf"))
    entry.resolve().unlink()
    decided = decide("a.gguf")
    assert decided.freed == 0
    remove(decided)
    assert list(cache.iterdir()) == []


def test_models_of_ollama_are_left_to_ollama(stores: Stores, tmp_path: Path) -> None:
    store = stores[1] / ".ollama" / "models"
    (blob,) = in_ollama(
        store, "registry.ollama.ai/library/llama3/8b", [("model", write_target(tmp_path / "a"))]
    )
    with pytest.raises(SlipstreamError) as caught:
        decide(blob.name)
    assert caught.value.action == "Run: ollama rm llama3:8b"


@links
def test_a_model_that_leads_to_ollamas_is_left_to_ollama(stores: Stores, tmp_path: Path) -> None:
    store = stores[1] / ".ollama" / "models"
    (blob,) = in_ollama(store, "a/b/c/d", [("model", write_target(tmp_path / "a"))])
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "a.gguf").symlink_to(blob)
    (model,) = library(folder).models
    with pytest.raises(SlipstreamError):
        removal(model, library(folder))


def test_files_in_folders_go_themselves(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    for number in (1, 2):
        write_target(folder / "a" / f"a-0000{number}-of-00002.gguf")
    (folder / "a" / "notes.txt").write_text("mine")
    write_dflash(folder / "a" / "dflash" / "dflash-a.gguf")
    write_target(folder / "b" / "b.gguf")
    decided = decide("a-00001-of-00002.gguf", folder)
    assert remove(decided).freed == decided.freed > 0
    assert left_in(folder) == {"a/notes.txt", "b/b.gguf"}


def test_models_of_lm_studio_go_themselves(stores: Stores, tmp_path: Path) -> None:
    models = stores[1] / ".lmstudio" / "models"
    write_target(models / "p" / "r" / "a.gguf")
    write_projector(models / "p" / "r" / "mmproj-a.gguf")
    remove(decide("a.gguf"))
    assert left_in(models) == set()


@links
def test_of_a_link_to_elsewhere_only_the_link_goes(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    elsewhere = write_target(tmp_path / "elsewhere" / "weights.gguf")
    (folder / "a.gguf").symlink_to(elsewhere)
    decided = decide("a.gguf", folder)
    assert decided.freed == 0
    assert kept(decided) == {"weights.gguf": "Only the link to it goes."}
    remove(decided)
    assert elsewhere.exists()
    assert left_in(folder) == set()


@links
def test_a_model_in_two_stores_goes_from_both(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    entry = in_cache(cache, REPO, write_target(tmp_path / "a-Q8_0.gguf"))
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "a.gguf").symlink_to(entry)
    decided = decide("a-Q8_0.gguf", folder)
    assert decided.kept == ()
    remove(decided)
    assert left_in(folder) == left_in(cache) == set()


@links
def test_a_file_with_a_name_elsewhere_frees_nothing(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    os.link(write_target(folder / "a.gguf"), tmp_path / "other name")
    decided = decide("a.gguf", folder)
    assert decided.freed == remove(decided).freed == 0
    os.link(write_target(folder / "a.gguf"), folder / "b.gguf")
    size = (folder / "a.gguf").stat().st_size
    decided = decide("a.gguf", folder)
    assert decided.freed == remove(decided).freed == size
    assert left_in(folder) == set()


@links
def test_folders_outside_a_store_are_refused(stores: Stores, tmp_path: Path) -> None:
    """LM Studio goes along links to folders; what lies there is not LM Studio's to delete."""
    models = stores[1] / ".lmstudio" / "models"
    models.mkdir(parents=True)
    elsewhere = write_target(tmp_path / "elsewhere" / "repo" / "a.gguf")
    (models / "publisher").symlink_to(tmp_path / "elsewhere")
    decided = decide("a.gguf")
    assert kept(decided) == {"a.gguf": f"It lies outside {models}."}
    assert (decided.files, decided.links) == ((), ())
    remove(decided)
    assert elsewhere.exists()


@links
@pytest.mark.parametrize("what", ["file by link", "file by file", "folder by link"])
def test_what_was_replaced_meanwhile_is_refused(stores: Stores, tmp_path: Path, what: str) -> None:
    folder = tmp_path / "models"
    path = write_target(folder / "in" / "a.gguf")
    write_dflash(folder / "in" / "dflash-a.gguf")
    precious = write_target(tmp_path / "precious" / "a.gguf", padding=1)
    decided = decide("a.gguf", folder)
    if what == "file by link":
        path.unlink()
        path.symlink_to(precious)
    elif what == "file by file":
        shutil.copy(precious, folder / "new")
        (folder / "new").replace(path)
    else:
        shutil.move(folder / "in", tmp_path / "moved")
        (folder / "in").symlink_to(tmp_path / "moved")
    before = left_in(tmp_path)
    with pytest.raises(SlipstreamError) as caught:
        remove(decided)
    assert caught.value.code == "changed_meanwhile"
    assert left_in(tmp_path) == before


@links
def test_a_link_of_a_snapshot_that_leads_out_of_the_cache_takes_nothing_along(
    stores: Stores, tmp_path: Path
) -> None:
    cache, _ = stores
    precious = write_target(tmp_path / "precious.gguf")
    snapshot = cache / "models--owner--x" / "snapshots" / MAIN
    snapshot.mkdir(parents=True)
    (snapshot / "a.gguf").symlink_to(precious)
    decided = decide("a.gguf")
    assert (decided.freed, decided.files) == (0, ())
    assert kept(decided) == {
        "precious.gguf": "It lies outside its repository; only the link to it goes."
    }
    remove(decided)
    assert precious.exists()
    assert not cache.joinpath("models--owner--x").exists()


@links
def test_a_snapshot_that_lies_elsewhere_stays_and_so_does_what_it_needs(
    cache: Path, tmp_path: Path
) -> None:
    snapshots = cache / "models--owner--Test-GGUF" / "snapshots"
    elsewhere = tmp_path / "elsewhere"
    for entry in (snapshots / MAIN).iterdir():
        if entry.is_symlink():
            blob = entry.resolve()
            entry.unlink()
            entry.symlink_to(blob)
    shutil.copytree(snapshots / MAIN, elsewhere, symlinks=True)
    (snapshots / OLD).symlink_to(elsewhere)
    before = left_in(elsewhere)
    decided = decide("Test-Q4_K_M.gguf")
    stays = {str(one.path): one.why for one in decided.kept}
    assert stays[str(snapshots / OLD / "Test-Q4_K_M.gguf")] == "It lies outside its repository."
    assert (decided.freed, decided.files) == (0, ())
    assert remove(decided).removed == (snapshots / MAIN / "Test-Q4_K_M.gguf",)
    assert left_in(elsewhere) == before
    assert (elsewhere / "Test-Q4_K_M.gguf").exists()


@links
def test_notes_about_revisions_that_lie_elsewhere_stay(cache: Path, tmp_path: Path) -> None:
    home = cache / "models--owner--Test-GGUF"
    (home / ".no_exist" / MAIN).mkdir(parents=True)
    for name in ("refs", ".no_exist"):
        shutil.move(home / name, tmp_path / name)
        (home / name).symlink_to(tmp_path / name)
    for name in ("Test-Q4_K_M.gguf", "Test-Q8_0.gguf"):
        done = remove(decide(name))
        assert done.failed == ()
        assert done.freed > 0
    assert left_in(tmp_path / "refs") == {"main"}
    assert (tmp_path / ".no_exist" / MAIN).is_dir()


@links
def test_blobs_that_were_moved_to_another_disk_go(cache: Path, tmp_path: Path) -> None:
    blobs, disk = cache / "models--owner--Test-GGUF" / "blobs", tmp_path / "disk"
    shutil.move(blobs, disk)
    blobs.symlink_to(disk)
    size = used(disk)
    done = remove(decide("Test-Q4_K_M.gguf"))
    assert done.failed == ()
    assert done.freed == size - used(disk) > 0
    remove(decide("Test-Q8_0.gguf"))
    assert left_in(disk) == set()


@links
def test_blobs_that_repositories_have_in_one_folder_stay(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    for name in ("one", "two"):
        in_cache(cache, f"owner/{name}", write_target(tmp_path / "a-Q8_0.gguf"))
    shutil.rmtree(cache / "models--owner--two" / "blobs")
    (cache / "models--owner--two" / "blobs").symlink_to(cache / "models--owner--one" / "blobs")
    found = library()
    decided = removal(named(found, "owner/one:Q8_0"), found)
    assert set(kept(decided).values()) == {"Another repository keeps its files in the same folder."}
    assert remove(decided).freed == 0
    assert (cache / "models--owner--two" / "snapshots" / MAIN / "a-Q8_0.gguf").exists()


@links
def test_the_stores_that_lose_something_are_told(stores: Stores, tmp_path: Path) -> None:
    cache, home = stores
    entry = in_cache(cache, REPO, write_target(tmp_path / "a-Q8_0.gguf"))
    models = home / ".lmstudio" / "models"
    (models / "p" / "r").mkdir(parents=True)
    (models / "p" / "r" / "other.gguf").symlink_to(entry.resolve())
    decided = decide("a-Q8_0.gguf")
    assert decided.stores == (Store(Source.HUGGINGFACE, cache), Store(Source.LMSTUDIO, models))
    (models / "p" / "r" / "other.gguf").unlink()
    assert decide("a-Q8_0.gguf").stores == (Store(Source.HUGGINGFACE, cache),)


@links
def test_a_companion_that_another_store_has_too_stays(stores: Stores, tmp_path: Path) -> None:
    cache, home = stores
    in_cache(cache, REPO, write_target(tmp_path / "a-Q8_0.gguf"))
    eye = in_cache(cache, REPO, write_projector(tmp_path / "mmproj-F16.gguf"))
    link = home / ".lmstudio" / "models" / "p" / "r" / "mmproj-F16.gguf"
    link.parent.mkdir(parents=True)
    link.symlink_to(eye.resolve())
    decided = decide("a-Q8_0.gguf")
    assert kept(decided) == {"mmproj-F16.gguf": "Another store has it, too."}
    remove(decided)
    assert link.exists()
    assert library().models == ()


_entries = st.lists(
    st.tuples(
        st.sampled_from(["owner/one", "owner/two"]),
        st.sampled_from([MAIN, OLD]),
        st.sampled_from(
            ["a-Q8_0.gguf", "a-Q4_0.gguf", "Q4_0/a-00001-of-00002.gguf",
             "Q4_0/a-00002-of-00002.gguf", "MTP/a-Q8_0.gguf", "mmproj-a.gguf", "README.md"]
        ),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda entry: entry[:3],
)  # fmt: skip


def write(path: Path, name: str, version: int) -> Path:
    """A file of the kind that its name says, of one of several contents."""
    if name.startswith("MTP"):
        return write_mtp(path, layers=version)
    if name.startswith("mmproj"):
        return write_projector(path)
    return write_target(path, "qwen35", layers=version)


@links
@settings(max_examples=40)
@given(entries=_entries, which=st.integers(0, 11))
def test_whatever_a_cache_holds_only_what_was_decided_on_goes(
    tmp_path_factory: pytest.TempPathFactory,
    entries: list[tuple[str, str, str, int]],
    which: int,
) -> None:
    folder = tmp_path_factory.mktemp("stores")
    with pytest.MonkeyPatch.context() as patch:
        cache, _ = own_stores(folder, patch)
        for repository, revision, name, version in entries:
            file = write(folder / "file", name, version)
            ref = "main" if revision == MAIN else "older"
            in_cache(cache, repository, file, name, revision=revision, ref=ref)
        before = library()
        if not before.models:
            return
        model = before.models[which % len(before.models)]
        size, there = used(cache), left_in(cache)
        decided = removal(model, before)
        done = remove(decided)
        gone = there - left_in(cache)
        notes = sum(len(MAIN) for name in gone if "/refs/" in name)
        assert done.failed == ()
        assert done.freed == decided.freed == size - used(cache) - notes
        assert gone == {path.relative_to(cache).as_posix() for path in done.removed}
        assert nothing_leads_nowhere(cache)
        assert accepted_by_huggingface_hub(cache)
        stay = [one.path for one in before.models if one != model]
        assert [one.path for one in library().models] == stay
        assert {name for name in there if name.endswith("README.md")} <= left_in(cache)


@links
def test_a_repository_that_was_moved_to_another_drive_is_freed_there(
    cache: Path, tmp_path: Path
) -> None:
    home = cache / "models--owner--Test-GGUF"
    shutil.move(home, tmp_path / "drive")
    home.symlink_to(tmp_path / "drive")
    done = remove(decide("Test-Q4_K_M.gguf"))
    assert done.failed == ()
    assert done.freed > 0
    assert [model.path.name for model in library().models] == ["Test-Q8_0.gguf"]


@links
def test_a_cache_elsewhere_may_be_a_folder_of_the_users(stores: Stores, tmp_path: Path) -> None:
    cache = tmp_path / "drive"
    entry = in_cache(cache, REPO, write_target(tmp_path / "a-Q8_0.gguf"))
    (model,) = library(cache).models
    assert (model.ref, model.places[0].name) == (str(entry), REPO)
    remove(removal(model, library(cache)))
    assert list(cache.iterdir()) == []


@may_not_do_everything
def test_what_may_not_be_deleted_is_told_and_its_content_stays(cache: Path) -> None:
    decided = decide("Test-Q4_K_M.gguf")
    snapshot = cache / "models--owner--Test-GGUF" / "snapshots" / MAIN
    snapshot.chmod(0o500)
    try:
        done = remove(decided)
    finally:
        snapshot.chmod(0o700)
    assert (done.removed, done.freed) == ((), 0)
    assert [path.name for path, _ in done.failed] == ["Test-Q4_K_M.gguf"]
    assert nothing_leads_nowhere(cache)


def test_a_model_that_drafts_for_another_is_never_deleted_with_it(
    stores: Stores, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    large = write_target(folder / "large" / "Lemon-4B-Q8_0.gguf", name="Lemon 4B", padding=9)
    small = write_target(folder / "small" / "Lemon-1B-Q8_0.gguf", name="Lemon 1B")
    choose_drafter(large, small)
    attach(large, Fetched(small, Place("owner/Lemon-1B-GGUF")))
    decided = decide(large.name, folder)
    assert kept(decided) == {small.name: "It is a model of its own."}
    remove(decided)
    assert left_in(folder) == {"small/Lemon-1B-Q8_0.gguf"}


def test_a_drafter_that_was_only_chosen_stays(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    model = write_target(folder / "a" / "Lemon-4B-Q8_0.gguf", name="Lemon 4B")
    mine = write_dflash(folder / "mine" / "dflash-Lemon-4B.gguf", name="Lemon 4B")
    choose_drafter(model, mine)
    decided = decide(model.name, folder)
    assert kept(decided) == {mine.name: "It did not come with this model."}
    remove(decided)
    assert left_in(folder) == {"mine/dflash-Lemon-4B.gguf"}
    assert [one.path for one in library(folder).loose] == [mine]


@pytest.mark.parametrize("chosen", [False, True])
def test_a_drafter_that_was_fetched_for_a_model_goes_with_it(
    stores: Stores, tmp_path: Path, chosen: bool
) -> None:
    folder = tmp_path / "models"
    model = write_target(folder / "a" / "Lemon-4B-Q8_0.gguf", name="Lemon 4B")
    fetched = write_dflash(folder / "b" / "dflash-Lemon-4B.gguf", name="Lemon 4B")
    attach(model, Fetched(fetched, Place("owner/Lemon-4B-DFlash-GGUF")))
    if chosen:
        choose_drafter(model, fetched)
    remove(decide(model.name, folder))
    assert left_in(folder) == set()


def test_nothing_goes_for_its_shape_or_the_name_of_another_model(
    stores: Stores, tmp_path: Path
) -> None:
    folder = tmp_path / "models"
    write_target(folder / "Lemon3.6-27B-Q8_0.gguf", name="Lemon3.6 27B")
    write_dflash(folder / "dflash-Lemon3.8-27B.gguf", name="Lemon3.8 27B")
    write_dflash(folder / "dflash-kquant.gguf", name="")
    write_projector(folder / "mmproj-F16.gguf")
    decided = decide("Lemon3.6-27B-Q8_0.gguf", folder)
    assert kept(decided) == {
        "dflash-kquant.gguf": "It did not come with this model.",
        "mmproj-F16.gguf": "It did not come with this model.",
    }
    remove(decided)
    assert left_in(folder) == {
        "dflash-Lemon3.8-27B.gguf", "dflash-kquant.gguf", "mmproj-F16.gguf",
    }  # fmt: skip


def test_a_drafter_without_a_model_goes_by_its_path(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    loose = write_dflash(folder / "dflash-Lemon3.8-27B.gguf", name="Lemon3.8 27B")
    write_target(folder / "Lemon3.6-27B-Q8_0.gguf", name="Lemon3.6 27B")
    found = library(folder)
    decided = removal(named(found, str(loose)), found)
    assert decided.freed == loose.stat().st_size
    assert remove(decided).removed == (loose,)
    assert left_in(folder) == {"Lemon3.6-27B-Q8_0.gguf"}


@links
def test_a_drafter_alone_in_its_repository_goes_by_its_path(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    entry = in_cache(cache, "owner/Lemon-DFlash", write_dflash(tmp_path / "dflash-Lemon.gguf"))
    found = library()
    remove(removal(named(found, str(entry)), found))
    assert list(cache.iterdir()) == []
