"""Long paragraphs: they are parted.

The last block of a growing text is read and laid out again with every token.
"""

from __future__ import annotations

from dataclasses import replace

from slipstream.ui.transcript.blocks import LINE_BREAK, Block, Style
from slipstream.ui.transcript.cuts import Inside, Parsed
from slipstream.ui.transcript.inline import split_runs

_LONGEST = 2000  # characters; hardly any real paragraph has as many
_REACH = 200  # characters in which a good place to part it is looked for


def part(parsed: Parsed, line: int) -> None:
    """Part the last block as often as needed; ``line`` is where it starts."""
    while place := _parting(parsed.blocks[-1]):
        block = parsed.blocks.pop()
        at = block.offsets[place]
        head, tail = split_runs(block.runs, place)
        parsed.blocks += (
            replace(block, runs=head, offsets=block.offsets[:place]),
            replace(block, runs=tail, offsets=block.offsets[place:], gap=0),
        )
        parsed.cut_inside(Inside("", at), at, len(parsed.blocks) - 1, line)


def _parting(block: Block) -> int | None:
    """Where to part a paragraph: before a word of plain text, which can start nothing else."""
    text = block.text
    if len(text) <= _LONGEST + _REACH:
        return None
    plain = [run.style is Style.PLAIN and not run.href for run in block.runs for _ in run.text]
    words = [
        place
        for place in range(_LONGEST, _LONGEST + _REACH)
        if text[place].isalpha() and plain[place] and plain[place - 1]
    ]
    spaced = (place for place in words if text[place - 1] in (" ", LINE_BREAK))
    return next(spaced, words[0] if words else None)
