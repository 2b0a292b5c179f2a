"""What models are compared on: prompts of several kinds, our own or the user's."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slipstream.errors import SlipstreamError
from slipstream.paths import resources

OWN = "own"
"""The kind of the user's own prompts."""
_BETWEEN = "---"
_KINDS = ("code", "rewrite", "maths", "facts", "summary", "json", "chat", "story")
_LARGEST = 4 << 20


@dataclass(frozen=True)
class Prompt:
    """One text to answer.

    Attributes:
        kind: "code", "story", ...; ``OWN`` for the user's own.
        text: what is said to the model.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class PromptSet:
    """Prompts by kind.

    Attributes:
        kinds: the prompts of each kind; every kind has at least one.
    """

    kinds: tuple[tuple[Prompt, ...], ...]

    def of_pass(self, number: int) -> tuple[Prompt, ...]:
        """The prompts of one pass, one of each kind; another one each time, while there are."""
        return tuple(prompts[number % len(prompts)] for prompts in self.kinds)


def own_set() -> PromptSet:
    """The prompts that come with the app, in eight kinds."""
    folder = resources() / "prompts"
    texts = ((kind, (folder / f"{kind}.md").read_text(encoding="utf-8")) for kind in _KINDS)
    return PromptSet(tuple(_prompts(kind, text) for kind, text in texts))


def read_set(path: Path) -> PromptSet:
    """The user's own prompts: blocks of text, separated by lines with ``---``.

    Every prompt is a kind of its own, so that each is answered in each pass.

    Raises: SlipstreamError ``bad_prompts``.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise _bad(path, "It is larger than prompts are.")
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _bad(path, str(error)) from error
    found = _prompts(OWN, text)
    if not found:
        raise _bad(path, "There is no text in it.")
    return PromptSet(tuple((prompt,) for prompt in found))


def _prompts(kind: str, text: str) -> tuple[Prompt, ...]:
    return tuple(Prompt(kind, block) for block in _blocks(text.splitlines()))


def _blocks(lines: Sequence[str]) -> list[str]:
    """The texts between the lines that separate them."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if line.strip() == _BETWEEN:
            blocks.append([])
        else:
            blocks[-1].append(line)
    texts = ("\n".join(block).strip() for block in blocks)
    return [text for text in texts if text]


def _bad(path: Path, reason: str) -> SlipstreamError:
    return SlipstreamError(
        "bad_prompts",
        f"{path.name} cannot be used as prompts.",
        facts={"path": str(path), "reason": reason},
        action="Choose a text file in UTF-8, with a line --- between two prompts.",
    )
