"""One call to the Hub through huggingface_hub: bounded, patient with rate limits, told in words.

huggingface_hub retries by itself and sleeps meanwhile, where nobody hears of it and nobody can
cancel; some of its calls have no time limit. So its requests go through a client that does all
that, and that raises what huggingface_hub does not catch.
"""

import queue
import time
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2

from slipstream.cancel import CancelToken, run_apart
from slipstream.hub.connection import TIMEOUT, Connection, trusted, user_agent
from slipstream.hub.patience import Patience
from slipstream.hub.refusals import failure, refusal, wait_of
from slipstream.hub.replies import reply

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_T = TypeVar("_T")
TIME_LIMIT = 60.0
"""Seconds that one call may take, without the waits that a rate limit asks for."""
_ODD_ANSWERS = (
    LookupError, TypeError, ValueError, AttributeError, RecursionError, httpx2.InvalidURL,
)  # fmt: skip


def silent(seconds: float) -> None:
    """Nobody needs to hear of waiting."""


def ask(
    what: str,
    call: "Callable[[HfApi], _T]",
    connection: Connection,
    cancel: CancelToken,
    waiting: Callable[[float], None] = silent,
) -> _T:
    """Make a call to the Hub.

    Args:
        what: what is asked about, for sentences: ``owner/name``, or a few words.
        call: gets an ``HfApi`` for this connection and returns a whole answer: what is lazy must
            be read to its end. It runs in another thread, and may go on there when cancelled,
            but makes no more requests.
        connection: the Hub.
        cancel: ends it at once.
        waiting: told the seconds whenever a rate limit makes us wait, by the thread that asks.

    Raises: Cancelled; SlipstreamError: what ``refusal`` and ``failure`` tell, ``timed_out``,
        ``server_error`` where the answer cannot be understood.
    """
    asked = _Asked(connection, waiting)

    def run() -> _T:
        _asked.set(asked)
        return call(_api(connection))

    try:
        return run_apart(run, cancel, asked.look)
    except _Refused as refused:
        raise refusal(refused.response, what, connection) from None
    except _Failed as failed:
        raise failure(failed.error, what, connection) from failed.error
    except TimeoutError as error:
        raise failure(error, what, connection) from error
    except _ODD_ANSWERS as error:
        raise failure(error, what, connection) from error
    finally:
        asked.stop.cancel()


class _Refused(Exception):  # noqa: N818 - what the server did
    def __init__(self, response: httpx2.Response) -> None:
        super().__init__(response.status_code)
        self.response = response


class _Failed(Exception):  # noqa: N818 - what a request did
    def __init__(self, error: httpx2.HTTPError) -> None:
        super().__init__(error)
        self.error = error


class _Asked:
    """One call: its requests, how long it may take, and who is told of waits."""

    def __init__(self, connection: Connection, waiting: Callable[[float], None]) -> None:
        self.stop = CancelToken()
        self._connection = connection
        self._waiting = waiting
        self._waits: queue.SimpleQueue[float] = queue.SimpleQueue()
        self._deadline = time.monotonic() + TIME_LIMIT

    def look(self) -> float:
        """When it takes too long; the thread that asks looks here, and so is told of waits."""
        while not self._waits.empty():
            self._waiting(self._waits.get())
        return self._deadline

    def send(self, request: httpx2.Request) -> httpx2.Response:
        """Make a request until it is answered.

        Raises: Cancelled, _Refused, _Failed.
        """
        request.extensions["timeout"] = TIMEOUT.as_dict()
        patience = Patience(self.stop, self._tell)
        while True:
            self.stop.raise_if_cancelled()
            try:
                response = reply(self._connection.client, request, self.stop)
            except httpx2.HTTPError as error:
                if not (_is_passing(error) and patience.pause()):
                    raise _Failed(error) from error
                continue
            if response.is_success:
                return response
            if not patience.after(response.status_code, wait_of(response.headers)):
                raise _Refused(response)

    def _tell(self, seconds: float) -> None:
        self._deadline += seconds
        self._waits.put(seconds)


_asked: ContextVar[_Asked | None] = ContextVar("_asked", default=None)


class _Session(httpx2.Client):
    """The client that huggingface_hub uses: the requests of ``ask`` go their own way."""

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        asked = _asked.get()
        return asked.send(request) if asked else super().send(request, **options)


def _api(connection: Connection) -> "HfApi":
    _prepare()
    from huggingface_hub import HfApi

    return HfApi(
        endpoint=connection.endpoint,
        token=connection.token or False,
        headers={"user-agent": user_agent()},
    )


@cache
def _prepare() -> None:
    """Make huggingface_hub use our client, and ask nothing but what it is asked."""
    from huggingface_hub import constants, set_client_factory

    # its name for itself would be completed with facts about this computer that it looks up
    constants.HF_HUB_DISABLE_TELEMETRY = True
    set_client_factory(lambda: _Session(verify=trusted(), trust_env=False, follow_redirects=True))


def _is_passing(error: httpx2.HTTPError) -> bool:
    """Whether a connection broke that had been there: a kept one that the server closed."""
    return isinstance(error, httpx2.ReadError | httpx2.WriteError | httpx2.RemoteProtocolError)
