"""How a download stands: its pieces by what they are for, and what is on disk of them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from downloading import REPO, get, item_of
from hub_server import HubFile, HubServer, Made, Repo
from slipstream.errors import SlipstreamError
from slipstream.hub.downloads.contents import Use, pieces_of, title_of
from slipstream.hub.downloads.orders import Order, Pairing, places_of
from slipstream.hub.downloads.queue import Entry
from slipstream.hub.downloads.records import Record
from slipstream.hub.downloads.standing import on_disk, standing

SHARDS = [HubFile(f"Q8_0/model-Q8_0-0000{n}-of-00002.gguf", Made(2000, n)) for n in (1, 2)]
DRAFTER = "dflash-model-Q8_0.gguf"
FAMILY = Repo(REPO, [*SHARDS, HubFile("mmproj-F16.gguf", Made(500, 3)), HubFile("notes.txt", b"x")])


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    with HubServer(FAMILY, Repo("other/drafter", [HubFile(DRAFTER, Made(300, 4))])) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
        yield server


def family(hub: HubServer, folder: Path | None = None) -> Order:
    items = tuple(item_of(repo) for repo in hub.repos.values())
    return Order(items, folder, Pairing("other/drafter", DRAFTER))


def entry(order: Order, error: SlipstreamError | None = None) -> Entry:
    return Entry(Record("one", order, "failed" if error else "paused", error=error))


def test_pieces_are_called_what_they_are(hub: HubServer) -> None:
    order = family(hub)
    pieces = pieces_of(order, on_disk(order))
    assert [(piece.use, len(piece.files), piece.total) for piece in pieces] == [
        (Use.MODEL, 2, 4000),
        (Use.PROJECTOR, 1, 500),
        (Use.OTHER, 1, 1),
        (Use.DRAFTER, 1, 300),
    ]
    assert title_of(order) == "model Q8_0"


def test_a_file_without_a_name_of_its_own_is_called_as_its_repository_is(hub: HubServer) -> None:
    item = item_of(FAMILY)
    nameless = replace(item.files[0], path="Q4_K_M.gguf")
    assert title_of(Order((replace(item, files=(nameless,)),))) == "name Q4_K_M"


@pytest.mark.parametrize("into_folder", [False, True])
def test_the_model_can_be_used_as_soon_as_all_of_it_is_there(
    hub: HubServer, tmp_path: Path, into_folder: bool
) -> None:
    order = family(hub, tmp_path / "models" if into_folder else None)
    assert standing(entry(order)).target is None
    model = replace(order.items[0], files=order.items[0].files[:2])
    done = get(hub, order=Order((model,), order.folder))
    seen = standing(entry(order))
    assert seen.target == done.files[0].path
    assert seen.folder == seen.target.parent
    assert [piece.complete for piece in seen.pieces] == [True, False, False, False]
    assert seen.progress.done == 4000
    seen.target.unlink()
    assert standing(entry(order)).target is None


def test_another_file_of_that_name_is_not_the_model(hub: HubServer, tmp_path: Path) -> None:
    order = family(hub, tmp_path)
    for place in places_of(order):
        place.there.parent.mkdir(exist_ok=True)
        place.there.write_bytes(b"another")
    seen = standing(entry(order))
    assert seen.target is None
    assert not any(piece.complete for piece in seen.pieces)


def test_the_folder_of_a_failure_is_the_nearest_that_exists(hub: HubServer, tmp_path: Path) -> None:
    order = family(hub)
    for told, shown in ((str(tmp_path / "a" / "b.part"), tmp_path), ("x", None), (5, None)):
        error = SlipstreamError("disk_full", "Full.", facts={"path": told}, action="Make space.")
        assert standing(entry(order, error)).folder == shown
