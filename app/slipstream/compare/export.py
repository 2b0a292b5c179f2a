"""A comparison as a table for other programs, and as text to paste."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from slipstream.words import size

_COLUMNS = (
    *("mode", "draft_tokens", "tokens_per_second", "speedup", "low", "high", "outcome"),
    *("acceptance", "tokens_per_step", "first_token", "prompt_per_second", "extra_memory"),
    *("same_text", "of", "error"),
)


def as_csv(document: dict[str, Any]) -> str:
    """One line for each mode; times are seconds, memory is bytes."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_values, document["modes"]))
    return text.getvalue()


def as_markdown(document: dict[str, Any]) -> str:
    """A table with what it was measured on, and the verdict."""
    return "\n".join(_lines(document)) + "\n"


def _values(mode: dict[str, Any]) -> dict[str, Any]:
    low, high = mode["interval"] or (None, None)
    error = mode["error"]["message"] if mode["error"] else None
    return {
        **{name: mode[name] for name in _COLUMNS if name in mode},
        "low": low,
        "high": high,
        "error": error,
    }


def _lines(document: dict[str, Any]) -> Iterator[str]:
    machine = document["machine"]
    memory = size(machine["ram"]["total"])
    yield f"**{document['verdict']['reason']}**"
    yield ""
    yield "| Mode | tok/s | Speed-up | Accepted | Tokens per step | First token | Extra memory |"
    yield "|---|---|---|---|---|---|---|"
    yield from map(_row, document["modes"])
    yield ""
    yield (
        f"Measured with {document['engine']} on {machine['cpu']['name']}, {memory},"
        f" {machine['os']}: {document['passes']} passes of {document['tokens']} tokens each,"
        f" temperature 0, context {document['context']}."
    )


def _row(mode: dict[str, Any]) -> str:
    if mode["error"]:
        return f"| {mode['mode']} | {mode['error']['message']} | | | | | |"
    low, high = mode["interval"] or (None, None)
    cells = (
        mode["mode"],
        f"{mode['tokens_per_second']:.1f}",
        f"{mode['speedup']:.2f} ({low:.2f} to {high:.2f})" if mode["speedup"] else "",
        f"{mode['acceptance']:.0%}" if mode["acceptance"] is not None else "",
        f"{mode['tokens_per_step']:.2f}" if mode["tokens_per_step"] else "",
        f"{mode['first_token']:.2f} s",
        size(mode["extra_memory"]) if mode["extra_memory"] > 0 else "",
    )
    return f"| {' | '.join(cells)} |"
