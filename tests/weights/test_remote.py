import dataclasses
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from gguf_files import DEMO, DEMO_SMALL, TOKENS, raw_header, write_gguf, write_target
from range_server import Served, serving
from slipstream.cancel import Cancelled, CancelToken
from slipstream.errors import SlipstreamError
from slipstream.weights import source
from slipstream.weights.header import TOKENS as TOKENS_KEY
from slipstream.weights.header import Header, header_of, read_header
from slipstream.weights.remote import Remote, read_remote, read_remote_model
from slipstream.weights.shards import read_model
from slipstream.weights.skeleton import shape_key
from slipstream.weights.source import RemoteFile

NAME = Path("Q8_0/model.gguf")
SECRET = {"Authorization": "Bearer secret"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))


@pytest.fixture
def client() -> Iterator[httpx2.Client]:
    with httpx2.Client(trust_env=False) as client:
        yield client


@pytest.fixture(scope="module")
def long_header(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose header is 5 MB, and that goes on for 1 MB."""
    tokens = [f"token {number:>40}" for number in range(90_000)]
    path = tmp_path_factory.mktemp("long") / NAME.name
    return write_target(path, tokens=tokens, padding=1000)


def read(url: str, client: httpx2.Client, cancel: CancelToken | None = None) -> Header:
    return read_remote(url, NAME, client, cancel or CancelToken())


def refused(url: str, client: httpx2.Client) -> SlipstreamError:
    with pytest.raises(SlipstreamError) as caught:
        read(url, client)
    assert caught.value.message.endswith(".")
    assert caught.value.action.endswith(".")
    return caught.value


def local(path: Path) -> Header:
    """What a file on this computer says, under the remote name."""
    return dataclasses.replace(read_header(path), path=NAME)


@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "no ranges"])
@pytest.mark.parametrize("path", [DEMO, DEMO_SMALL], ids=lambda path: path.stem)
def test_a_header_on_a_server_is_the_one_on_disk(
    path: Path, ranges: bool, client: httpx2.Client
) -> None:
    with serving(Served(path.read_bytes(), ranges=ranges)) as url:
        assert read(url, client) == local(path)


def test_hardly_more_is_read_than_the_header(long_header: Path, client: httpx2.Client) -> None:
    served = Served(long_header.read_bytes() + bytes(64 << 20))
    with serving(served) as url:
        assert read(url, client).tensors == local(long_header).tensors
        with RemoteFile(client, url, {}) as file:
            header = header_of(NAME, file, file.file_bytes)
        assert header.data_start < file.fetched < 1.2 * header.data_start
    assert [asked["range"] for asked in served.asked] == ["bytes=0-", "bytes=0-"]
    assert served.sent < 48 << 20  # what fits into the buffers of a connection is sent in vain


def test_of_a_server_without_ranges_only_the_header_is_read(
    long_header: Path, client: httpx2.Client
) -> None:
    served = Served(long_header.read_bytes() + bytes(64 << 20), ranges=False)
    with serving(served) as url:
        header = read(url, client)
    assert header.tensors == local(long_header).tensors
    assert header.file_bytes == len(served.content)
    assert len(served.asked) == 1
    assert served.sent < 32 << 20  # what fits into the buffers of a connection is sent in vain


def test_arrays_are_built_on_request(client: httpx2.Client, tmp_path: Path) -> None:
    path = write_target(tmp_path / "a.gguf")
    with serving(Served(path.read_bytes())) as url:
        header = read_remote(url, NAME, client, CancelToken(), keep_arrays=(TOKENS_KEY,), key="k")
        assert header.keys[TOKENS_KEY] == TOKENS
        # And never come from what was kept on disk without them.
        read_remote(url, NAME, client, CancelToken(), key="k")
        header = read_remote(url, NAME, client, CancelToken(), keep_arrays=(TOKENS_KEY,), key="k")
        assert header.keys[TOKENS_KEY] == TOKENS


def test_redirects_are_followed_and_secrets_stay_with_their_host(client: httpx2.Client) -> None:
    storage = Served(DEMO.read_bytes())
    with serving(storage, "localhost") as address:
        hub = Served(b"", redirect=address)
        with serving(hub) as url:
            header = read_remote(url, NAME, client, CancelToken(), headers=SECRET)
    assert header == local(DEMO)
    assert [asked["authorization"] for asked in hub.asked] == ["Bearer secret"]
    assert storage.asked
    assert not any("authorization" in asked for asked in storage.asked)
    assert storage.asked[0]["range"] == "bytes=0-"


def test_a_client_s_own_secret_stays_with_its_host_too() -> None:
    storage = Served(DEMO.read_bytes())
    with (
        httpx2.Client(trust_env=False, headers=SECRET) as client,
        serving(storage, "localhost") as address,
        serving(hub := Served(b"", redirect=address)) as url,
    ):
        read(url, client)
    assert hub.asked[0]["authorization"] == "Bearer secret"
    assert not any("authorization" in asked for asked in storage.asked)


def test_redirects_without_end_are_the_server_s_fault(client: httpx2.Client) -> None:
    served = Served(b"")
    with serving(served) as url:
        served.redirect = url
        assert refused(url, client).code == "server_error"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "forbidden"),
        (403, "forbidden"),
        (404, "not_found"),
        (410, "not_found"),
        (429, "server_error"),
        (500, "server_error"),
        (503, "server_error"),
        (204, "server_error"),
    ],
)
def test_refusals_have_names(status: int, code: str, client: httpx2.Client) -> None:
    with serving(Served(b"", status=status)) as url:
        error = refused(f"{url}?signature=secret", client)
    assert error.code == code
    assert error.facts["status"] == status
    assert error.facts["host"] == "127.0.0.1"
    assert "secret" not in str(error.to_json())


def test_a_server_that_is_not_there(client: httpx2.Client) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/model.gguf"
        assert refused(url, client).code == "offline"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://127.0.0.1/model\0.gguf", "not_found"),
        ("ftp://127.0.0.1/model.gguf", "server_error"),
        ("http://[half/model.gguf", "offline"),
    ],
)
def test_an_impossible_address(url: str, code: str, client: httpx2.Client) -> None:
    assert refused(url, client).code == code


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Range": None},
        {"Content-Range": "bytes 0-9/*"},
        {"Content-Range": "bytes 7-8999999/9000000"},
        {"Content-Range": "bytes 0-99/50"},
        {"Content-Range": "bytes 0-49/99"},
    ],
)
def test_answers_that_make_no_sense(headers: dict[str, str | None], client: httpx2.Client) -> None:
    with serving(Served(DEMO.read_bytes(), headers=headers)) as url:
        assert refused(url, client).code == "server_error"


@pytest.mark.parametrize("headers", [{"Content-Length": None}, {"Content-Encoding": "gzip"}])
def test_a_whole_file_of_unknown_size(
    headers: dict[str, str | None], client: httpx2.Client
) -> None:
    served = Served(DEMO.read_bytes(), ranges=False, headers={"Connection": "close", **headers})
    with serving(served) as url:
        assert refused(url, client).code == "server_error"


@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "no ranges"])
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "not_a_model"),
        (b"<html>Log in to the network</html>", "not_a_model"),
        (raw_header(key_count=5), "damaged_file"),
        (raw_header(version=9), "unsupported_file"),
        (DEMO.read_bytes()[:5000], "damaged_file"),
    ],
    ids=["empty", "page", "cut", "version", "first bytes"],
)
def test_other_files(content: bytes, code: str, ranges: bool, client: httpx2.Client) -> None:
    with serving(Served(content, ranges=ranges)) as url:
        error = refused(url, client)
    assert error.code == code
    assert "Download it again" not in error.action  # nothing was downloaded yet


@pytest.mark.parametrize("ranges", [True, False], ids=["ranges", "no ranges"])
def test_an_answer_that_breaks_off_is_asked_for_once_more(
    ranges: bool, client: httpx2.Client
) -> None:
    served = Served(DEMO.read_bytes(), ranges=ranges, breaks_after=3000, answers=1)
    with serving(served) as url:
        assert read(url, client) == local(DEMO)
    served = Served(DEMO.read_bytes(), ranges=ranges, breaks_after=3000)
    with serving(served) as url:
        assert refused(url, client).code == "server_error"
    assert len(served.asked) == 2


def test_a_silent_server_takes_too_long(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "SILENCE", 0.2)
    with serving(Served(DEMO.read_bytes(), stalls_after=3000)) as url:
        assert refused(url, client).code == "timed_out"


def test_a_server_that_drips_takes_too_long(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_GRACE", 0.5)
    start = time.monotonic()
    with serving(Served(DEMO.read_bytes(), pause=0.05)) as url:
        assert refused(url, client).code == "timed_out"
        assert time.monotonic() - start < 10


@pytest.mark.parametrize("how", [{"stalls_after": 0}, {"stalls_after": 3000}, {"pause": 0.05}])
def test_a_cancelled_reading_ends_at_once(how: dict[str, float], client: httpx2.Client) -> None:
    cancel = CancelToken()
    cancelled_at: list[float] = []

    def stop() -> None:
        cancelled_at.append(time.monotonic())
        cancel.cancel()

    timer = threading.Timer(0.3, stop)
    timer.start()
    with serving(Served(DEMO.read_bytes(), **how)) as url:  # type: ignore[arg-type]
        with pytest.raises(Cancelled):
            read(url, client, cancel)
        assert time.monotonic() - cancelled_at[0] < 2  # 0.05 s on a computer with nothing to do
    timer.join()


def test_what_is_cancelled_before_it_begins_asks_nobody(client: httpx2.Client) -> None:
    cancel = CancelToken()
    cancel.cancel()
    served = Served(DEMO.read_bytes())
    with serving(served) as url, pytest.raises(Cancelled):
        read(url, client, cancel)
    assert not served.asked


def test_a_header_that_was_kept_needs_no_server(client: httpx2.Client) -> None:
    key = "owner/model@0123abcd/model.gguf"
    served = Served(DEMO.read_bytes())
    with serving(served) as url:
        first = read_remote(url, NAME, client, CancelToken(), key=key)
        again = read_remote(url, NAME, client, CancelToken(), key=key)
        assert len(served.asked) == 1
        read_remote(url, NAME, client, CancelToken(), key=f"{key}2")
        assert len(served.asked) == 2
    assert first == again == local(DEMO)


def test_a_set_of_files_is_read_as_one_model(client: httpx2.Client, tmp_path: Path) -> None:
    paths = [tmp_path / f"Big-Q4_K_M-0000{number}-of-00002.gguf" for number in (1, 2)]
    write_gguf(paths[0], "qwen35", {"split.count": 2, "qwen35.block_count": 1}, {}, TOKENS)
    write_gguf(paths[1], "qwen35", {"split.no": 1}, {"blk.0.a.weight": (8,)})
    with (
        serving(Served(paths[0].read_bytes())) as one,
        serving(Served(paths[1].read_bytes())) as two,
    ):
        files = [Remote(one, paths[0]), Remote(two, paths[1])]
        header = read_remote_model(files, client, CancelToken())
    assert header == read_model(paths[1])
    assert header.file_bytes == sum(os.path.getsize(path) for path in paths)  # noqa: PTH202
    assert shape_key(header) == shape_key(read_model(paths[0]))
