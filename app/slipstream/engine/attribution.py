"""Who chose each token of a reply: the drafter or the target.

llama-server sends its counters with every token. All tokens of one step of the target carry the
same ``predicted_ms``; what the accepted counter grew by at the step's first token is the number
of leading tokens that the drafter supplied, and the target chose the rest. Source: llama.cpp
``tools/server/server-context.cpp``, ``post_decode``.
"""

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from slipstream.engine.chunks import Chunk, Timings
from slipstream.engine.events import Piece, Source


@dataclass(frozen=True)
class Tally:
    """Counts of a reply so far.

    Attributes:
        tokens: tokens generated, hidden ones included.
        steps: passes of the target after the prompt; 0 where the engine sends no counters.
        drafted, accepted: draft tokens proposed, and accepted by the target.
        drafts: drafting steps: those in which a draft was verified.
        by_position: share of drafting steps whose 1st, 2nd, ... draft token was accepted.
    """

    tokens: int = 0
    steps: int = 0
    drafted: int = 0
    accepted: int = 0
    drafts: int = 0
    by_position: tuple[float, ...] = ()


@dataclass
class _Step:
    """One pass of the target: ``accepted`` draft tokens, then one that it chose itself.

    (Two on models whose state cannot be rolled back: the pass that replays the accepted part
    adds another.)
    """

    clock: float | None = None
    accepted: int = 0
    placed: int = 0

    @property
    def owed(self) -> int:
        return max(0, self.accepted + 1 - self.placed)


class Attributor:
    """Turns the chunks of one reply into pieces, one per token.

    The drafter's pieces never outnumber the accepted tokens, and equal them unless the reply
    stopped inside a step. Tokens that the engine did not show become pieces without text. If a
    whole step stayed hidden, which of the hidden tokens around it were drafted is a guess; the
    counts stay exact.
    """

    def __init__(self) -> None:
        self._timed = False
        self._held: list[tuple[bool, str]] = []
        self._reasoning = False
        self._step = _Step()
        self._tokens = 0
        self._chosen = 0
        self._drafted = 0
        self._accepted = 0
        self._drafts = 0
        self._by_position: list[int] = []

    @property
    def tally(self) -> Tally:
        """The counts so far."""
        # every pass yields one token of the target's own, unless the reply stopped before it
        cut = self._step.placed > 0 and self._step.owed > 0
        return Tally(
            tokens=self._tokens,
            steps=max(0, self._chosen - 1 + cut) if self._timed else 0,
            drafted=self._drafted,
            accepted=self._accepted,
            drafts=self._drafts,
            by_position=tuple(count / self._drafts for count in self._by_position),
        )

    def feed(self, chunk: Chunk) -> list[Piece]:
        """The tokens that ``chunk`` completes.

        Text that comes without counters belongs to a token whose last event is still to come, and
        is held until then. A server that sends no counters at all (they would have come while the
        prompt was read) gets one target piece per event.
        """
        self._held += [(True, chunk.reasoning)] if chunk.reasoning else []
        self._held += [(False, chunk.text)] if chunk.text else []
        if chunk.timings:
            self._timed = True
            return self._advance(chunk.timings)
        return [] if self._timed else self._untimed()

    def finish(self) -> list[Piece]:
        """The text still held when the reply ends; no token of its own is known for it."""
        return self._release(Source.TARGET) if self._held else []

    def _untimed(self) -> list[Piece]:
        pieces = self.finish()
        self._tokens += len(pieces)
        return pieces

    def _advance(self, timings: Timings) -> list[Piece]:
        new = timings.predicted - self._tokens
        if new <= 0:
            return []
        hidden: list[Source] = []
        if timings.predicted_ms != self._step.clock:
            hidden += [self._place() for _ in range(min(self._step.owed, new - 1))]
            self._begin(timings)
            # more than one step can hold: steps that were hidden as a whole
            for _ in range(new - len(hidden) - self._step.owed):
                self._chosen += 1
                hidden.append(Source.TARGET)
        hidden += [self._place() for _ in range(new - 1 - len(hidden))]
        self._tokens = timings.predicted
        pieces = [Piece("", source, self._reasoning) for source in hidden]
        return pieces + self._release(self._place())

    def _begin(self, timings: Timings) -> None:
        drafted = timings.drafted - self._drafted
        accepted = timings.accepted - self._accepted
        self._step = _Step(timings.predicted_ms, accepted)
        self._drafted, self._accepted = timings.drafted, timings.accepted
        if drafted:
            self._drafts += 1
            self._by_position += [0] * (max(drafted, accepted) - len(self._by_position))
            for position in range(accepted):
                self._by_position[position] += 1

    def _place(self) -> Source:
        """Who chose the next token of the current step."""
        source = Source.DRAFTER if self._step.placed < self._step.accepted else Source.TARGET
        self._step.placed += 1
        self._chosen += source is Source.TARGET
        return source

    def _release(self, source: Source) -> list[Piece]:
        """The held text as the piece of one token.

        A token that ends the thinking and begins the answer needs two; only the first carries the
        source, so that the drafter's pieces still count the accepted tokens.
        """
        pieces: list[Piece] = []
        for reasoning, run in groupby(self._held, key=itemgetter(0)):
            self._reasoning = reasoning
            text = "".join(text for _, text in run)
            pieces.append(Piece(text, Source.TARGET if pieces else source, reasoning))
        self._held = []
        return pieces or [Piece("", source, self._reasoning)]
