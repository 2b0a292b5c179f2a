"""The measured numbers of one reply, from the engine's counters and our clock."""

from collections import deque
from dataclasses import replace

from slipstream.engine.attribution import Tally
from slipstream.engine.chunks import Chunk, Timings
from slipstream.engine.events import ReplyNumbers
from slipstream.engine.metrics import SpecCounters

WINDOW = 1.0
"""Seconds over which ``speed_now`` is taken: a step brings several tokens at once."""


class Numbers:
    """Follows one reply; times are in seconds of one monotonic clock.

    Speeds are taken from the engine's own clock where it tells it: that is what it decoded,
    whatever happened on the way here.
    """

    def __init__(self, sent: float) -> None:
        self._sent = sent
        self._first: float | None = None
        self._now = sent
        self._tally = Tally()
        self._timings: Timings | None = None
        self._speed = _Speed()

    def update(self, chunk: Chunk, tally: Tally, now: float) -> None:
        """Take in a chunk that arrived at ``now``, and the tally after it."""
        self._now = now
        self._timings = chunk.timings or self._timings
        if tally.tokens > self._tally.tokens:
            if self._first is None:
                self._first = now
            self._speed.add(self._decoding(), tally.tokens)
        self._tally = tally

    def snapshot(self) -> ReplyNumbers:
        """The numbers so far."""
        tally = self._tally
        prompt = self._timings or Timings()
        decoding = self._decoding()
        return ReplyNumbers(
            tokens=tally.tokens,
            tokens_per_second=_rate(tally.tokens - 1, decoding),
            speed_now=self._speed.now(),
            first_token=self._first - self._sent if self._first is not None else 0.0,
            prompt_tokens=prompt.prompt_cached + prompt.prompt_read,
            prompt_cached=prompt.prompt_cached,
            prompt_per_second=_rate(prompt.prompt_read, prompt.prompt_ms / 1000),
            drafted=tally.drafted,
            accepted=tally.accepted,
            steps=tally.steps,
            drafts=tally.drafts,
            by_position=tally.by_position,
        )

    def finish(self, before: SpecCounters | None, after: SpecCounters | None) -> ReplyNumbers:
        """The final numbers.

        Args:
            before, after: the engine's counters around the reply. They make ``by_position`` exact
                if the reply was all that happened in between; otherwise the live value stays.
        """
        numbers = self.snapshot()
        if before is None or after is None:
            return numbers
        spent = after.since(before)
        # also false where large counters were printed rounded
        alone = (spent.drafted, spent.accepted) == (numbers.drafted, numbers.accepted)
        if not alone or not spent.drafts:
            return numbers
        shares = tuple(n / spent.drafts for n in spent.by_position)
        return replace(numbers, drafts=spent.drafts, by_position=shares)

    def _decoding(self) -> float:
        """Seconds since the first token."""
        if self._timings:
            return self._timings.predicted_ms / 1000
        return self._now - self._first if self._first is not None else 0.0


class _Speed:
    """Tokens per second between the ends of steps, over the last WINDOW.

    A step that is still arriving is not counted: half of it would read as a drop.
    """

    def __init__(self) -> None:
        self._steps: deque[tuple[float, int]] = deque()

    def add(self, at: float, tokens: int) -> None:
        steps = self._steps
        if steps and steps[-1][0] == at:
            steps.pop()
        elif len(steps) > 1:
            # keep one step at or before the start of the window
            while steps[-1][0] - steps[1][0] >= WINDOW:
                steps.popleft()
        steps.append((at, tokens))

    def now(self) -> float:
        if len(self._steps) < 2:
            return 0.0
        (start, fewer), (end, more) = (
            self._steps[0],
            self._steps[-2 if len(self._steps) > 2 else -1],
        )
        return _rate(more - fewer, end - start)


def _rate(count: int, seconds: float) -> float:
    return count / seconds if count > 0 and seconds > 0 else 0.0
