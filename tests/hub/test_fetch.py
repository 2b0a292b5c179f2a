"""One file, over connections that do everything connections do."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downloading import (
    HURRIED,
    MIB,
    REPO,
    asked_cdn,
    changed,
    child,
    get,
    join_flushes,
    repo_of,
    sent,
    wait_until,
)
from hub_server import TOKEN, HubFile, HubServer, Made, Repo
from hub_server.answers import Answer
from slipstream.cancel import Cancelled, CancelToken
from slipstream.errors import SlipstreamError
from slipstream.hub.downloads.answers import Changed, Cut, Odd, span_of, wait_asked
from slipstream.hub.downloads.blocks import BLOCK, Part, map_of, sample_of
from slipstream.hub.downloads.limit import SpeedLimit
from slipstream.hub.downloads.progress import Progress


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    with HubServer(repo_of(24 * MIB + 777)) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        yield server
    join_flushes()


def file_of(hub: HubServer) -> HubFile:
    return hub.repos[REPO].files[0]


def is_right(path: Path, file: HubFile) -> bool:
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256


def test_a_file_arrives_whole_and_the_token_goes_to_the_hub_alone(hub: HubServer) -> None:
    (fetched,) = get(hub).files
    assert fetched.transferred
    assert is_right(fetched.path, file_of(hub))
    assert sent(hub) == file_of(hub).size
    assert asked_cdn(hub)
    assert all("authorization" not in request.headers for request in asked_cdn(hub))
    assert all("authorization" in request.headers for request in hub.asked("/resolve/"))


def test_a_killed_download_goes_on_and_little_comes_twice(hub: HubServer, tmp_path: Path) -> None:
    hub.repos[REPO] = repo_of(96 * MIB)
    hub.sending.rate = 120 * MIB  # what only lies in the server's own buffers was not fetched
    process = child()
    wait_until(lambda: sent(hub) > 40 * MIB)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout
    process.stdout.close()
    (part,) = tmp_path.rglob("*.part")
    assert not list((tmp_path / "cache").rglob("snapshots/*/*"))
    done = Part(part, 96 * MIB, file_of(hub).sha256)
    assert done.done > 16 * MIB
    done.close()
    hub.sending.rate = 0
    (fetched,) = get(hub).files
    assert is_right(fetched.path, file_of(hub))
    assert sent(hub) <= 96 * MIB + 8 * MIB


def test_cut_connections_are_taken_up_where_they_ended(hub: HubServer) -> None:
    file_of(hub).sending.cut_after = 300_000  # less than a block: only the position goes on
    hub.repos[REPO] = repo_of(6 * MIB, sending=file_of(hub).sending)
    (fetched,) = get(hub).files
    assert is_right(fetched.path, file_of(hub))
    assert sent(hub) <= 6 * MIB + 300_000
    assert len(asked_cdn(hub)) > 20


def test_a_connection_that_never_delivers_is_given_up(hub: HubServer) -> None:
    file_of(hub).sending.cut_after = 0
    with pytest.raises(SlipstreamError) as failure:
        get(hub)
    assert failure.value.code in ("offline", "server_error")
    assert len(asked_cdn(hub)) == HURRIED.tries


def test_stalls_count_as_cut(hub: HubServer) -> None:
    file_of(hub).sending.stall_after = 5 * MIB
    file_of(hub).sending.stalls = 2
    (fetched,) = get(hub).files
    assert is_right(fetched.path, file_of(hub))
    assert sent(hub) < file_of(hub).size + 2 * MIB


def test_expired_links_are_asked_for_again(hub: HubServer) -> None:
    file_of(hub).sending.cut_after = 4 * MIB
    hub.faults.link_answers = 1
    (fetched,) = get(hub).files
    assert is_right(fetched.path, file_of(hub))
    assert len(hub.asked("/resolve/")) > 4
    assert sent(hub) == file_of(hub).size


def test_a_byte_that_arrives_wrong_is_fetched_again(hub: HubServer) -> None:
    file_of(hub).sending.corrupt_at = 9 * MIB
    file_of(hub).sending.corrupt_only = 1
    (fetched,) = get(hub).files
    assert is_right(fetched.path, file_of(hub))


@pytest.mark.parametrize("how", ["corrupt", "listed wrong"])
def test_what_stays_wrong_is_not_shown(hub: HubServer, tmp_path: Path, how: str) -> None:
    if how == "corrupt":
        file_of(hub).sending.corrupt_at = 9 * MIB
    else:
        file_of(hub).listed_sha256 = "0" * 64
    with pytest.raises(SlipstreamError) as failure:
        get(hub)
    assert failure.value.code == "checksum_mismatch"
    assert not [
        path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size > 500
    ]


def test_blocks_that_a_power_cut_lost_are_fetched_alone(hub: HubServer, tmp_path: Path) -> None:
    cancel = CancelToken()

    def stop(progress: Progress) -> None:
        if progress.done > 16 * MIB:
            cancel.cancel()

    with pytest.raises(Cancelled):
        get(hub, cancel=cancel, watch=stop, limit=SpeedLimit(60 * MIB))
    (part,) = tmp_path.rglob("*.part")
    with part.open("r+b") as damaged:
        damaged.seek(3 * MIB + 4096)
        damaged.write(bytes(4096))  # what gets lost are pages
    before = sent(hub)
    (fetched,) = get(hub).files
    assert is_right(fetched.path, file_of(hub))
    done = file_of(hub).size - 16 * MIB
    assert sent(hub) - before <= done + 2 * MIB


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("size", [20 * MIB, 30 * MIB])
def test_a_file_that_shrank_or_grew(hub: HubServer, size: int, told: bool) -> None:
    file_of(hub).sends = Made(size)
    file_of(hub).link_tells = told
    with pytest.raises(SlipstreamError) as failure:
        get(hub)
    assert failure.value.code == "changed_on_hub"
    assert "again" in failure.value.action


def test_a_web_page_is_not_a_file(hub: HubServer) -> None:
    file_of(hub).sending.html = True
    with pytest.raises(SlipstreamError) as failure:
        get(hub)
    assert failure.value.code in ("not_the_file", "changed_on_hub")


def test_a_server_without_ranges_sends_all_and_what_is_there_stays(
    hub: HubServer, tmp_path: Path
) -> None:
    cancel = CancelToken()

    def stop(progress: Progress) -> None:
        if progress.done > 4 * MIB:
            cancel.cancel()

    with pytest.raises(Cancelled):
        get(hub, cancel=cancel, watch=stop, limit=SpeedLimit(40 * MIB))
    file_of(hub).sending.ranges = False
    (fetched,) = get(hub).files
    assert is_right(fetched.path, file_of(hub))


def test_a_server_that_is_busy_is_waited_for_as_long_as_it_asks(hub: HubServer) -> None:
    hub.faults.cdn = [429]
    hub.faults.resolve = [503]
    seen: list[Progress] = []
    started = time.monotonic()
    get(hub, watch=seen.append)
    assert time.monotonic() - started >= 1
    waits = [p.files[0] for p in seen if p.files[0].state == "waiting"]
    left = [wait.seconds or 0.0 for wait in waits if "busy" in wait.why]
    assert 0.5 < max(left) <= 1
    assert min(left) < 0.5  # it counts down


@pytest.mark.parametrize("when", ["reading", "stalled", "waiting for an answer", "backing off"])
def test_cancel_acts_at_once(hub: HubServer, when: str) -> None:
    if when == "reading":
        hub.sending.rate = 3 * MIB
    elif when == "stalled":
        hub.sending.stall_after = MIB
    elif when == "waiting for an answer":
        hub.faults.latency = 2
    else:
        hub.faults.cdn = [429] * 9
        hub.faults.retry_after = 60
    cancel = CancelToken()
    cancelled: list[float] = []

    def stop() -> None:
        cancelled.append(time.monotonic())
        cancel.cancel()

    threading.Timer(0.35, stop).start()
    with pytest.raises(Cancelled):
        get(hub, cancel=cancel)
    assert time.monotonic() - cancelled[0] < 0.25


def test_a_speed_limit_is_kept_and_can_be_lifted(hub: HubServer) -> None:
    limit = SpeedLimit(8 * MIB)
    started = time.monotonic()

    def lift(progress: Progress) -> None:
        if progress.done > 8 * MIB:
            limit.change(None)

    get(hub, limit=limit, watch=lift)
    assert 0.8 < time.monotonic() - started < 2.2


def test_a_full_disk_is_told_and_the_download_goes_on_later(hub: HubServer, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=27m", "none", str(small)]
    if sys.platform != "linux" or subprocess.run(mounted, capture_output=True).returncode:
        pytest.skip("only root can make a small disk")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("slipstream.hub.downloads.sets.RESERVE", 0)
            eaten = small / "eaten"

            def eat(progress: Progress) -> None:
                if not eaten.exists():
                    eaten.write_bytes(bytes(12 * MIB))

            with pytest.raises(SlipstreamError) as failure:
                get(hub, folder=small, watch=eat, limit=SpeedLimit(100 * MIB))
            assert failure.value.code == "disk_full"
            assert failure.value.facts["free"] is not None
            eaten.unlink()
            before = sent(hub)
            (fetched,) = get(hub, folder=small).files
            assert is_right(fetched.path, file_of(hub))
            assert sent(hub) - before < 16 * MIB
    finally:
        join_flushes()
        subprocess.run(["umount", str(small)], check=True)


def test_a_file_that_may_not_grow_is_told(hub: HubServer) -> None:
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * MIB, limit[1]))
    try:
        with pytest.raises(SlipstreamError) as failure:
            get(hub)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert failure.value.code == "disk_full"


def test_a_slow_server_is_asked_over_several_connections(
    hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("slipstream.hub.downloads.fetch._MEASURE", 0.2)
    monkeypatch.setattr("slipstream.hub.downloads.fetch._WORTH_ANOTHER", 4 * MIB)
    monkeypatch.setattr("slipstream.hub.downloads.runs._LONGEST", 4)
    hub.sending.rate = 8 * MIB
    (fetched,) = get(hub).files
    assert is_right(fetched.path, file_of(hub))
    assert sent(hub) == file_of(hub).size
    assert len({request.headers["range"] for request in asked_cdn(hub)}) >= 4


def test_a_small_file_that_git_keeps(hub: HubServer) -> None:
    hub.repos[REPO] = Repo(REPO, [HubFile("README.md", b"# A card\n"), HubFile("empty.txt", b"")])
    card, empty = get(hub).files
    assert card.path.read_bytes() == b"# A card\n"
    assert empty.path.read_bytes() == b""


def test_a_map_of_another_file_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "x.part"
    part = Part(path, 3 * BLOCK, "one")
    assert part.write(1, 0, memoryview(bytes(BLOCK)))
    assert part.done == 0
    assert part.finish(1, sample_of(bytes(BLOCK)))
    part.close()
    again = Part(path, 3 * BLOCK, "one")
    assert again.done == BLOCK
    again.close()
    assert not again.write(0, 0, memoryview(bytes(BLOCK)))
    assert not again.finish(0, 0)
    other = Part(path, 3 * BLOCK, "two")
    assert other.done == 0
    other.close()


@given(st.integers(0, 3 * BLOCK), st.binary(max_size=64))
def test_a_torn_map_costs_the_blocks_and_nothing_else(cut: int, junk: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.part"
        part = Part(path, 2 * BLOCK + 5, "one")
        part.write(0, 0, memoryview(bytes(BLOCK)))
        part.finish(0, sample_of(bytes(BLOCK)))
        part.close()
        known = map_of(path).read_bytes()
        map_of(path).write_bytes(known[:cut] + junk)
        torn = Part(path, 2 * BLOCK + 5, "one")
        assert torn.done in (0, BLOCK)
        torn.close()


@given(st.text(max_size=40), st.text(max_size=12), st.sampled_from([200, 206, 416]))
def test_any_answer_is_judged(content_range: str, kind: str, status: int) -> None:
    headers = {"content-range": content_range, "content-type": kind}
    try:
        span = span_of(status, headers, 0, 10, 100)
    except (Cut, Changed, Odd):
        return
    assert span.first == 0


@given(st.text(max_size=40), st.text(max_size=20))
def test_any_wait_is_understood(after: str, limit: str) -> None:
    wait = wait_asked({"retry-after": after, "ratelimit": limit})
    assert wait is None or 0 <= wait <= 300


def test_what_servers_ask_to_wait() -> None:
    assert wait_asked({"retry-after": "7"}) == 7
    assert wait_asked({"ratelimit": '"resolvers";r=0;t=55'}) == 55
    assert wait_asked({"retry-after": "99999"}) == 300
    assert wait_asked({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert wait_asked({}) is None
    assert wait_asked({"retry-after": "\u00b2"}) is None
    assert wait_asked({"retry-after": "Mon, 01 Jan 99999 00:00:00 GMT"}) is None


@pytest.mark.parametrize("number", ["9" * 5000, "\u00b2"])
def test_a_number_that_is_none_ends_nothing(hub: HubServer, number: str) -> None:
    odd = {"X-Linked-Size": number}
    changed(hub, "hub", lambda a: Answer(a.status, {**a.headers, **odd}, a.body))
    (fetched,) = get(hub).files
    assert is_right(fetched.path, file_of(hub))
    with pytest.raises(Odd):
        span_of(206, {"content-range": f"bytes 0-5/{number}"}, 0, 6, 6)
    with pytest.raises(Cut):
        span_of(206, {"content-range": "bytes 0-5/6", "content-length": number}, 0, 6, 6)


@pytest.mark.parametrize(
    "location",
    ["", "http://[::1/x", "file:///etc/passwd", f"http://x/{'a' * 70_000}", "http://a\x01b/\x02"],
    ids=["empty", "half an address", "file", "long", "control characters"],
)
def test_a_link_that_makes_no_sense_is_given_up_soon(hub: HubServer, location: str) -> None:
    changed(hub, "hub", lambda _answer: Answer(302, {"Location": location}))
    with pytest.raises(SlipstreamError) as failure:
        get(hub)
    assert failure.value.code == "server_error"
    assert failure.value.message == "The answer of 127.0.0.1 cannot be understood."
    assert len(hub.requests) <= 2 * 8


def test_a_file_that_comes_compressed_is_given_up_soon(hub: HubServer) -> None:
    packed = {"Content-Encoding": "gzip"}
    changed(hub, "cdn", lambda a: Answer(a.status, {**a.headers, **packed}, a.body))
    with pytest.raises(SlipstreamError) as failure:
        get(hub)
    assert failure.value.code == "server_error"
    assert "compressed" in str(failure.value.facts["reason"])
    assert len(asked_cdn(hub)) == 2


def test_the_server_that_failed_is_named(hub: HubServer) -> None:
    down = {"Location": "http://localhost:1/file"}
    changed(hub, "hub", lambda _answer: Answer(302, down))
    with pytest.raises(SlipstreamError) as failure:
        get(hub)
    assert failure.value.code == "offline"
    assert failure.value.message == "localhost cannot be reached."
    assert failure.value.facts["host"] == "localhost"


def test_a_busy_server_is_named(hub: HubServer) -> None:
    hub.faults.cdn = [500] * HURRIED.tries
    changed(
        hub,
        "hub",
        lambda a: Answer(
            a.status,
            {**a.headers, "Location": a.headers["Location"].replace("127.0.0.1", "localhost")},
        ),
    )
    with pytest.raises(SlipstreamError) as failure:
        get(hub)
    assert failure.value.message == "localhost cannot answer now."


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
@pytest.mark.parametrize("kind", ["link", "pipe"])
@pytest.mark.parametrize("which", ["part", "map"])
def test_nothing_is_written_through_a_link(tmp_path: Path, kind: str, which: str) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"precious")
    path = tmp_path / "x.part"
    odd = path if which == "part" else map_of(path)
    if kind == "link":
        odd.symlink_to(precious)
    else:
        os.mkfifo(odd)
    part = Part(path, 3 * BLOCK, "one")
    assert part.write(0, 0, memoryview(bytes(BLOCK)))
    assert part.finish(0, sample_of(bytes(BLOCK)))
    part.close()
    assert precious.read_bytes() == b"precious"
    assert odd.is_file()
    assert not odd.is_symlink()
