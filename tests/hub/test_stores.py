"""What lies in the stores of Hugging Face, LM Studio, Ollama and in folders is found in place."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gguf_files import DEMO_SMALL, write_dflash, write_target
from local_stores import (
    MAIN,
    OLD,
    blob_of,
    in_cache,
    in_ollama,
    may_not_do_everything,
    own_stores,
    tree,
    write_manifest,
)
from slipstream.cancel import Cancelled, CancelToken
from slipstream.hub.library import ollama, walk
from slipstream.hub.library.stored import Group, Source
from slipstream.hub.library.stores import Survey, survey

NO_LINKS = sys.platform == "win32"
Stores = tuple[Path, Path]


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stores:
    return own_stores(tmp_path, monkeypatch)


def look(*folders: Path) -> Survey:
    return survey(folders, CancelToken())


def groups(*folders: Path) -> list[Group]:
    return list(look(*folders).groups)


def names(group: Group) -> list[str]:
    return [path.name for path in group.files]


def test_a_computer_without_models_has_no_stores(stores: Stores) -> None:
    assert look() == Survey((), (), ())


@pytest.mark.skipif(NO_LINKS, reason="links")
def test_every_snapshot_of_the_cache_is_found_main_first(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    old = in_cache(cache, "owner/Test-GGUF", write_target(tmp_path / "a.gguf", name="Old"),
                   revision=OLD, ref=None)  # fmt: skip
    new = in_cache(cache, "owner/Test-GGUF", write_target(tmp_path / "a.gguf"))
    in_cache(cache, "owner/Test-GGUF", write_target(tmp_path / "b.gguf"), "Q8_0/b.gguf")
    (old.parent / "README.md").write_text("# Test")
    first, second = groups()
    assert (first.name, first.revision, names(first)) == (
        "owner/Test-GGUF", MAIN, ["a.gguf", "b.gguf"],
    )  # fmt: skip
    assert first.files[0] == new
    assert (second.revision, second.files) == (OLD, (old,))
    assert first.root == cache
    assert first.home == cache / "models--owner--Test-GGUF" / "snapshots" / MAIN


def test_the_cache_is_read_where_there_are_no_links(stores: Stores, tmp_path: Path) -> None:
    entry = in_cache(stores[0], "owner/x", write_target(tmp_path / "a.gguf"), links=False)
    assert groups()[0].files == (entry,)


@pytest.mark.skipif(NO_LINKS, reason="links")
def test_what_has_not_arrived_in_full_is_no_model(stores: Stores, tmp_path: Path) -> None:
    cache, _ = stores
    in_cache(cache, "owner/x", write_target(tmp_path / "a.gguf"))
    blobs = cache / "models--owner--x" / "blobs"
    for name in (f"{'1' * 64}.part", f"{'2' * 64}.1a2b3c4d.incomplete", "3.downloadInProgress"):
        (blobs / name).write_bytes(bytes(100))
    tree(cache, "owner/x", {"1" * 64: "Q8_0/big.gguf", "2" * 64: "other.gguf"})
    (group,) = groups()
    assert names(group) == ["a.gguf"]
    assert [(part.of, part.bytes) for part in group.parts] == [
        ("big.gguf", 100), ("other.gguf", 100), (None, 100),
    ]  # fmt: skip


def test_a_download_that_just_began_is_told(stores: Stores) -> None:
    blobs = stores[0] / "models--owner--x" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "1.part").write_bytes(b"x")
    (blobs.parent / "trees").mkdir()
    for number, damaged in enumerate(("", "[]", '{"files": {"a": 3}}', '{"files": {"a": {}}}')):
        (blobs.parent / "trees" / f"{number}.json").write_text(damaged)
    (group,) = groups()
    assert (group.name, group.files) == ("owner/x", ())
    assert [part.repo for part in group.parts] == ["owner/x"]


def test_data_sets_and_strange_files_in_the_cache_are_no_models(stores: Stores) -> None:
    cache, _ = stores
    (cache / "datasets--a--b" / "snapshots" / MAIN).mkdir(parents=True)
    (cache / "models--a--b").write_text("a file")
    (cache / "models--c--d").mkdir()
    (cache / "models--e--f" / "snapshots").mkdir(parents=True)
    (cache / "models--e--f" / "snapshots" / ".DS_Store").write_text("")
    assert groups() == []


@pytest.mark.skipif(NO_LINKS, reason="pipes")
@pytest.mark.parametrize(
    "place",
    [
        "../cache/models--owner--x/refs/main",
        f"../cache/models--owner--x/trees/{MAIN}.json",
        ".ollama/models/manifests/registry.ollama.ai/library/a/latest",
        ".lmstudio/settings.json",
        ".lmstudio-home-pointer",
    ],
)
def test_a_pipe_is_never_waited_for(stores: Stores, tmp_path: Path, place: str) -> None:
    in_cache(stores[0], "owner/x", write_target(tmp_path / "a.gguf"), ref=None)
    (stores[0] / "models--owner--x" / "blobs" / "1.part").write_bytes(b"x")
    pipe = stores[1] / place
    pipe.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(pipe)
    assert [names(group) for group in groups()] == [["a.gguf"]]


@pytest.mark.skipif(NO_LINKS, reason="pipes")
def test_pipes_and_devices_are_no_models(stores: Stores, tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    for name in ("a.gguf", "b.gguf.part"):
        os.mkfifo(models / name)
    (models / "c.gguf").symlink_to(models / "a.gguf")
    (models / "d.gguf").symlink_to("/dev/zero")
    (models / "e.gguf").symlink_to(models / "gone")
    found = groups(models)
    assert [(names(group), group.parts) for group in found] == [(["e.gguf"], ())]


@pytest.mark.parametrize(
    "in_the_way", ["huggingface", "huggingface/hub", "huggingface/hub/models--a--b"]
)
def test_a_file_where_a_folder_of_the_cache_should_be_is_told(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_the_way: str
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "huggingface" / "hub"))
    file = tmp_path / in_the_way
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("a file")
    (problem,) = look().problems
    assert (problem.code, problem.facts) == ("not_a_folder", {"path": str(file)})


def test_what_huggingface_hub_writes_is_found(stores: Stores) -> None:
    from huggingface_hub import hf_hub_download

    from hub_server import HubFile, HubServer, Repo

    files = [HubFile("model-Q8_0.gguf", DEMO_SMALL), HubFile("README.md", DEMO_SMALL)]
    with HubServer(Repo("owner/Test-GGUF", files)) as hub:
        path = hf_hub_download(
            "owner/Test-GGUF", "model-Q8_0.gguf", endpoint=hub.endpoint, cache_dir=stores[0],
            token=False,
        )  # fmt: skip
    (group,) = groups()
    assert (group.name, group.files) == ("owner/Test-GGUF", (Path(path),))
    assert group.parts == ()


def test_the_models_of_lm_studio_are_found_by_repository(stores: Stores, tmp_path: Path) -> None:
    models = stores[1] / ".lmstudio" / "models"
    write_target(models / "publisher" / "repo" / "a.gguf")
    write_dflash(models / "publisher" / "repo" / "dflash" / "b.gguf")
    (models / "publisher" / "repo" / "downloading_c.gguf.part").write_bytes(b"x")
    write_target(models / "alone.gguf")
    alone, group = groups()
    assert (alone.name, names(alone)) == ("", ["alone.gguf"])
    assert (group.source, group.name) == (Source.LMSTUDIO, "publisher/repo")
    assert names(group) == ["a.gguf", "b.gguf"]
    assert [part.of for part in group.parts] == ["c.gguf"]


def test_lm_studio_may_have_been_moved(stores: Stores, tmp_path: Path) -> None:
    _, home = stores
    moved, downloads = tmp_path / "moved", tmp_path / "downloads"
    write_target(moved / "models" / "p" / "pointed" / "a.gguf")
    write_target(downloads / "p" / "downloaded" / "a.gguf")
    write_target(home / ".cache" / "lm-studio" / "models" / "p" / "older" / "a.gguf")
    (home / ".lmstudio-home-pointer").write_text(f"{moved}\n")
    (moved / "settings.json").write_text(json.dumps({"downloadsFolder": str(downloads)}))
    assert [group.name for group in groups()] == ["p/pointed", "p/downloaded", "p/older"]


@pytest.mark.parametrize(
    "content", ["", "\0", "[]", '{"downloadsFolder": 3}', "{" * 10_000, "\xff"]
)
def test_settings_of_lm_studio_that_make_no_sense_do_not_matter(
    stores: Stores, content: str
) -> None:
    home = stores[1] / ".lmstudio"
    write_target(home / "models" / "p" / "r" / "a.gguf")
    (home / "settings.json").write_text(content, encoding="latin-1")
    (stores[1] / ".lmstudio-home-pointer").write_text(content, encoding="latin-1")
    assert [group.name for group in groups()] == ["p/r"]


@pytest.mark.skipif(NO_LINKS, reason="links")
def test_links_to_folders_are_gone_along_in_lm_studio_and_loops_end(
    stores: Stores, tmp_path: Path
) -> None:
    models = stores[1] / ".lmstudio" / "models"
    write_target(tmp_path / "elsewhere" / "repo" / "a.gguf")
    models.mkdir(parents=True)
    (models / "publisher").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "again").symlink_to(models)
    (group,) = groups()
    assert (group.name, names(group)) == ("publisher/repo", ["a.gguf"])


def test_ollamas_blobs_are_models_by_their_manifests(stores: Stores, tmp_path: Path) -> None:
    store = stores[1] / ".ollama" / "models"
    layers = [
        ("model", write_target(tmp_path / "a.gguf")),
        ("draft", write_dflash(tmp_path / "b.gguf")),
        ("template", tmp_path / "template"),
    ]
    (tmp_path / "template").write_text("{{ .Prompt }}")
    model, drafter, _ = in_ollama(store, "registry.ollama.ai/library/qwen/8b", layers)
    (group,) = groups()
    assert (group.source, group.name) == (Source.OLLAMA, "qwen:8b")
    assert group.files == (model, drafter)
    assert group.companions == {drafter}


@pytest.mark.parametrize(
    ("manifest", "name"),
    [
        ("registry.ollama.ai/library/llama3/latest", "llama3:latest"),
        ("registry.ollama.ai/someone/llama3/8b", "someone/llama3:8b"),
        ("hf.co/owner/Test-GGUF/Q4_K_M", "hf.co/owner/Test-GGUF:Q4_K_M"),
    ],
)
def test_models_of_ollama_have_the_names_ollama_gives_them(
    stores: Stores, tmp_path: Path, manifest: str, name: str
) -> None:
    store = stores[1] / ".ollama" / "models"
    in_ollama(store, manifest, [("model", write_target(tmp_path / "a.gguf"))])
    assert [group.name for group in groups()] == [name]


def test_manifests_of_newer_versions_of_ollama_come_first(stores: Stores, tmp_path: Path) -> None:
    store, name = stores[1] / ".ollama" / "models", "registry.ollama.ai/library/m/latest"
    in_ollama(store, name, [("model", write_target(tmp_path / "a.gguf", name="Old"))])
    (blob,) = in_ollama(
        store, name, [("model", write_target(tmp_path / "a.gguf"))], "manifests-v2",
        runner="llamacpp", format="gguf",
    )  # fmt: skip
    (group,) = groups()
    assert group.files == (blob,)


def test_of_several_formats_of_a_model_ollama_has_the_gguf_is_taken(
    stores: Stores, tmp_path: Path
) -> None:
    store = stores[1] / ".ollama" / "models"
    (blob,) = in_ollama(
        store, "registry.ollama.ai/library/one/x", [("model", write_target(tmp_path / "a.gguf"))]
    )
    whole = json.loads((store / "manifests/registry.ollama.ai/library/one/x").read_text())
    child = tmp_path / "child.json"
    child.write_text(json.dumps(whole))
    digest = blob_of(store, child).name.replace("-", ":")
    kind = "application/vnd.ollama.manifest.list.v2+json"
    apart = [{"runner": "mlx", "layers": []}, {"runner": "ollama", "digest": digest}]
    inside = [{"runner": "mlx", "layers": []}, {"runner": "ollama", **whole}]
    for name, children in (("apart", apart), ("inside", inside)):
        write_manifest(store, f"registry.ollama.ai/library/{name}/x",
                       {"mediaType": kind, "manifests": children})  # fmt: skip
    assert {group.name: group.files for group in groups()} == {
        "one:x": (blob,), "apart:x": (blob,), "inside:x": (blob,),
    }  # fmt: skip


def test_models_of_ollama_in_other_formats_are_left_out(stores: Stores, tmp_path: Path) -> None:
    store = stores[1] / ".ollama" / "models"
    host = "registry.ollama.ai/library"
    in_ollama(store, f"{host}/a/mlx", [("tensor", write_target(tmp_path / "a"))])
    in_ollama(store, f"{host}/b/safe", [("model", write_target(tmp_path / "b"))],
              format="safetensors")  # fmt: skip
    assert groups() == []


def test_what_ollama_still_downloads_is_no_model(stores: Stores) -> None:
    blobs = stores[1] / ".ollama" / "models" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"sha256-{'1' * 64}-partial").write_bytes(bytes(10))
    (blobs / f"sha256-{'1' * 64}-partial-0").write_text("{}")
    (group,) = groups()
    assert (group.files, [part.bytes for part in group.parts]) == ((), [10])


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9)
    | st.sampled_from(["sha256:" + "1" * 64, "application/vnd.ollama.image.model"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["layers", "manifests", "mediaType", "digest", "format", "runner"]),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=40)
@given(content=_json)
def test_no_manifest_of_ollama_makes_it_fail(
    tmp_path_factory: pytest.TempPathFactory, content: object
) -> None:
    store = tmp_path_factory.mktemp("store")
    manifest = write_manifest(store, "a/b/c/d", content)
    for group in ollama.groups(store, [], CancelToken()):
        assert all(path.parent == store / "blobs" for path in group.files)
    shutil.rmtree(manifest.parents[3])


@pytest.mark.parametrize("digest", [None, 5, [], {}, "sha256:1"])
@pytest.mark.parametrize("kind", ["application/vnd.ollama.image.model", [], None])
def test_a_layer_of_ollamas_that_makes_no_sense_is_left_out(
    stores: Stores, tmp_path: Path, digest: object, kind: object
) -> None:
    store = stores[1] / ".ollama" / "models"
    blob = blob_of(store, write_target(tmp_path / "a.gguf"))
    good = {"mediaType": "application/vnd.ollama.image.model", "digest": blob.name}
    layers = [{"mediaType": kind, "digest": digest}, good]
    write_manifest(store, "a/b/c/d", {"layers": layers})
    assert [group.files for group in groups()] == [(blob,)]
    lists = "application/vnd.ollama.manifest.list.v2+json"
    write_manifest(store, "a/b/c/d", {"mediaType": lists, "manifests": [{"digest": digest}]})
    assert groups() == []


@pytest.mark.parametrize("content", ["", "{", "[" * 100_000, "null"])
def test_manifests_that_are_damaged_do_not_matter(stores: Stores, content: str) -> None:
    write_manifest(stores[1] / ".ollama" / "models", "a/b/c/d", content)
    assert groups() == []


def test_files_of_a_folder_belong_together_with_its_inner_folders(
    stores: Stores, tmp_path: Path
) -> None:
    models = tmp_path / "models"
    for path in ("one/a.gguf", "one/MTP/b.gguf", "one/Q4_K_M/c.gguf", "two/d.gguf", "e.gguf"):
        write_target(models / path)
    found = {group.home.relative_to(models).as_posix(): names(group) for group in groups(models)}
    assert found == {
        ".": ["e.gguf"],
        "one": ["a.gguf", "b.gguf", "c.gguf"],
        "two": ["d.gguf"],
    }


def test_what_is_on_its_way_into_a_folder_is_no_model(stores: Stores, tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    for name in ("a.gguf.part", "B.GGUF.incomplete", f"{'1' * 64}.part", "film.mkv.part"):
        (models / name).write_bytes(b"x")
    (group,) = groups(models)
    assert group.files == ()
    assert {part.path.name: part.of for part in group.parts} == {
        "a.gguf.part": "a.gguf",
        "B.GGUF.incomplete": "B.GGUF",
        f"{'1' * 64}.part": None,
    }


def test_hidden_folders_are_left_out_and_deep_ones(stores: Stores, tmp_path: Path) -> None:
    models = tmp_path / "models"
    write_target(models / ".cache" / "a.gguf")
    write_target(models / "1" / "2" / "3" / "4" / "5" / "a.gguf")
    assert groups(models) == []


def test_a_folder_that_is_not_there_is_told(stores: Stores, tmp_path: Path) -> None:
    (problem,) = look(tmp_path / "gone").problems
    assert problem.message == f"The folder {tmp_path / 'gone'} is not there."


@may_not_do_everything
def test_a_folder_that_may_not_be_read_is_told(stores: Stores, tmp_path: Path) -> None:
    models = tmp_path / "models"
    write_target(models / "a.gguf")
    (models / "secret").mkdir(mode=0)
    found = look(models)
    assert [names(group) for group in found.groups] == [["a.gguf"]]
    assert [problem.code for problem in found.problems] == ["unreadable"]


def test_a_huge_folder_ends_and_is_told(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "MOST", 20)
    models = tmp_path / "models"
    write_target(models / "a.gguf")
    (models / "many").mkdir()
    for number in range(30):
        (models / "many" / f"{number}.txt").touch()
    found = look(models)
    assert [names(group) for group in found.groups] == [["a.gguf"]]
    assert [problem.code for problem in found.problems] == ["too_many_files"]


def test_a_folder_is_one_store_however_often_it_is_named(stores: Stores, tmp_path: Path) -> None:
    cache = stores[0]
    in_cache(cache, "owner/x", write_target(tmp_path / "a.gguf"), links=False)
    found = look(cache, tmp_path / "cache" / ".." / "cache")
    assert [store.source for store in found.stores] == [Source.HUGGINGFACE]


def test_looking_can_be_stopped(stores: Stores, tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    (tmp_path / "models").mkdir()
    with pytest.raises(Cancelled):
        survey([tmp_path / "models"], cancel)
