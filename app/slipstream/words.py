"""Words that every layer uses alike: sizes, the facts of an error, the ways to speculate."""

from collections.abc import Mapping

from slipstream.errors import Fact, SlipstreamError

SPECULATION: Mapping[str, str] = {
    "auto": "Automatic",
    "off": "Off",
    "mtp": "MTP",
    "dflash": "DFlash",
    "dspark": "DSpark",
    "eagle3": "EAGLE-3",
    "draft": "Small model",
    "self": "Lower quantization",
    "ngram": "N-gram",
}
"""Names of the ways to speculate, by the word of the command line."""

_SIZES = frozenset({"bytes", "file_bytes", "free", "missing", "needed", "size", "total"})
_LABELS = {
    "available": "Found for this model",
    "engine_message": "The engine says",
    "file_bytes": "Size of the file",
    "free": "Free now",
    "of": "Files in all",
    "path": "File",
    "prompt_tokens": "Tokens of the conversation",
    "quant": "Quantization",
    "status": "Exit status",
    "total": "In all",
    "where": "Place",
}
_NOT_SHOWN = frozenset({"log"})


def size(number: int) -> str:
    """Bytes as file managers show them, by the thousand: 5.0 GB."""
    value = float(number)
    for unit in ("bytes", "kB", "MB"):
        if round(value) < 1000:
            return f"{value:.0f} {unit}"
        value /= 1000
    return f"{value:,.1f} GB"


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
            return size(value) if name in _SIZES else f"{value:,}"
        case float():
            return f"{value:g}"
    return str(value).replace("\n", " ")
