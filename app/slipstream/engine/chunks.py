"""What an engine streams while it replies: one value per server-sent event."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Timings:
    """The engine's counters after a token; they only grow while a reply runs.

    Attributes:
        prompt_cached, prompt_read: prompt tokens found in the KV cache, and computed.
        prompt_ms: milliseconds the computing took.
        predicted: tokens generated, hidden ones included.
        predicted_ms: milliseconds of decoding; set once per step of the target, so that tokens
            of one step share it.
        drafted, accepted: draft tokens proposed, and accepted by the target.
    """

    prompt_cached: int = 0
    prompt_read: int = 0
    prompt_ms: float = 0.0
    predicted: int = 0
    predicted_ms: float = 0.0
    drafted: int = 0
    accepted: int = 0


@dataclass(frozen=True)
class Chunk:
    """One event of a streamed reply.

    Attributes:
        text, reasoning: what it adds to the answer, and to the thinking.
        timings: counters after the token; None where the engine sends none with this event.
        finish: why the reply ended ("stop", "length"); None while it runs.
        progress: prompt tokens (done, total) while the prompt is read.
    """

    text: str = ""
    reasoning: str = ""
    timings: Timings | None = None
    finish: str | None = None
    progress: tuple[int, int] | None = None


def chat_chunk(event: Json) -> Chunk:
    """The chunk in one event of ``/v1/chat/completions``."""
    choice: Json = next(iter(event.get("choices") or ()), {})
    delta: Json = choice.get("delta") or {}
    return Chunk(
        text=delta.get("content") or "",
        reasoning=delta.get("reasoning_content") or "",
        timings=_timings(event),
        finish=choice.get("finish_reason"),
        progress=_progress(event),
    )


def completion_chunk(event: Json) -> Chunk:
    """The chunk in one event of llama-server's own ``/completion``."""
    finish = "length" if event.get("stop_type") == "limit" else "stop"
    return Chunk(
        text=event.get("content") or "",
        timings=_timings(event),
        finish=finish if event.get("stop") else None,
        progress=_progress(event),
    )


def _timings(event: Json) -> Timings | None:
    found = event.get("timings")
    if not found:
        return None
    return Timings(
        prompt_cached=found["cache_n"],
        prompt_read=found["prompt_n"],
        prompt_ms=found["prompt_ms"],
        predicted=found["predicted_n"],
        predicted_ms=found["predicted_ms"],
        # left out until something has been drafted
        drafted=found.get("draft_n", 0),
        accepted=found.get("draft_n_accepted", 0),
    )


def _progress(event: Json) -> tuple[int, int] | None:
    found = event.get("prompt_progress")
    return (found["processed"], found["total"]) if found else None
