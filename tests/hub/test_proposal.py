"""What is removed is agreed to first, and looked at once more when it goes."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gguf_files import write_mtp, write_projector, write_target
from local_stores import MAIN, blob_of, in_cache, in_ollama, own_stores, settle
from slipstream.cancel import CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.downloads.leftovers import leftovers
from slipstream.hub.downloads.orders import Item, Order
from slipstream.hub.downloads.records import Records
from slipstream.hub.files import RepoFile
from slipstream.hub.library.copies import Copy, copies
from slipstream.hub.library.duplicates import duplicates
from slipstream.hub.library.models import Library, LocalModel
from slipstream.hub.library.proposal import Proposal, Removable, carry_out, propose
from slipstream.hub.library.scan import scan
from slipstream.hub.library.unfinished import begun
from slipstream.paths import downloads_folder

Stores = tuple[Path, Path]
REPO = "owner/Test-GGUF"


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stores:
    return own_stores(tmp_path, monkeypatch)


def library(*folders: Path) -> Library:
    return scan(folders, CancelToken())


def nothing() -> None:
    return None


def proposed(thing: Removable | Copy, found: Library, loaded: Path | None = None) -> Proposal:
    return propose(thing, found, begun(leftovers(Records(downloads_folder()))), loaded)


def the_model(found: Library, name: str) -> LocalModel:
    return next(one for one in found.models if one.path.name == name)


def several(found: Library) -> list[tuple[Copy, ...]]:
    return list(copies(duplicates(found, CancelToken(), lambda *_: None), found))


def failure(act: Callable[[], object]) -> str:
    with pytest.raises(SlipstreamError) as failed:
        act()
    assert failed.value.action
    return failed.value.code


def test_what_goes_along_is_named(stores: Stores, tmp_path: Path) -> None:
    in_cache(stores[0], REPO, write_target(tmp_path / "Test-Q8_0.gguf", "qwen35"))
    in_cache(stores[0], REPO, write_mtp(tmp_path / "h.gguf"), "MTP/Test-Q8_0.gguf")
    in_cache(stores[0], REPO, write_projector(tmp_path / "mmproj-F16.gguf"))
    found = library()
    proposal = proposed(the_model(found, "Test-Q8_0.gguf"), found)
    assert [one.role for one in proposal.going] == ["target", "mtp", "projector"]
    carry_out(proposal, nothing, library)
    left = library()
    assert (left.models, left.loose) == ((), ())


def test_a_loaded_model_stays(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    model = write_target(folder / "a.gguf")
    (tmp_path / "link.gguf").symlink_to(model)
    found = library(folder)
    proposal = proposed(found.models[0], found, loaded=tmp_path / "link.gguf")
    assert proposal.in_use
    assert failure(lambda: carry_out(proposal, lambda: model, library)) == "in_use"
    assert model.exists()
    carry_out(proposal, nothing, library)
    assert not model.exists()


def test_a_copy_goes_alone_and_the_last_one_stays(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    one = write_target(folder / "one" / "a.gguf", "qwen35")
    projector = write_projector(folder / "one" / "mmproj-a.gguf")
    (folder / "two").mkdir()
    two = Path(shutil.copy(one, folder / "two" / "a.gguf"))
    found = library(folder)
    (pair,) = several(found)
    assert {copy.file.path for copy in pair} == {one, two}
    assert [copy.kept_for for copy in pair] == ["", ""]
    first, second = (proposed(copy, found) for copy in pair)
    assert (first.removal.freed, len(first.removal.files)) == (one.stat().st_size, 1)
    carry_out(first, nothing, library)
    assert projector.exists()
    assert failure(lambda: carry_out(second, nothing, library)) == "last_copy"
    assert failure(lambda: proposed(pair[1], found)) == "last_copy"
    assert one.exists() != two.exists()
    assert several(library(folder)) == []


def test_a_copy_that_changed_is_no_copy(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    one = write_target(folder / "one" / "a.gguf")
    (folder / "two").mkdir()
    two = Path(shutil.copy(one, folder / "two" / "a.gguf"))
    found = library(folder)
    copy = next(each for (pair) in several(found) for each in pair if each.file.path == one)
    proposal = proposed(copy, found)
    two.write_bytes(b"something else")
    assert failure(lambda: carry_out(proposal, nothing, library)) == "last_copy"
    assert one.exists()


def test_copies_that_something_needs_stay(stores: Stores, tmp_path: Path) -> None:
    cache, home = stores
    file = write_target(tmp_path / "a.gguf")
    copy = Path(shutil.copy(file, tmp_path / "b.gguf"))
    in_ollama(home / ".ollama" / "models", "registry.ollama.ai/library/x/latest", [("model", file)])
    in_cache(cache, "owner/x", copy)
    for name in ("y", "z"):
        in_cache(
            cache, f"owner/{name}", write_target(tmp_path / "m.gguf", name=name), f"{name}.gguf"
        )
        in_cache(cache, f"owner/{name}", write_projector(tmp_path / "mmproj.gguf"))
    told = {copy.owner.path.name[:4]: copy.kept_for for pair in several(library()) for copy in pair}
    assert told["sha2"].startswith("It is Ollama's")
    assert told["b.gg"] == ""
    assert told["mmpr"].endswith(" needs it.")


def test_a_set_is_not_taken_apart(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    one = write_target(folder / "one" / "a-00001-of-00002.gguf")
    (folder / "two").mkdir()
    shutil.copy(one, folder / "two" / "a-00001-of-00002.gguf")
    (pair,) = several(library(folder))
    assert {copy.kept_for for copy in pair} == {"It is one of several files of a model."}


def test_what_another_model_needs_since_the_question_stays(stores: Stores, tmp_path: Path) -> None:
    cache = stores[0]
    first = in_cache(cache, REPO, write_target(tmp_path / "Test-Q4_K_M.gguf", "qwen35"))
    drafter = in_cache(cache, REPO, write_mtp(tmp_path / "h.gguf"), "mtp-Test-Q8_0.gguf")
    found = library()
    proposal = proposed(the_model(found, "Test-Q4_K_M.gguf"), found)
    assert len(proposal.going) == 2
    second = write_target(tmp_path / "Test-Q8_0.gguf", "qwen35", padding=3)
    other = in_cache(cache, REPO, second)
    carry_out(proposal, nothing, library)
    assert not first.exists()
    assert drafter.exists()
    assert other.exists()
    assert (cache / "models--owner--Test-GGUF" / "refs" / "main").exists()


def test_what_a_download_needs_since_the_question_stays(stores: Stores, tmp_path: Path) -> None:
    cache = stores[0]
    first = in_cache(cache, REPO, write_target(tmp_path / "Test-Q4_K_M.gguf", "qwen35"))
    drafter = in_cache(cache, REPO, write_mtp(tmp_path / "h.gguf"), "mtp-Test-Q8_0.gguf")
    found = library()
    proposal = proposed(the_model(found, "Test-Q4_K_M.gguf"), found)
    digest = drafter.resolve().name
    file = RepoFile("mtp-Test-Q8_0.gguf", drafter.stat().st_size, digest, digest)
    target = RepoFile("Test-Q8_0.gguf", 9000, "d" * 64, "d" * 64)
    Records(downloads_folder()).add(Order((Item(REPO, MAIN, "main", (target, file)),), None))
    carry_out(proposal, nothing, library)
    assert not first.exists()
    assert drafter.exists()


def test_a_part_goes_with_its_map_and_the_download_is_forgotten(
    stores: Stores, tmp_path: Path
) -> None:
    folder, digest = tmp_path / "models", "d" * 64
    folder.mkdir()
    part = folder / f"{digest}.part"
    part.write_bytes(b"x" * 5000)
    found = library(folder)
    assert failure(lambda: proposed(found.parts[0], found)) == "still_arriving"
    settle(folder)
    file = RepoFile("a.gguf", 9000, digest, digest)
    records = Records(downloads_folder())
    record = records.add(Order((Item(REPO, "a" * 40, "main", (file,)),), folder), "paused")
    proposal = proposed(found.parts[0], found)
    assert proposal.begun is not None
    lock = records.hold(record.id)
    assert lock is not None
    assert failure(lambda: carry_out(proposal, nothing, library)) == "download_running"
    lock.release()
    carry_out(proposal, nothing, library)
    assert not part.exists()
    assert records.all() == []


def test_what_ollama_keeps_is_ollamas(stores: Stores, tmp_path: Path) -> None:
    store = stores[1] / ".ollama" / "models"
    file = write_target(tmp_path / "a.gguf")
    in_ollama(store, "registry.ollama.ai/library/x/latest", [("model", file)])
    blob = blob_of(store, write_target(tmp_path / "b.gguf", padding=1))
    blob.rename(blob.with_name(f"{blob.name}-partial"))
    settle(store)
    found = library()
    assert failure(lambda: proposed(found.models[0], found)) == "belongs_to_ollama"
    assert failure(lambda: proposed(found.parts[0], found)) == "belongs_to_ollama"
