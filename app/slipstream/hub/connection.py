"""The Hub that is used, how it is reached, and whether it may know who asks."""

import ipaddress
import os
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import quote

import httpx2

from slipstream import __version__
from slipstream.cancel import CancelToken, run_apart
from slipstream.errors import SlipstreamError
from slipstream.hub.address import PORTS, endpoint
from slipstream.hub.environment import is_true, place
from slipstream.small_files import read_text

_T = TypeVar("_T")
TIMEOUT = httpx2.Timeout(15.0, connect=10.0)
"""Seconds that a server may be silent, and that a connection may take."""
_KEYRING = ("slipstream", "huggingface")
_LONGEST_TOKEN = 4096
"""Bytes of a file with one."""
_KEYRING_SECONDS = 2.0
"""A keyring that waits for somebody to unlock it counts as none."""


@dataclass(frozen=True)
class Connection:
    """A way to one Hub; a context manager.

    Attributes:
        endpoint: its address, without a slash at the end.
        client: makes requests; it does not follow redirects by itself, and takes the token out of
            those that do not go to the endpoint.
        token: of the user's; None where there is none, or none may be sent to this endpoint.
    """

    endpoint: str
    client: httpx2.Client = field(repr=False)
    token: str | None = field(repr=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def host(self) -> str:
        """Its name for people."""
        return httpx2.URL(self.endpoint).host

    def file_url(self, repo: str, revision: str, path: str) -> str:
        """Where a file of a repository is sent from."""
        return f"{self.endpoint}/{quote(repo)}/resolve/{quote(revision, safe='')}/{quote(path)}"

    def page_url(self, repo: str) -> str:
        """The repository's page."""
        return f"{self.endpoint}/{quote(repo)}"

    def headers(self) -> dict[str, str]:
        """What each request says: the program, and the token if the endpoint may have it."""
        headers = {"User-Agent": user_agent()}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        return headers

    def close(self) -> None:
        """Give its connections back."""
        self.client.close()


def connect() -> Connection:
    """The Hub that the environment names, and the token if it may have one.

    Raises: SlipstreamError ``offline_mode``, ``bad_endpoint``, ``bad_token``, ``bad_proxy``,
        ``bad_certificates``.
    """
    if is_true("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        raise SlipstreamError(
            "offline_mode",
            "Offline mode is on, so nothing is asked of the Hub.",
            action="Unset HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE to use the Hub.",
        )
    hub = _endpoint()
    return Connection(hub, _client(hub), _token() if may_know(hub) else None)


def user_agent() -> str:
    """How Slipstream names itself to servers."""
    return f"slipstream/{__version__}"


def store_token(token: str) -> None:
    """Keep a token in the system's keyring.

    Raises: SlipstreamError ``bad_token``, ``no_keyring``.
    """
    import keyring

    checked = _checked(token, "what was typed")
    if not checked:
        raise _bad_token("what was typed")
    _with_keyring(lambda: keyring.set_password(*_KEYRING, checked))
    _from_keyring.cache_clear()


def delete_token() -> None:
    """Take the token out of the system's keyring, if one is there.

    Raises: SlipstreamError ``no_keyring``.
    """
    import keyring
    import keyring.errors

    def delete() -> None:
        with suppress(keyring.errors.PasswordDeleteError):
            keyring.delete_password(*_KEYRING)

    _with_keyring(delete)
    _from_keyring.cache_clear()


def _endpoint() -> str:
    text = endpoint()
    if text is not None:
        return text
    # its text is not repeated: somebody may have put a password into it
    raise SlipstreamError(
        "bad_endpoint",
        "HF_ENDPOINT is not the address of a Hub.",
        facts={"variable": "HF_ENDPOINT"},
        action="Set it to an address such as https://huggingface.co, or unset it.",
    )


def _client(endpoint: str) -> httpx2.Client:
    """A client that shows the token to its endpoint alone."""
    ours = httpx2.URL(endpoint)
    shown = may_know(endpoint)

    def guard(request: httpx2.Request) -> None:
        if not shown or _origin(request.url) != _origin(ours):
            request.headers.pop("Authorization", None)

    # A proxy elsewhere would see what is meant for this computer.
    direct = {f"all://{_netloc_host(ours.host)}": None} if _is_here(ours.host) else None
    try:
        return httpx2.Client(
            verify=trusted(), timeout=TIMEOUT, mounts=direct, event_hooks={"request": [guard]}
        )
    except (ValueError, ImportError, httpx2.InvalidURL) as error:  # of the environment's proxies
        raise SlipstreamError(
            "bad_proxy",
            "The proxy that the environment names cannot be used.",
            facts={"reason": str(error)},
            action="Correct HTTP_PROXY, HTTPS_PROXY and ALL_PROXY.",
        ) from error


@cache
def trusted() -> ssl.SSLContext:
    """What the system trusts: httpx2's default, as in huggingface_hub; slow to read.

    Raises: SlipstreamError ``bad_certificates``.
    """
    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        raise SlipstreamError(
            "bad_certificates",
            "The certificates of this computer cannot be read.",
            facts={"reason": str(error)},
            action="Correct SSL_CERT_FILE and SSL_CERT_DIR, or unset them.",
        ) from error


def may_know(url: str) -> bool:
    """Whether a token may be sent there: to Hugging Face itself, or to a Hub on this computer."""
    parts = httpx2.URL(url)
    known = parts.host == "huggingface.co" or parts.host.endswith(".huggingface.co")
    return _is_here(parts.host) or (parts.scheme == "https" and known)


def _is_here(host: str) -> bool:
    """Whether a host is this computer."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or PORTS.get(url.scheme)


def _netloc_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _token() -> str | None:
    """The user's token: the first that exists. Names and places: huggingface_hub's ``_auth.py``."""
    if is_true("HF_HUB_DISABLE_IMPLICIT_TOKEN"):
        return None
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        if token := _checked(os.environ.get(name, ""), name):
            return token
    file = place("token", "HF_TOKEN_PATH")  # where ``hf auth login`` puts it
    token = _checked(_read(file), str(file))
    return token or _checked(_from_keyring(), "the system's keyring") or None


def _read(file: Path) -> str:
    try:
        return read_text(file, _LONGEST_TOKEN)
    except (OSError, ValueError):  # there is none, or no file could have this name or be this one
        return ""


@cache
def _from_keyring() -> str:
    """The token in the system's keyring, asked for once: if that goes wrong, there is none."""
    import keyring

    with suppress(SlipstreamError):
        return _with_keyring(lambda: keyring.get_password(*_KEYRING)) or ""
    return ""


def _with_keyring(call: Callable[[], _T]) -> _T:
    """Ask the keyring, which may never answer.

    Raises: SlipstreamError ``no_keyring``.
    """
    deadline = time.monotonic() + _KEYRING_SECONDS
    try:
        return run_apart(call, CancelToken(), lambda: deadline)
    except Exception as error:  # its backends raise what they like
        raise SlipstreamError(
            "no_keyring",
            "The system's keyring cannot be used.",
            facts={"reason": str(error) or type(error).__name__},
            action="Set the token as HF_TOKEN instead.",
        ) from error


def _checked(token: str, where: str) -> str:
    """A token that can be sent.

    Raises: SlipstreamError ``bad_token``: it cannot be one.
    """
    token = token.strip()
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise _bad_token(where)
    return token


def _bad_token(where: str) -> SlipstreamError:
    return SlipstreamError(
        "bad_token",
        "The access token for Hugging Face is damaged.",
        facts={"where": where},
        action="Copy the token again from huggingface.co/settings/tokens.",
    )
