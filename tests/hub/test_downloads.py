"""Everything that belongs together: a target, its shards, drafter and projector."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from downloading import MIB, REPO, asked_cdn, child, get, item_of, join_flushes, sent, wait_until
from hub_server import HubFile, HubServer, Made, Repo
from slipstream.errors import SlipstreamError
from slipstream.hub.downloads.limit import SpeedLimit
from slipstream.hub.downloads.orders import Order
from slipstream.hub.downloads.progress import FileProgress, Progress
from slipstream.hub.downloads.sets import discard

TARGET = Repo(
    REPO, [HubFile(f"model-Q8_0-0000{n}-of-00003.gguf", Made(2 * MIB, n)) for n in (1, 2, 3)]
)
DRAFTER = Repo("other/drafter", [HubFile("dflash-model-Q8_0.gguf", Made(MIB, 9))])


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    target = Repo(TARGET.id, [HubFile(file.path, file.content) for file in TARGET.files])
    with HubServer(target, Repo(DRAFTER.id, list(DRAFTER.files))) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.delenv("HF_TOKEN", raising=False)
        yield server
    join_flushes()


def test_a_set_of_two_repositories_arrives_and_is_not_fetched_again(hub: HubServer) -> None:
    seen: list[Progress] = []
    downloaded = get(hub, watch=seen.append)
    assert [file.repo for file in downloaded.files] == [REPO] * 3 + ["other/drafter"]
    assert all(file.transferred for file in downloaded.files)
    assert downloaded.seconds > 0
    last = seen[-1]
    assert last.done == last.total == 7 * MIB
    assert last.seconds_left == 0
    assert {file.state for file in last.files} == {"done"}
    before = len(hub.requests)
    assert not any(file.transferred for file in get(hub).files)
    assert len(hub.requests) == before


def test_progress_tells_speed_and_time_left(hub: HubServer) -> None:
    seen: list[Progress] = []
    get(hub, watch=seen.append, limit=SpeedLimit(6 * MIB))
    speeds = [progress.speed for progress in seen if progress.speed]
    assert 3 * MIB < speeds[-1] < 9 * MIB
    assert seen[0].seconds_left is None
    assert any(0 < (progress.seconds_left or 0) < 3 for progress in seen)
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    states = {progress.current.state for progress in seen if progress.current}
    assert states >= {"resolving", "downloading"}


def test_no_space_is_told_before_the_first_byte(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 5 * MIB

    monkeypatch.setattr("shutil.disk_usage", lambda _folder: Usage)
    monkeypatch.setattr("slipstream.hub.downloads.sets.RESERVE", MIB)
    with pytest.raises(SlipstreamError) as failure:
        get(hub)
    assert failure.value.code == "not_enough_space"
    facts = failure.value.facts
    assert (facts["needed"], facts["free"], facts["missing"]) == (8 * MIB, 5 * MIB, 3 * MIB)
    assert not hub.requests


def test_one_file_that_fails_does_not_keep_the_others(hub: HubServer) -> None:
    hub.repos[REPO].files[1].sending.corrupt_at = 5
    with pytest.raises(SlipstreamError) as failure:
        get(hub)
    assert failure.value.code == "checksum_mismatch"
    before = sent(hub)
    hub.repos[REPO].files[1].sending.corrupt_at = None
    downloaded = get(hub)
    assert [file.transferred for file in downloaded.files] == [False, True, False, False]
    assert sent(hub) - before == 2 * MIB


@pytest.mark.parametrize(
    ("change", "code"), [("gated", "gated"), ("gone", "repo_not_found"), ("disabled", "")]
)
def test_the_hubs_refusal_is_told(hub: HubServer, change: str, code: str) -> None:
    order = Order((item_of(hub.repos[REPO]),))
    repo = hub.repos[REPO]
    if change == "gated":
        repo.gated = "auto"
    elif change == "gone":
        repo.private = True
    else:
        repo.disabled = True
    with pytest.raises(SlipstreamError) as failure:
        get(hub, order=order)
    assert failure.value.code == (code or failure.value.code)
    assert failure.value.code in ("gated", "repo_not_found", "repo_disabled", "forbidden")
    assert not asked_cdn(hub)


def test_a_folder_of_the_users(hub: HubServer, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    files = get(hub, folder=folder).files
    assert files[0].path == folder / "model-Q8_0-00001-of-00003.gguf"
    join_flushes()
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        file.file.name for file in files
    )
    assert not any(file.transferred for file in get(hub, folder=folder).files)
    files[0].path.write_bytes(b"something else")
    with pytest.raises(SlipstreamError) as failure:
        get(hub, folder=folder)
    assert failure.value.code == "file_exists"
    assert files[0].path.read_bytes() == b"something else"


def test_two_programs_at_once_fetch_a_file_once(hub: HubServer) -> None:
    hub.repos = {REPO: hub.repos[REPO]}
    hub.sending.rate = 6 * MIB
    process = child()
    wait_until(lambda: sent(hub) > 0)
    seen: list[FileProgress] = []
    files = get(hub, watch=lambda progress: seen.extend(progress.files)).files
    assert process.wait(10) == 0
    assert process.stdout
    process.stdout.close()
    assert len(files) == 3
    assert sent(hub) == 6 * MIB
    assert any(file.state == "waiting" and "another program" in file.why for file in seen)


def test_what_is_not_complete_can_be_thrown_away(hub: HubServer, tmp_path: Path) -> None:
    hub.repos[REPO].files[0].sending.cut_after = MIB + 5
    hub.repos[REPO].files[0].sending.ranges = False
    with pytest.raises(SlipstreamError):
        get(hub)
    assert list(tmp_path.rglob("*.part"))
    discard(Order((item_of(hub.repos[REPO]),)))
    assert not list(tmp_path.rglob("*.part"))
    wait_until(lambda: not list(tmp_path.rglob("*.map")))  # others are still being flushed


def _blob(root: Path) -> Path:
    return root / "models--owner--name" / "blobs" / TARGET.files[0].sha256


def _in_snapshot(root: Path) -> Path:
    return root / "models--owner--name" / "snapshots" / TARGET.commit / TARGET.files[0].path


@pytest.mark.parametrize("where", [_blob, _in_snapshot])
def test_a_folder_in_the_way_is_named_before_the_first_byte(
    hub: HubServer, tmp_path: Path, where: Callable[[Path], Path]
) -> None:
    folder = where(tmp_path / "cache")
    folder.mkdir(parents=True)
    with pytest.raises(SlipstreamError) as failure:
        get(hub)
    assert failure.value.code == "cannot_write"
    assert failure.value.facts["path"] == str(folder)
    assert "directory" in str(failure.value.facts["reason"])
    assert sent(hub) <= 5 * MIB  # the other files


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
@pytest.mark.parametrize("name", [".locks", "models--owner--name", "models--owner--name/snapshots"])
@pytest.mark.parametrize("kind", ["file", "circle"])
def test_what_is_in_the_way_is_named(hub: HubServer, tmp_path: Path, name: str, kind: str) -> None:
    odd = tmp_path / "cache" / name
    odd.parent.mkdir(parents=True)
    if kind == "file":
        odd.touch()
    else:
        odd.symlink_to(odd.name)
    with pytest.raises(SlipstreamError) as failure:
        get(hub, order=Order((item_of(hub.repos[REPO]),)))
    assert failure.value.code == "cannot_write"
    assert str(failure.value.facts["path"]).startswith(str(odd))
    assert not sent(hub)
