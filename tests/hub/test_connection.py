"""Which Hub is used, and who learns the token."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import keyring
import keyring.backend
import keyring.errors
import pytest
from keyring.backends.null import Keyring as NoKeyring

from range_server import Served, serving
from slipstream import __version__
from slipstream.errors import SlipstreamError
from slipstream.hub import connection
from slipstream.hub.connection import Connection, connect, delete_token, store_token

TOKEN = "hf_abcdefghijklmnop"


class Memory(keyring.backend.KeyringBackend):
    """A keyring that holds what it is given, or has a trouble."""

    priority = 1

    def __init__(self, trouble: Exception | threading.Event | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.held: dict[tuple[str, str], str] = {}
        self.trouble = trouble

    def get_password(self, service: str, username: str) -> str | None:
        if isinstance(self.trouble, threading.Event):
            self.trouble.wait(20)
        elif self.trouble:
            raise self.trouble
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if (service, username) not in self.held:
            raise keyring.errors.PasswordDeleteError
        del self.held[service, username]


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in (
        "HF_ENDPOINT", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_OFFLINE",
        "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_IMPLICIT_TOKEN", "HTTP_PROXY", "http_proxy",
        "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy",
    ):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    before = keyring.get_keyring()
    use(NoKeyring())  # type: ignore[no-untyped-call]
    yield
    use(before)


def use(backend: keyring.backend.KeyringBackend) -> None:
    keyring.set_keyring(backend)
    connection._from_keyring.cache_clear()


def error_of_connecting() -> SlipstreamError:
    with pytest.raises(SlipstreamError) as caught:
        connect().close()
    return caught.value


def token() -> str | None:
    with connect() as hub:
        return hub.token


# --- the endpoint


def test_hugging_face_is_the_hub_unless_another_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with connect() as hub:
        assert hub.endpoint == "https://huggingface.co"
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/hub/")
    with connect() as hub:
        assert hub.endpoint == "https://mirror.example/hub"
        assert hub.host == "mirror.example"


@pytest.mark.parametrize(
    "text",
    [
        "mirror.example",
        "ftp://mirror.example",
        "https://",
        "https://[half",
        "https://mirror.example:99999",
        "https://mirror.example?x=1",
        "https://mirror.example#x",
        "https://mirror.example/ä b",
        "https://somebody:secret@mirror.example",
    ],
)
def test_a_bad_endpoint_is_told_without_repeating_it(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", text)
    error = error_of_connecting()
    assert error.code == "bad_endpoint"
    assert "secret" not in str(error.to_json())


@pytest.mark.parametrize("name", ["HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"])
def test_offline_mode_asks_nothing(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "yes")
    assert error_of_connecting().code == "offline_mode"
    monkeypatch.setenv(name, "0")
    connect().close()


def test_a_bad_proxy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "gopher://proxy.example")
    assert error_of_connecting().code == "bad_proxy"


def test_bad_certificates_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    connection.trusted.cache_clear()
    assert error_of_connecting().code == "bad_certificates"


def test_files_have_urls_whatever_they_are_called() -> None:
    with connect() as hub:
        url = hub.file_url("a/b", "feature/x", "Q8 0/ä#1?.gguf")
    assert url == "https://huggingface.co/a/b/resolve/feature%2Fx/Q8%200/%C3%A4%231%3F.gguf"


# --- where the token comes from


def test_without_a_token_nothing_is_sent() -> None:
    with connect() as hub:
        assert hub.token is None
        assert hub.headers() == {"User-Agent": f"slipstream/{__version__}"}


def test_the_environment_comes_first_then_the_login_then_the_keyring(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use(Memory())
    store_token("hf_keyring")
    assert token() == "hf_keyring"
    (tmp_path / "token").write_text("hf_file\n")
    assert token() == "hf_file"
    monkeypatch.setenv("HF_TOKEN_PATH", str(tmp_path / "other"))
    assert token() == "hf_keyring"
    (tmp_path / "other").write_text("hf_other")
    assert token() == "hf_other"
    monkeypatch.setenv("HUGGING_FACE_HUB_TOKEN", "hf_old_name")
    assert token() == "hf_old_name"
    monkeypatch.setenv("HF_TOKEN", " hf_variable\n")
    assert token() == "hf_variable"
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    assert token() is None


def test_the_login_lies_where_hugging_faces_own_tools_put_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("HF_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    (tmp_path / "xdg" / "huggingface").mkdir(parents=True)
    (tmp_path / "xdg" / "huggingface" / "token").write_text(TOKEN)
    assert token() == TOKEN


def test_a_token_in_the_keyring_can_be_taken_out_again() -> None:
    use(Memory())
    store_token(f" {TOKEN}\n")
    assert token() == TOKEN
    delete_token()
    delete_token()
    assert token() is None


def test_a_keyring_that_fails_is_none() -> None:
    use(Memory(RuntimeError("locked")))
    assert token() is None


def test_a_keyring_that_never_answers_is_none_and_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "_KEYRING_SECONDS", 0.2)
    answers = threading.Event()
    use(Memory(answers))
    begin = time.monotonic()
    assert token() is None
    assert token() is None
    assert time.monotonic() - begin < 5
    answers.set()


@pytest.mark.parametrize("text", ["hf_a\nX-Evil: 1", "hf_ä", "hf_a b", "hf_\x00"])
def test_a_damaged_token_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    with pytest.raises(SlipstreamError) as caught:
        store_token(text)
    assert caught.value.code == "bad_token"
    if "\x00" not in text:
        monkeypatch.setenv("HF_TOKEN", text)
        error = error_of_connecting()
        assert (error.code, error.facts["where"]) == ("bad_token", "HF_TOKEN")
        assert "hf_" not in str(error.to_json())


def test_an_unreadable_login_is_none(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"\xff\xfe\x00")
    assert token() is None


@pytest.mark.skipif(os.name != "posix", reason="pipes have names there")
def test_a_pipe_in_place_of_the_login_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "token")
    assert token() is None


def test_the_token_is_not_shown() -> None:
    with connect() as hub:
        assert TOKEN not in repr(Connection(hub.endpoint, hub.client, TOKEN))


# --- who learns it


@pytest.mark.parametrize(
    ("endpoint", "may_know"),
    [
        ("https://huggingface.co", True),
        ("https://hub-ci.huggingface.co", True),
        ("http://huggingface.co", False),
        ("http://127.0.0.1:8000", True),
        ("http://localhost:8000", True),
        ("http://[::1]:8000", True),
        ("https://mirror.example", False),
        ("http://mirror.example", False),
        ("https://huggingface.co.mirror.example", False),
        ("https://nothuggingface.co", False),
        ("https://huggingface.com", False),
        ("http://127.0.0.1.mirror.example", False),
        ("http://192.168.0.2", False),
    ],
)
def test_only_hugging_face_and_this_computer_learn_the_token(
    monkeypatch: pytest.MonkeyPatch, endpoint: str, may_know: bool
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    with connect() as hub:
        assert (hub.token == TOKEN) is may_know
        assert ("Authorization" in hub.headers()) is may_know


def test_a_mirror_never_sees_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Served(b"[]")
    with serving(proxy) as address:
        monkeypatch.setenv("HTTP_PROXY", address.rpartition("/owner")[0])
        monkeypatch.setenv("HF_ENDPOINT", "http://mirror.example")
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        with connect() as hub:
            url = hub.file_url("a/b", "main", "c.gguf")
            hub.client.get(url, headers=hub.headers())
            hub.client.get(url, headers={"Authorization": f"Bearer {TOKEN}"})
    assert [asked["host"] for asked in proxy.asked] == ["mirror.example"] * 2
    assert all("authorization" not in asked for asked in proxy.asked)


def test_another_host_never_sees_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    cdn = Served(b"file")
    with (
        serving(cdn, host="localhost") as elsewhere,
        serving(Served(b"", redirect=elsewhere)) as hub_address,
    ):
        monkeypatch.setenv("HF_ENDPOINT", hub_address.rpartition("/owner")[0])
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        with connect() as hub:
            answer = hub.client.get(hub_address, headers=hub.headers())
            assert (answer.status_code, cdn.asked) == (302, [])
            assert answer.request.headers["Authorization"] == f"Bearer {TOKEN}"
            hub.client.get(hub_address, headers=hub.headers(), follow_redirects=True)
            hub.client.get(elsewhere, headers=hub.headers())
    assert len(cdn.asked) == 2
    assert all("authorization" not in asked for asked in cdn.asked)


def test_a_proxy_never_sees_what_is_meant_for_this_computer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proxy, here = Served(b""), Served(b"here")
    with serving(proxy) as proxy_address, serving(here) as address:
        monkeypatch.setenv("HTTP_PROXY", proxy_address.rpartition("/owner")[0])
        monkeypatch.setenv("ALL_PROXY", proxy_address.rpartition("/owner")[0])
        monkeypatch.setenv("HF_ENDPOINT", address.rpartition("/owner")[0])
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        with connect() as hub:
            assert hub.client.get(address, headers=hub.headers()).content == b"here"
    assert proxy.asked == []
    assert here.asked[0]["authorization"] == f"Bearer {TOKEN}"


def test_requests_have_a_time_limit() -> None:
    with connect() as hub:
        assert hub.client.timeout == httpx2.Timeout(15, connect=10)
