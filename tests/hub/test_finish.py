"""A model of which files are missing is completed from where it came from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from downloading import MIB, REPO, get, item_of, sent
from gguf_files import write_target
from hub_server import HubFile, HubServer, Made, Repo
from local_stores import own_stores
from slipstream.cancel import Cancelled, CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.cache import blob_path
from slipstream.hub.connection import connect
from slipstream.hub.downloads.leftovers import leftovers
from slipstream.hub.downloads.orders import Order
from slipstream.hub.downloads.progress import Progress
from slipstream.hub.downloads.records import Records
from slipstream.hub.downloads.sets import download
from slipstream.hub.here import look_here
from slipstream.hub.library.finish import order_to_finish
from slipstream.hub.library.models import Library, LocalModel
from slipstream.hub.library.scan import scan
from slipstream.hub.library.unfinished import Begun, Unfinished, begun, begun_of, can_be_finished
from slipstream.hub.repository import FileSet
from slipstream.paths import downloads_folder

NAMES = [f"Test-Q4_K_M-0000{n}-of-00003.gguf" for n in (1, 2, 3)]


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A repository with a set of three files and another quantization."""
    own_stores(tmp_path, monkeypatch)
    first = write_target(tmp_path / "first.gguf")
    files = [
        HubFile(NAMES[0], first),
        *(HubFile(name, Made(MIB, n)) for n, name in enumerate(NAMES[1:])),
    ]
    with HubServer(Repo(REPO, [*files, HubFile("Test-Q8_0.gguf", Made(MIB, 9))])) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
        yield server


def only(hub: HubServer, *names: str) -> Order:
    """An order of some files of the repository."""
    item = item_of(hub.repos[REPO])
    files = tuple(file for file in item.files if file.name in names)
    return Order((type(item)(item.repo, item.revision, item.ref, files),))


def library(*folders: Path) -> Library:
    return scan(folders, CancelToken())


def the_model(*folders: Path) -> LocalModel:
    (model,) = library(*folders).models
    return model


def downloads() -> tuple[Begun, ...]:
    return begun(leftovers(Records(downloads_folder())))


def to_finish(model: Unfinished) -> Order:
    with connect() as connection:
        return order_to_finish(model, connection, CancelToken())


def test_the_missing_files_are_got_and_no_others(hub: HubServer) -> None:
    get(hub, order=only(hub, NAMES[0]))
    model = the_model()
    assert model.missing == tuple(NAMES[1:])
    assert can_be_finished(model, ())
    order = to_finish(model)
    assert [file.name for file in order.items[0].files] == NAMES
    assert order.items[0].ref == "main"
    before = sent(hub)
    get(hub, order=order)
    assert sent(hub) - before == 2 * MIB
    assert the_model().missing == ()


def test_an_older_commit_is_finished_as_it_was(hub: HubServer, tmp_path: Path) -> None:
    get(hub, order=only(hub, NAMES[0]))
    reference = tmp_path / "cache" / "models--owner--name" / "refs" / "main"
    reference.write_text("f" * 40)
    order = to_finish(the_model())
    assert order.items[0].ref == order.items[0].revision == hub.repos[REPO].commit


def test_a_download_that_is_known_goes_on(hub: HubServer) -> None:
    get(hub, order=only(hub, NAMES[0]))
    assert begun_of(the_model(), downloads()) is None
    record = Records(downloads_folder()).add(only(hub, *NAMES), "paused")
    left = begun_of(the_model(), downloads())
    assert left is not None
    assert left.record.order == record.order
    assert left.done < left.total


def test_a_part_without_a_model_goes_on_too(hub: HubServer, tmp_path: Path) -> None:
    order = only(hub, "Test-Q8_0.gguf")
    file = order.items[0].files[0]
    own = blob_path(tmp_path / "cache", REPO, file)
    own.parent.mkdir(parents=True)
    own.with_name(f"{own.name}.part").write_bytes(b"x" * 1000)
    (part,) = library().parts
    assert begun_of(part, downloads()) is None
    Records(downloads_folder()).add(order, "paused")
    assert begun_of(part, downloads()) is not None


def test_what_was_cancelled_and_kept_is_finished_from_its_repository(
    hub: HubServer, tmp_path: Path
) -> None:
    order = only(hub, "Test-Q8_0.gguf")
    stop = CancelToken()
    hub.sending.rate = 4 * MIB

    def stop_soon(far: Progress) -> None:
        if far.done:
            stop.cancel()

    with pytest.raises(Cancelled), connect() as connection:
        download(order, connection, stop, stop_soon)
    (part,) = library().parts
    assert can_be_finished(part, ())
    left = look_here(REPO, hub.repos[REPO].commit, FileSet("Q8_0", order.items[0].files)).missing
    assert 0 < left < MIB
    hub.sending.rate = 0
    assert to_finish(part) == order
    get(hub, order=order)
    assert library().parts == ()


def test_a_part_that_its_repository_has_no_more(hub: HubServer, tmp_path: Path) -> None:
    blobs = tmp_path / "cache" / "models--owner--name" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{'c' * 64}.part").write_bytes(b"x" * 1000)
    (part,) = library().parts
    with pytest.raises(SlipstreamError) as caught:
        to_finish(part)
    assert caught.value.code == "no_longer_there"


def test_a_set_of_the_users_own_has_no_origin(hub: HubServer, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    write_target(folder / NAMES[0])
    model = the_model(folder)
    assert not can_be_finished(model, downloads())
    with pytest.raises(SlipstreamError) as failure:
        to_finish(model)
    assert failure.value.code == "origin_unknown"


def test_what_the_repository_does_not_have_is_told(hub: HubServer) -> None:
    del hub.repos[REPO].files[2]
    get(hub, order=only(hub, NAMES[0]))
    with pytest.raises(SlipstreamError) as failure:
        to_finish(the_model())
    assert failure.value.code == "no_longer_there"


def test_a_whole_model_needs_no_finishing(hub: HubServer, tmp_path: Path) -> None:
    write_target(tmp_path / "models" / "a.gguf")
    assert not can_be_finished(the_model(tmp_path / "models"), downloads())
