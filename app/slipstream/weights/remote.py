"""The header of a model on a server, read without the rest of its file."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from slipstream.cancel import CancelToken, run_apart
from slipstream.errors import Fact, SlipstreamError
from slipstream.weights import cache
from slipstream.weights.header import Header, header_of
from slipstream.weights.shards import merged
from slipstream.weights.source import Refused, RemoteFile, Senseless

_AT_ONCE = 8
"""Files of a set that are read at the same time."""


Refusal = Callable[[httpx2.Response], SlipstreamError]
"""Names why a server gives no file, from status and headers."""


@dataclass(frozen=True)
class Remote:
    """One file on a server.

    Attributes:
        url: where it is.
        name: what it is called in its repository.
        key: names its content for good; with it, the header is kept on disk.
    """

    url: str
    name: Path
    key: str | None = None


def read_remote_model(
    files: Sequence[Remote],
    client: httpx2.Client,
    cancel: CancelToken,
    *,
    headers: Mapping[str, str] | None = None,
    refusal: Refusal | None = None,
) -> Header:
    """The header of a whole model: as ``read_model``, of one file or all files of a set in order.

    Raises: what ``read_remote`` raises.
    """

    def read(file: Remote) -> Header:
        return read_remote(
            file.url, file.name, client, cancel, headers=headers, key=file.key, refusal=refusal
        )

    if len(files) == 1:
        return read(files[0])
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return merged(list(pool.map(read, files)))


def read_remote(
    url: str,
    name: Path,
    client: httpx2.Client,
    cancel: CancelToken,
    *,
    headers: Mapping[str, str] | None = None,
    keep_arrays: Collection[str] = (),
    key: str | None = None,
    refusal: Refusal | None = None,
) -> Header:
    """Read the header of a GGUF file on a server.

    Args:
        url: of the file.
        name: what it is called in its repository; the header's path.
        client: makes the requests.
        cancel: ends the reading at once, whatever it waits for.
        headers: sent with each request; an ``Authorization`` only to the host of the URL.
        keep_arrays: full keys whose arrays are built whatever their length.
        key: as in ``Remote``; not used when arrays are built.
        refusal: names a refusal by a server that is known better; None goes by the status.

    Raises: Cancelled; SlipstreamError ``offline``, ``timed_out``, ``not_found``, ``forbidden``,
        ``server_error``, ``damaged_file``, ``not_a_model``, ``unsupported_file``.
    """
    key = None if keep_arrays else key
    known = cache.stored(key, name) if key else None
    if known is not None:
        return known
    try:
        header = _read_twice(url, name, client, cancel, headers or {}, keep_arrays)
    except Refused as refused:
        raise (refusal or partial(_refused, url, name))(refused.answer) from refused
    except (httpx2.HTTPError, httpx2.InvalidURL, Senseless) as error:
        raise _told(error, url, name) from error
    if key:
        cache.store(key, header)
    return header


class _TooSlow(httpx2.TimeoutException):
    """A request takes longer than it may."""


def _read_twice(
    url: str,
    name: Path,
    client: httpx2.Client,
    cancel: CancelToken,
    headers: Mapping[str, str],
    keep_arrays: Collection[str],
) -> Header:
    """Read a header; once more from its start, if the answer broke off."""
    try:
        return _read(RemoteFile(client, url, headers), name, keep_arrays, cancel)
    except httpx2.RemoteProtocolError:
        return _read(RemoteFile(client, url, headers), name, keep_arrays, cancel)


def _read(
    file: RemoteFile, name: Path, keep_arrays: Collection[str], cancel: CancelToken
) -> Header:
    """Read a header in a thread that can be left behind."""

    def read() -> Header:
        with file:
            size = file.file_bytes
            return header_of(name, file, size, keep_arrays, if_damaged="Take another file.")

    try:
        return run_apart(read, cancel, lambda: file.deadline)
    except TimeoutError as error:
        raise _TooSlow("too slow") from error
    finally:
        file.stop()


def _told(error: Exception, url: str, name: Path) -> SlipstreamError:
    """The error for people."""
    host = _host(url)
    facts: dict[str, Fact] = {"file": str(name), "host": host}
    match error:
        case httpx2.InvalidURL():
            code, sentence = "not_found", f"There is no such address for {name}."
            action = "Check the name of the model."
        case httpx2.TimeoutException():
            code, sentence = "timed_out", f"{host} takes too long to answer."
            action = "Try again later."
        case httpx2.NetworkError() | httpx2.ProxyError():
            code, sentence = "offline", f"{host} cannot be reached."
            action = "Check the connection to the internet and try again."
        case Senseless():
            code, sentence = "server_error", f"{host} {error}."
            action = "Try again later."
        case _:
            code, sentence = "server_error", f"The answer of {host} cannot be understood."
            action = "Try again later."
    facts["reason"] = str(error) or type(error).__name__
    return SlipstreamError(code, sentence, facts=facts, action=action)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or "The server"
    except ValueError:  # half an address
        return "The server"


def _refused(url: str, name: Path, answer: httpx2.Response) -> SlipstreamError:
    host = _host(url)
    match answer.status_code:
        case 404 | 410:
            code, sentence = "not_found", f"{host} has no file {name}."
            action = "Check the name of the model."
        case 401 | 403:
            code, sentence = "forbidden", f"{host} does not let you read {name}."
            action = "Sign in, and ask for access on the model's page."
        case 429:
            code, sentence = "server_error", f"{host} has been asked too often."
            action = "Wait a few minutes and try again."
        case _:
            code, sentence = "server_error", f"{host} cannot send {name} now."
            action = "Try again later."
    facts: dict[str, Fact] = {"file": str(name), "host": host, "status": answer.status_code}
    return SlipstreamError(code, sentence, facts=facts, action=action)
