"""What an engine sends, taken with care: it becomes a value or a SlipstreamError, nothing else."""

import json
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from slipstream.errors import SlipstreamError

if TYPE_CHECKING:
    import httpx2

_T = TypeVar("_T")

Json = Mapping[str, Any]

LONGEST = 4 << 20
"""Bytes of one event, or of a short answer; real ones have a few thousand."""

_MOST_TOKENS = 1 << 24
"""More than any model's context."""

_SHOWN = 500
"""Characters of an engine's words that are shown."""


def understood(read: Callable[[Json], _T], data: str) -> _T:
    """What ``read`` makes of a JSON object.

    Args:
        read: takes the object apart with ``part``, ``text``, ``count`` and ``number``.
        data: the object as the engine sent it.

    Raises: SlipstreamError ``not_an_engine``, if it is anything else; what ``read`` raises.
    """
    try:
        found = json.loads(data)
        if not isinstance(found, dict):
            raise TypeError("no object")  # noqa: TRY301
        return read(found)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise not_an_engine("engine_message", data) from error


def part(value: object) -> Json:
    """An object; an empty one for null. Raises: TypeError."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TypeError("no object")
    return value


def text(value: object) -> str:
    """Text that can be stored and shown; empty for null. Raises: TypeError."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError("no text")
    # JSON can spell half of a surrogate pair
    return value.encode("utf-8", "replace").decode("utf-8")


def count(value: object) -> int:
    """A number of tokens. Raises: TypeError, ValueError."""
    if type(value) is not int:
        raise TypeError("no whole number")
    if not 0 <= value <= _MOST_TOKENS:
        raise ValueError("no number of tokens")
    return value


def number(value: object) -> float:
    """A finite number. Raises: TypeError, ValueError, OverflowError."""
    if type(value) not in (int, float):
        raise TypeError("no number")
    found = float(value)  # type: ignore[arg-type]
    if not math.isfinite(found):
        raise ValueError("not finite")
    return found


def read_body(response: "httpx2.Response") -> str:
    """The whole of a short answer.

    Raises: SlipstreamError ``not_an_engine``, if it is not short; httpx2's errors.
    """
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > LONGEST:
            raise not_an_engine("reason", "An answer has no end.")
    return body.decode("utf-8", "replace")


def refused(http_status: int, body: str) -> SlipstreamError:
    """The error in an HTTP response that is one."""
    try:
        error = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        error = body
    return refusal(error, http_status)


def refusal(error: object, http_status: int | None = None) -> SlipstreamError:
    """The error that an engine told of, as its ``error`` or in its stream.

    Args:
        error: what stands in its place: an object as in llama-server, or anything else.
        http_status: the response's; None in a stream.
    """
    told = error if isinstance(error, dict) else {"message": error}
    if told.get("type") == "exceed_context_size_error":
        try:
            return _too_long(count(told["n_prompt_tokens"]), count(told["n_ctx"]))
        except (KeyError, TypeError, ValueError):
            pass  # it refused all the same
    words = told.get("message")
    message = text(words)[:_SHOWN].strip() if isinstance(words, str) else ""
    code = told.get("code")
    if http_status is None and isinstance(code, int):
        http_status = code
    return SlipstreamError(
        "engine_refused",
        f"The engine refused the request: {message}"
        if message
        else "The engine refused the request.",
        facts={"engine_message": message or None, "http_status": http_status},
        action="Change the request and try again.",
    )


def not_an_engine(name: str, told: str) -> SlipstreamError:
    """The failure of an engine that sends nonsense, with the fact ``name`` that tells of it."""
    return SlipstreamError(
        "not_an_engine",
        "The engine does not answer as an engine should.",
        facts={name: told[:_SHOWN]},
        action="Choose another engine in Settings.",
    )


def _too_long(tokens: int, context: int) -> SlipstreamError:
    return SlipstreamError(
        "context_too_long",
        f"This conversation is {tokens:,} tokens long, and the model was loaded with room for"
        f" {context:,}.",
        facts={"prompt_tokens": tokens, "context": context},
        action="Load the model with a longer context or start a new chat.",
    )
