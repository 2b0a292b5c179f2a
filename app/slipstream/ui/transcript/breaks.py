"""Places where very long words can be broken.

For each line Qt looks for the end of the word that does not fit, so the time that a word takes
grows with the square of its length.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence

from slipstream.ui.transcript.blocks import Run, offsets_of

LONGEST_WORD = 500  # characters

_BREAK = "\u200b"  # zero width space

_WORD = re.compile(rf"\S{{{LONGEST_WORD}}}|\S+")
_BROKEN = re.compile(rf"(\S{{{LONGEST_WORD}}}){_BREAK}|(\S+)")


def with_breaks(runs: Sequence[Run], offsets: Sequence[int]) -> tuple[tuple[Run, ...], array[int]]:
    """The text of a block with places to break in its very long words.

    What is put in depends only on the text before, so a text that grows keeps its beginning.

    Args:
        runs: the text.
        offsets: where each of its characters stands in the raw text; -1 if nowhere.
    """
    text = "".join(run.text for run in runs)
    words = _WORD.finditer(text) if len(text) >= LONGEST_WORD else ()
    places = [word.end() for word in words if word.end() - word.start() == LONGEST_WORD]
    if not places:
        return tuple(runs), offsets_of(offsets)
    broken: list[Run] = []
    start = 0
    for run in runs:
        end = start + len(run.text)
        here = places[bisect_right(places, start) : bisect_right(places, end)]
        inside = [place - start for place in here]
        parts = [run.text[a:b] for a, b in zip([0, *inside], [*inside, None], strict=True)]
        broken.append(Run(_BREAK.join(parts), run.style, run.href, run.colour))
        start = end
    found = offsets_of(())
    start = 0
    for place in places:
        found += offsets_of((*offsets[start:place], -1))
        start = place
    return tuple(broken), found + offsets_of(offsets[start:])


def without_breaks(text: str) -> str:
    """The text of a block, or its beginning, without the places that were put in."""
    return _BROKEN.sub(r"\1\2", text) if _BREAK in text else text
