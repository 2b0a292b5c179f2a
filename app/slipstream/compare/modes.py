"""The ways to run a model that are compared."""

from dataclasses import dataclass
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.discovery import find_drafters
from slipstream.drafters.kinds import DrafterKind, SpecChoice
from slipstream.errors import SlipstreamError
from slipstream.weights.shards import read_model

MOST_DRAFT_TOKENS = 64
_PLAIN = "plain"


@dataclass(frozen=True)
class Mode:
    """One way to run a model.

    Attributes:
        kind: the drafter; None for plain decoding.
        draft_tokens: most draft tokens per step; None for what suits the drafter.
        p_min: stop drafting below this draft probability; None for what suits the drafter.
    """

    kind: DrafterKind | None = None
    draft_tokens: int | None = None
    p_min: float | None = None

    def __str__(self) -> str:
        """As on the command line: "plain", "mtp", "mtp=3"; "mtp=3 p-min 0.6"."""
        if self.kind is None:
            return _PLAIN
        number = "" if self.draft_tokens is None else f"={self.draft_tokens}"
        p_min = "" if self.p_min is None else f" p-min {self.p_min:g}"
        return f"{self.kind}{number}{p_min}"

    @property
    def spec(self) -> SpecChoice:
        """What is asked of a session."""
        return self.kind or "off"


PLAIN_MODE = Mode()


def default_modes(model: Path, cancel: CancelToken) -> tuple[Mode, ...]:
    """Plain decoding, every kind of drafter that is there, and n-grams.

    Raises: SlipstreamError, if the model cannot be read; Cancelled.
    """
    found = find_drafters(read_model(model), cancel).drafters
    kinds = dict.fromkeys((*(one.kind for one in found), DrafterKind.NGRAM))
    return (PLAIN_MODE, *(Mode(kind) for kind in kinds))


def parse_modes(text: str) -> tuple[Mode, ...]:
    """Modes from words with commas between: "plain,mtp=3,dflash". Repeats are kept.

    Raises: SlipstreamError ``wrong_mode``.
    """
    return tuple(_parse(word.strip().lower()) for word in text.split(","))


def _parse(word: str) -> Mode:
    name, equals, number = word.partition("=")
    if word == _PLAIN:
        return PLAIN_MODE
    try:
        kind = DrafterKind(name)
        tokens = int(number) if equals else None
    except ValueError as error:
        raise _wrong(word) from error
    if tokens is not None and not 1 <= tokens <= MOST_DRAFT_TOKENS:
        raise _wrong(word)
    return Mode(kind, tokens)


def _wrong(word: str) -> SlipstreamError:
    kinds = ", ".join(DrafterKind)
    return SlipstreamError(
        "wrong_mode",
        f"“{word}” is no way to run a model.",
        facts={"modes": f"{_PLAIN}, {kinds}"},
        action=f"Name one of them, if you like with draft tokens (1 to {MOST_DRAFT_TOKENS}):"
        " mtp=3.",
    )
