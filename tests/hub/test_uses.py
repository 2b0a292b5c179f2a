"""When models were last used is remembered, and the list of models tells it."""

import time
from pathlib import Path

import pytest

from gguf_files import write_target
from local_stores import OLD, in_cache, own_stores
from slipstream import paths
from slipstream.cancel import CancelToken
from slipstream.drafters.attached import identity
from slipstream.hub.library.scan import scan
from slipstream.hub.library.uses import last_uses, note_use

Stores = tuple[Path, Path]


@pytest.fixture
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stores:
    return own_stores(tmp_path, monkeypatch)


def test_a_use_is_told_by_the_list_of_models(stores: Stores, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    used = write_target(folder / "used.gguf")
    write_target(folder / "never.gguf", padding=1)
    before = time.time()
    note_use(used)
    found = {one.path.name: one.last_used for one in scan([folder], CancelToken()).models}
    assert found["never.gguf"] is None
    moment = found["used.gguf"]
    assert moment is not None
    assert before <= moment <= time.time()


def test_the_last_use_counts(stores: Stores, tmp_path: Path) -> None:
    model = write_target(tmp_path / "a.gguf")
    note_use(model)
    first = last_uses()[identity(model)]
    note_use(model)
    assert list(last_uses()) == [identity(model)]
    assert last_uses()[identity(model)] > first


def test_an_update_of_the_repository_keeps_it(stores: Stores, tmp_path: Path) -> None:
    old = in_cache(stores[0], "owner/x", write_target(tmp_path / "a.gguf"), revision=OLD, ref=None)
    note_use(old)
    new = in_cache(stores[0], "owner/x", write_target(tmp_path / "b.gguf", padding=1), "a.gguf")
    models = scan([], CancelToken()).models
    told = {model.path: model.last_used for model in models}
    assert told[new] == told[old] == last_uses()[identity(old)]


def test_it_is_noted_for_every_name_of_a_file(stores: Stores, tmp_path: Path) -> None:
    models = tmp_path / "models"
    model = write_target(models / "a.gguf")
    (models / "b.gguf").hardlink_to(model)
    note_use(models / "b.gguf")
    (found,) = scan([models], CancelToken()).models
    assert found.last_used is not None


def test_what_cannot_be_noted_does_not_matter(
    stores: Stores,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    paths.uses_file().mkdir()
    note_use(tmp_path / "a.gguf")
    blocked = tmp_path / "a file"
    blocked.touch()
    monkeypatch.setenv("SLIPSTREAM_HOME", str(blocked))
    note_use(tmp_path / "a.gguf")
    assert len(caplog.records) == 2
    assert last_uses() == {}


@pytest.mark.parametrize(
    ("content", "read"),
    [
        (b'{"a": true, "b": "yesterday", "c": 2.5, "d": null}', {"c": 2.5}),
        (b'{"a": 1e999, "b": NaN, "c": -1.0}', {}),
        (b'{"a": 1.5', {}),
        (b"\xff\xfe", {}),
        (b"[1.5]", {}),
        (b"[" * 100_000, {}),
    ],
)
def test_damaged_notes_are_no_uses(
    stores: Stores, content: bytes, read: dict[str, float], tmp_path: Path
) -> None:
    paths.uses_file().write_bytes(content)
    assert last_uses() == read
    note_use(tmp_path / "a.gguf")
    assert len(last_uses()) == len(read) + 1
