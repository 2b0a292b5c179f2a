"""Whether an engine that was started answers yet, and whether it is the engine that answers."""

import time

import httpx2

from slipstream.engine.line import Line, ask
from slipstream.errors import SlipstreamError

ODD_SECONDS = 5.0
"""Seconds of answers that no engine gives after which there is none."""

_ANSWER = 2.0
"""Seconds that one answer may take."""

_LOADING = 503


class Readiness:
    """Asks one address again and again.

    Args:
        http: a client for the address.
        key: the API key that only our engine knows.
    """

    def __init__(self, http: httpx2.Client, key: str) -> None:
        self._http = http
        self._key = key
        self._odd_since: float | None = None

    @property
    def is_nonsense(self) -> bool:
        """Whether what answers has spoken nothing that an engine would for too long."""
        since = self._odd_since
        return since is not None and time.monotonic() - since > ODD_SECONDS

    def slots(self) -> tuple[int, str] | None:
        """HTTP status and body of ``/slots``; None as long as the engine is not ready.

        Raises: SlipstreamError ``port_taken``, if another program answers.
        """
        line = Line(lambda: 0.0, _ANSWER)
        try:
            health, _ = ask(self._http, "/health", line)
            if health != httpx2.codes.OK:
                self._heard(odd=health != _LOADING)
                return None
            line = Line(lambda: 0.0, _ANSWER)
            ours, slots = ask(self._http, "/slots", line, self._key)
            line = Line(lambda: 0.0, _ANSWER)
            others, _ = ask(self._http, "/slots", line, "none")
        except (httpx2.ConnectError, httpx2.TimeoutException):
            self._heard(odd=False)
            return None
        except (httpx2.RequestError, SlipstreamError):
            if not line.hung:  # silence may be an engine that is busy
                self._heard(odd=True)
            return None
        if ours == httpx2.codes.UNAUTHORIZED or others != httpx2.codes.UNAUTHORIZED:
            raise SlipstreamError(
                "port_taken",
                "Another program answers in the engine's place.",
                facts={"address": str(self._http.base_url)},
                action="Try again.",
            )
        return ours, slots

    def _heard(self, *, odd: bool) -> None:
        if not odd:
            self._odd_since = None
        elif self._odd_since is None:
            self._odd_since = time.monotonic()
