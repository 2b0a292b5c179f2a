"""The Hugging Face cache as its owners' own tools read it, and what they put there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from downloading import MIB, REPO, asked_cdn, get, item_of, join_flushes
from hub_server import HubFile, HubServer, Made, Repo
from slipstream.errors import SlipstreamError
from slipstream.hub import cache
from slipstream.hub.downloads.blocks import map_of, sample_of
from slipstream.hub.downloads.orders import Order
from slipstream.hub.files import RepoFile

MODEL = HubFile("Q8_0/model-Q8_0.gguf", Made(2 * MIB + 3))
CARD = HubFile("README.md", b"# A card")
FILE = RepoFile(MODEL.path, MODEL.size, MODEL.sha256, MODEL.sha256)
COMMIT = "a" * 40


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, root: Path) -> Iterator[HubServer]:
    with HubServer(Repo(REPO, [MODEL, CARD])) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        monkeypatch.delenv("HF_TOKEN", raising=False)
        yield server
    join_flushes()


def test_huggingface_hub_reads_what_we_write(hub: HubServer, root: Path) -> None:
    from huggingface_hub import hf_hub_download, scan_cache_dir, try_to_load_from_cache

    fetched = get(hub).files
    commit = hub.repos[REPO].commit
    for file in fetched:
        path = file.file.path
        assert try_to_load_from_cache(REPO, path, cache_dir=root) == str(file.path)
        found = hf_hub_download(REPO, path, cache_dir=root, local_files_only=True)
        assert Path(found) == file.path
    scanned = scan_cache_dir(root)
    assert not scanned.warnings
    (repo,) = scanned.repos
    (revision,) = repo.revisions
    assert (repo.repo_id, revision.commit_hash, set(revision.refs)) == (REPO, commit, {"main"})
    assert {file.file_name for file in revision.files} == {"model-Q8_0.gguf", "README.md"}


def test_the_layout_is_links_that_can_be_moved(hub: HubServer, root: Path) -> None:
    model = get(hub).files[0].path
    home = root / "models--owner--name"
    assert (home / "refs" / "main").read_text() == hub.repos[REPO].commit
    assert str(model.readlink()) == f"../../../blobs/{MODEL.sha256}"
    assert (home / "blobs" / MODEL.sha256).is_file()
    assert (root / "CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f0688")
    join_flushes()
    assert not [path for path in (home / "blobs").iterdir() if path.suffix]


def test_without_links_the_file_stands_in_the_snapshot(
    hub: HubServer, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import scan_cache_dir

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError("a required privilege is not held")

    monkeypatch.setattr("os.symlink", refuse)
    monkeypatch.setattr("pathlib.Path.symlink_to", refuse)
    model = get(hub).files[0].path
    assert model.is_file()
    assert not model.is_symlink()
    assert not scan_cache_dir(root).warnings
    before = len(asked_cdn(hub))
    assert not get(hub).files[0].transferred
    assert len(asked_cdn(hub)) == before


@pytest.mark.parametrize(("value", "links"), [("yes", False), ("0", True), ("", True)])
def test_links_can_be_unwanted(
    hub: HubServer, root: Path, monkeypatch: pytest.MonkeyPatch, value: str, links: bool
) -> None:
    monkeypatch.setenv("HF_HUB_DISABLE_SYMLINKS", value)
    assert get(hub).files[0].path.is_symlink() is links


def test_what_huggingface_hub_downloaded_is_used(hub: HubServer, root: Path) -> None:
    home = root / "models--owner--name"
    there = home / "snapshots" / hub.repos[REPO].commit / MODEL.path
    there.parent.mkdir(parents=True)
    (home / "blobs").mkdir()
    (home / "blobs" / f"{MODEL.sha256}.1234abcd.incomplete").write_bytes(b"of another program")
    from hub_server.contents import pieces

    content = b"".join(bytes(piece) for piece in pieces(MODEL.content, 0, MODEL.size))
    (home / "blobs" / MODEL.sha256).write_bytes(content)
    there.symlink_to(f"../../../blobs/{MODEL.sha256}")
    fetched = get(hub).files[0]
    assert not fetched.transferred
    assert fetched.path == there
    assert not asked_cdn(hub)
    assert (home / "blobs" / f"{MODEL.sha256}.1234abcd.incomplete").exists()


def test_content_of_another_revision_and_of_another_repository_is_used(
    hub: HubServer, root: Path
) -> None:
    get(hub)
    hub.repos[REPO].push(HubFile("README.md", b"# Another card"))
    hub.repos["other/twin"] = Repo("other/twin", [HubFile("twin.gguf", MODEL.content)])
    before = len(asked_cdn(hub))
    files = get(hub).files
    assert len(asked_cdn(hub)) == before
    twin = files[-1].path
    assert twin.samefile(files[0].path)
    blob = root / "models--owner--name" / "blobs" / MODEL.sha256
    blob.unlink()
    assert twin.stat().st_size == MODEL.size


def test_a_reference_moves_when_the_new_commit_is_complete(hub: HubServer, root: Path) -> None:
    get(hub)
    note = root / "models--owner--name" / "refs" / "main"
    old = note.read_text()
    new = hub.repos[REPO].push(HubFile("new-Q8_0.gguf", Made(MIB), sends=Made(MIB + 1)))
    with pytest.raises(SlipstreamError):
        get(hub)
    assert note.read_text() == old
    hub.repos[REPO].files[-1].sends = None
    get(hub)
    assert note.read_text() == new


def test_a_file_that_never_reached_the_disk_is_checked_and_mended(hub: HubServer) -> None:
    model = get(hub).files[0].path
    join_flushes()
    blob = model.resolve()
    part = blob.with_name(f"{blob.name}.part")
    kept = map_of(part)
    assert not kept.exists()
    # as a power cut leaves it: published, the map still there, a block lost
    from slipstream.hub.downloads.blocks import Part

    content = blob.read_bytes()
    begun = Part(part, len(content), MODEL.sha256)
    for number in range(begun.blocks):
        block = content[number * MIB : (number + 1) * MIB]
        begun.write(number, 0, memoryview(block))
        begun.finish(number, sample_of(block))
    begun.close()
    part.unlink()
    with blob.open("r+b") as lost:
        lost.seek(MIB)
        lost.write(bytes(MIB))
    assert get(hub).files[0].path.read_bytes() == content
    assert [request.sent for request in asked_cdn(hub)][-1] == MIB


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"HF_HUB_CACHE": "/a", "HF_HOME": "/b", "LLAMA_CACHE": "/l"}, "/a"),
        ({"HUGGINGFACE_HUB_CACHE": "/c", "HF_HOME": "/b"}, "/c"),
        ({"HF_HOME": "/b", "XDG_CACHE_HOME": "/x"}, "/b/hub"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/huggingface/hub"),
        ({"HOME": "/home/somebody"}, "/home/somebody/.cache/huggingface/hub"),
    ],
)
def test_the_cache_is_where_huggingface_hub_finds_it(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: str
) -> None:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache.hub_cache() == Path(expected)


@pytest.mark.parametrize("path", ["../x.gguf", "/x.gguf", "a/../../x.gguf", "a\\..\\x.gguf", ""])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, path: str) -> None:
    file = RepoFile(path, 1, "0" * 64, "0" * 64)
    with pytest.raises(SlipstreamError) as failure:
        cache.find(tmp_path, REPO, COMMIT, file)
    assert failure.value.code == "unsafe_name"
    with pytest.raises(SlipstreamError):
        cache.repo_folder(tmp_path, "../name")
    with pytest.raises(SlipstreamError):
        cache.blob_path(tmp_path, REPO, RepoFile("x", 1, None, "../../x"))


def test_an_order_knows_where_its_files_go(root: Path) -> None:
    repo = Repo(REPO, [MODEL])
    from slipstream.hub.downloads.orders import places_of

    (place,) = places_of(Order((item_of(repo),)))
    assert place.part.parent == root / "models--owner--name" / "blobs"
    assert place.lock == root / ".locks" / "models--owner--name" / f"{MODEL.sha256}.lock"
