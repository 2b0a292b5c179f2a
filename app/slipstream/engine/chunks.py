"""What an engine streams while it replies: one value per server-sent event."""

from dataclasses import dataclass

from slipstream.engine.wire import Json, count, number, part, text


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
    """The chunk in one event of ``/v1/chat/completions``; raises as the readers of ``wire`` do."""
    choices = event.get("choices") or []
    if not isinstance(choices, list):
        raise TypeError("no list")
    choice = part(choices[0]) if choices else {}
    delta = part(choice.get("delta"))
    return Chunk(
        text=text(delta.get("content")),
        reasoning=text(delta.get("reasoning_content")),
        timings=_timings(event),
        finish=text(choice.get("finish_reason")) or None,
        progress=_progress(event),
    )


def completion_chunk(event: Json) -> Chunk:
    """The chunk in one event of llama-server's own ``/completion``; raises as ``chat_chunk``."""
    finish = "length" if event.get("stop_type") == "limit" else "stop"
    return Chunk(
        text=text(event.get("content")),
        timings=_timings(event),
        finish=finish if event.get("stop") else None,
        progress=_progress(event),
    )


def _timings(event: Json) -> Timings | None:
    found = part(event.get("timings"))
    if not found:
        return None
    # left out until something has been drafted
    drafted, accepted = count(found.get("draft_n", 0)), count(found.get("draft_n_accepted", 0))
    if accepted > drafted:
        raise ValueError("more accepted than drafted")
    return Timings(
        prompt_cached=count(found["cache_n"]),
        prompt_read=count(found["prompt_n"]),
        prompt_ms=number(found["prompt_ms"]),
        predicted=count(found["predicted_n"]),
        predicted_ms=number(found["predicted_ms"]),
        drafted=drafted,
        accepted=accepted,
    )


def _progress(event: Json) -> tuple[int, int] | None:
    found = part(event.get("prompt_progress"))
    if not found:
        return None
    done, total = count(found["processed"]), count(found["total"])
    return (min(done, total), total) if total else None
