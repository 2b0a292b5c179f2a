"""Words that every layer uses alike: numbers, the facts of an error, the ways to speculate."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from slipstream.errors import Fact, SlipstreamError


class Tone(StrEnum):
    """How good what is said is: what colour its words have."""

    GOOD = "good"
    PLAIN = "plain"
    CAUTION = "caution"
    BAD = "bad"


@dataclass(frozen=True)
class Way:
    """A way to speculate: its name, and what it is in a line."""

    name: str
    meaning: str


SPECULATION: Mapping[str, Way] = {
    "auto": Way("Automatic", "The drafter made for this model, if there is one"),
    "off": Way("Off", "Plain decoding, one token after the other"),
    "mtp": Way("MTP", "The model's own small head proposes the next tokens"),
    "dflash": Way("DFlash", "A small drafter for this model proposes several at once"),
    "dspark": Way("DSpark", "Like DFlash, and it stops where it is unsure"),
    "eagle3": Way("EAGLE-3", "A small drafter that reads along inside this model"),
    "draft": Way("Small model", "A smaller, faster model writes ahead"),
    "self": Way("Lower quantization", "The same model, more coarsely quantized, writes ahead"),
    "ngram": Way("N-gram", "Repeats what already stands in the text; needs no drafter"),
}
"""The ways to speculate, by the word of the command line."""

ENDINGS: Mapping[str, str] = {
    "cancelled": "stopped",
    "length": "context or token limit reached",
    "failed": "interrupted",
}
"""How a reply ended, by its ``finish``, where that has to be said."""

_SIZES = frozenset({"bytes", "file_bytes", "free", "missing", "needed", "size", "total"})
_LABELS = {
    "available": "Found for this model",
    "engine_message": "The engine says",
    "file_bytes": "Size of the file",
    "free": "Free now",
    "http_status": "HTTP status",
    "of": "Files in all",
    "path": "File",
    "prompt_tokens": "Tokens of the conversation",
    "quant": "Quantization",
    "status": "Exit status",
    "total": "In all",
    "where": "Place",
}
_UNRULY = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_NOT_SHOWN = frozenset({"count", "log", "what"})


def count(number: float) -> str:
    """A whole number, with thousands apart: 16,384."""
    return f"{round(number):,}"


def several(number: int, thing: str) -> str:
    """So many things: 1 file, 3 files."""
    return f"{count(number)} {thing}{'s' * (number != 1)}"


def draft_tokens(number: int) -> str:
    """So many draft tokens: 3 draft tokens."""
    return several(number, "draft token")


def size(number: int) -> str:
    """Bytes as file managers show them, by the thousand: 5.0 GB."""
    value = float(number)
    for unit in ("bytes", "kB", "MB"):
        if round(value) < 1000:
            return f"{value:.0f} {unit}"
        value /= 1000
    return f"{value:,.1f} GB"


def far(done: int, total: int) -> str:
    """How much of how much: 3.1 of 5.0 GB, 620 MB of 5.0 GB."""
    part, whole = size(done), size(total)
    number, _, unit = part.partition(" ")
    if not done or unit == whole.partition(" ")[2]:
        part = number
    return f"{part} of {whole}"


def context_size(tokens: int) -> str:
    """A context in short, and exactly: 16k is 16,384 tokens, 1M is 1,048,576; 5,000."""
    for unit, letter in ((1 << 20, "M"), (1 << 10, "k")):
        if tokens >= unit and tokens % unit == 0:
            return f"{tokens // unit}{letter}"
    return count(tokens)


def context_words(tokens: int) -> str:
    """A context as people say it: 16k context, 5,000 tokens of context."""
    short = context_size(tokens)
    return f"{short} context" if short[-1].isalpha() else f"{short} tokens of context"


def duration(seconds: float) -> str:
    """A time as people say it: 40 s, 3 min, 2 h 10 min."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    hours, minutes = divmod(minutes, 60)
    return f"{count(hours)} h {minutes} min" if hours else f"{minutes} min"


def parameters(number: int) -> str:
    """How large a model is, as people say it: 7.6B, 270M."""
    for unit, name in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if number >= unit:
            return f"{number / unit:.{int(number < 100 * unit)}f}".removesuffix(".0") + name
    return count(number)


def in_a_line(text: str) -> str:
    """Any text so that it can be shown in a line: half characters, and those that break the line or
    turn the text round them the other way, are written as escapes."""
    whole = text.encode(errors="backslashreplace").decode()
    return _UNRULY.sub(lambda found: found[0].encode("unicode_escape").decode(), whole)


def facts_lines(error: SlipstreamError) -> tuple[str, ...]:
    """The facts of an error that tell a person something: "Needed: 5.0 GB"."""
    return tuple(
        f"{_LABELS.get(name, name.replace('_', ' ').capitalize())}: {_fact(name, value)}"
        for name, value in error.facts.items()
        if value is not None and name not in _NOT_SHOWN
    )


def _fact(name: str, value: Fact) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return size(value) if name in _SIZES else count(value)
        case float():
            return f"{value:g}"
    return in_a_line(" ".join(str(value).split()))
