"""Talk to a running engine: streamed replies that stop at once, and what it tells of itself."""

import contextlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from slipstream.cancel import CancelToken
from slipstream.engine.chunks import Chunk, chat_chunk, completion_chunk
from slipstream.engine.line import Line, ask
from slipstream.engine.metrics import SpecCounters, parse_metrics
from slipstream.engine.requests import ChatMessage, ReplyOptions
from slipstream.engine.wire import (
    LONGEST,
    Json,
    not_an_engine,
    read_body,
    refusal,
    refused,
    understood,
)
from slipstream.errors import SlipstreamError

if TYPE_CHECKING:
    import httpx2

PREFILL_SILENCE = 600.0
"""Seconds without a sign of life after which an engine that reads a prompt counts as hung."""

DECODE_SILENCE = 60.0
"""The same while it generates."""

_CONNECT = 10.0
"""Seconds in which an engine must take a connection."""

_ANSWER = 2.0
"""Seconds that the answer to a short question is waited for."""


class EngineClient:
    """Speaks llama-server's HTTP API. May be used from several threads.

    Args:
        address: base URL of the engine.
        key: its API key.
        alive: monotonic time of the engine's last log line.
        prefill_silence, decode_silence: seconds without a token and a log line before it counts
            as hung.
    """

    def __init__(
        self,
        address: str,
        key: str,
        *,
        alive: Callable[[], float] = lambda: 0.0,
        prefill_silence: float = PREFILL_SILENCE,
        decode_silence: float = DECODE_SILENCE,
    ) -> None:
        self._address = address
        self._key = key
        self._alive = alive
        self._prefill_silence = prefill_silence
        self._decode_silence = decode_silence

    def chat(
        self, messages: Sequence[ChatMessage], options: ReplyOptions, cancel: CancelToken
    ) -> Generator[Chunk, None, None]:
        """Stream the reply to a conversation.

        Raises: Cancelled; SlipstreamError context_too_long, engine_refused, engine_gone (ask the
        process why), engine_hung, not_an_engine.
        """
        told = [{"role": message.role, "content": message.content} for message in messages]
        body = {"messages": told, **_streaming(options)}
        return self._stream("/v1/chat/completions", body, chat_chunk, cancel)

    def complete(
        self, prompt: str, options: ReplyOptions, cancel: CancelToken
    ) -> Generator[Chunk, None, None]:
        """Stream the continuation of a text, without a chat template; raises as ``chat``."""
        body = {"prompt": prompt, **_streaming(options)}
        return self._stream("/completion", body, completion_chunk, cancel)

    def metrics(self, cancel: CancelToken) -> SpecCounters | None:
        """Counters of speculation; None if the engine keeps none, does not show them, or is busy.

        Raises: Cancelled; SlipstreamError engine_gone.
        """
        try:
            return parse_metrics(self._get("/metrics", cancel))
        except SlipstreamError as error:
            if error.code in ("engine_refused", "engine_hung", "not_an_engine"):
                return None
            raise

    @cached_property
    def _http(self) -> "httpx2.Client":
        import httpx2

        return httpx2.Client(
            base_url=self._address,
            headers={"Authorization": f"Bearer {self._key}"},
            trust_env=False,
            # cutting a reply's connection must not hurt another request
            limits=httpx2.Limits(max_keepalive_connections=0),
        )

    def _get(self, path: str, cancel: CancelToken) -> str:
        import httpx2

        line = Line(lambda: 0.0, _ANSWER)
        try:
            with cancel.on_cancel(line.cut):
                http_status, body = ask(self._http, path, line)
        except httpx2.DecodingError as error:
            raise not_an_engine("reason", str(error)) from error
        except httpx2.RequestError as error:
            cancel.raise_if_cancelled()
            hung = line.hung or isinstance(error, httpx2.TimeoutException)
            raise (_hung(_ANSWER) if hung else _gone()) from error
        if not httpx2.codes.is_success(http_status):
            raise refused(http_status, body)
        return body

    def _stream(
        self, path: str, body: Json, read: Callable[[Json], Chunk], cancel: CancelToken
    ) -> Generator[Chunk, None, None]:
        import httpx2

        line = Line(self._alive, self._prefill_silence)
        finished = False
        lost: httpx2.TransportError | None = None
        chunks = self._chunks(path, body, read, line)
        with cancel.on_cancel(line.cut), line.watched(), contextlib.closing(chunks):
            try:
                for chunk in chunks:
                    finished = finished or chunk.finish is not None
                    if chunk.timings is None or chunk.timings.predicted:
                        line.silence = self._decode_silence
                    with line.not_waiting():
                        yield chunk
                    cancel.raise_if_cancelled()
            except httpx2.TransportError as error:
                lost = error
            cancel.raise_if_cancelled()
        if not finished:
            raise (_hung(line.silence) if line.hung else _gone()) from lost

    def _chunks(
        self, path: str, body: Json, read: Callable[[Json], Chunk], line: Line
    ) -> Generator[Chunk, None, None]:
        import httpx2

        timeout = httpx2.Timeout(None, connect=_CONNECT)
        extensions = {"trace": line.trace}
        try:
            with self._http.stream(
                "POST", path, json=body, timeout=timeout, extensions=extensions
            ) as response:
                if not response.is_success:
                    raise refused(response.status_code, read_body(response))
                response.encoding = "utf-8"  # event streams have no other
                for event in httpx2.EventSource(response, max_event_size=LONGEST):
                    if event.data == "[DONE]":
                        return
                    yield understood(partial(_chunk, read), event.data)
        except (httpx2.SSEError, httpx2.DecodingError) as error:
            raise not_an_engine("reason", str(error)) from error


def _chunk(read: Callable[[Json], Chunk], event: Json) -> Chunk:
    if event.get("error") is not None:
        raise refusal(event["error"])
    return read(event)


def _streaming(options: ReplyOptions) -> dict[str, Any]:
    # The names of the options are llama-server's.
    return {
        "stream": True,
        "timings_per_token": True,
        "return_progress": True,
        "cache_prompt": True,
        **{name: value for name, value in asdict(options).items() if value is not None},
    }


def _gone() -> SlipstreamError:
    return SlipstreamError(
        "engine_gone",
        "The connection to the engine was lost.",
        action="Load the model again.",
    )


def _hung(seconds: float) -> SlipstreamError:
    return SlipstreamError(
        "engine_hung",
        f"The engine has shown no sign of life for {seconds:.0f} seconds.",
        facts={"seconds": seconds},
        action="Load the model again.",
    )
