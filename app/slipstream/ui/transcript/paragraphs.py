"""Long paragraphs: they are parted.

The last block of a growing text is read and laid out again with every token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from slipstream.ui.transcript.blocks import LINE_BREAK, Style
from slipstream.ui.transcript.cuts import Inside, Parsed
from slipstream.ui.transcript.inline import split_runs

_LONGEST = 2000  # characters; hardly any real paragraph has as many
_REACH = 200  # characters in which a good place to part it is looked for


def part(parsed: Parsed, line: int) -> None:
    """Part the last block as often as needed; ``line`` is where it starts."""
    block = parsed.blocks[-1]
    start, text = 0, block.text
    plain = [run.style is Style.PLAIN and not run.href for run in block.runs for _ in run.text]
    while place := _parting(text, plain, start):
        block = parsed.blocks.pop()
        at = block.offsets[place - start]
        head, tail = split_runs(block.runs, place - start)
        parsed.blocks += (
            replace(block, runs=head, offsets=block.offsets[: place - start]),
            replace(block, runs=tail, offsets=block.offsets[place - start :], gap=0),
        )
        parsed.cut_inside(Inside("", at), at, len(parsed.blocks) - 1, line)
        start = place


def _parting(text: str, plain: Sequence[bool], start: int) -> int | None:
    """Where to part a paragraph: before a word of plain text, which can start nothing else."""
    if len(text) - start <= _LONGEST + _REACH:
        return None
    words = [
        place
        for place in range(start + _LONGEST, start + _LONGEST + _REACH)
        if text[place].isalpha() and plain[place] and plain[place - 1]
    ]
    spaced = (place for place in words if text[place - 1] in (" ", LINE_BREAK))
    return next(spaced, words[0] if words else None)
