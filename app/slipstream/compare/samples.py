"""What one answer of a comparison showed: its tokens with their times, and what the engine counted.

Every number of a comparison is computed from these, and can be computed again from a report.
"""

from dataclasses import dataclass

from slipstream.compare.prompts import Prompt
from slipstream.engine.events import ReplyNumbers


@dataclass(frozen=True)
class Token:
    """One token as it arrived.

    Attributes:
        at: seconds after the request was sent.
        text: what it added.
        drafted: the drafter proposed it.
    """

    at: float
    text: str
    drafted: bool


@dataclass(frozen=True)
class Sample:
    """One answer.

    Attributes:
        mode: place of the mode in the list that is compared.
        number: of the pass, from 0.
        slot: place of the prompt in the pass.
        prompt: what was answered.
        tokens: the answer.
        numbers: what the engine counted.
    """

    mode: int
    number: int
    slot: int
    prompt: Prompt
    tokens: tuple[Token, ...]
    numbers: ReplyNumbers

    @property
    def usable(self) -> bool:
        """Whether it is long enough to tell a speed."""
        return len(self.tokens) > 1 and self.tokens[-1].at > self.tokens[0].at

    @property
    def per_token(self) -> float:
        """Seconds that a token took to decode; the first one, which the prompt pass made, apart."""
        return (self.tokens[-1].at - self.tokens[0].at) / (len(self.tokens) - 1)

    @property
    def text(self) -> str:
        """The answer as text."""
        return "".join(token.text for token in self.tokens)
