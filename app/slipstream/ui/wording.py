"""Numbers and states in words: the same thing is said the same way everywhere."""

from collections.abc import Mapping
from pathlib import Path

from slipstream.drafters.kinds import DrafterKind, SpecChoice, SpecConfig
from slipstream.engine.events import ReplyNumbers
from slipstream.engine.requests import Loaded
from slipstream.errors import Fact
from slipstream.ui.i18n import tr

_THIN = "\u202f"  # narrow no-break space, between thousands and before units

KIND_NAMES = {
    DrafterKind.MTP: "MTP",
    DrafterKind.DFLASH: "DFlash",
    DrafterKind.DSPARK: "DSpark",
    DrafterKind.EAGLE3: "EAGLE-3",
    DrafterKind.DRAFT: "Small model",
    DrafterKind.SELF: "Lower quantization",
    DrafterKind.NGRAM: "n-gram",
}


def count(number: float) -> str:
    """A whole number, with thousands apart: 1 840."""
    return f"{round(number):,}".replace(",", _THIN)


def percent(share: float) -> str:
    """A share from 0 to 1: 78 %."""
    return f"{round(share * 100)}{_THIN}%"


def speed(per_second: float) -> str:
    """Tokens per second as people read them: 63.4, but 1 840."""
    return f"{per_second:.1f}" if per_second < 1000 else count(per_second)


def choice_name(choice: SpecChoice) -> str:
    """What the user can choose: Auto, Off, or a kind of drafter."""
    if choice == "auto":
        return tr("Auto")
    if choice == "off":
        return tr("Off")
    return KIND_NAMES[choice]


def mode(spec: SpecConfig) -> str:
    """How a reply was or will be made: "MTP, 3 draft tokens" or "no drafter"."""
    if spec.kind is None:
        return tr("no drafter")
    unit = tr("draft token") if spec.draft_tokens == 1 else tr("draft tokens")
    return f"{KIND_NAMES[spec.kind]}, {spec.draft_tokens} {unit}"


def mode_pill(spec: SpecConfig) -> str:
    """The same, short: "MTP · 3 tokens"."""
    if spec.kind is None:
        return tr("No drafter")
    unit = tr("token") if spec.draft_tokens == 1 else tr("tokens")
    return f"{KIND_NAMES[spec.kind]} · {spec.draft_tokens} {unit}"


def context_pill(tokens: int) -> str:
    """A context size: "4k context"."""
    size = f"{tokens // 1024}k" if tokens >= 1024 and tokens % 1024 == 0 else count(tokens)
    return tr("{size} context").format(size=size)


def speculation(loaded: Loaded) -> str:
    """One sentence about how the loaded model speculates."""
    if loaded.fallback:
        return loaded.fallback
    spec = loaded.spec
    if spec.kind is None:
        return tr("Plain decoding, no drafter.")
    number = tr("1 draft token") if spec.draft_tokens == 1 else tr("{n} draft tokens")
    return f"{_drafter(spec)}, {number.format(n=spec.draft_tokens)}."


def _drafter(spec: SpecConfig) -> str:
    if spec.kind is DrafterKind.NGRAM:
        return tr("Repeats found in the text so far (n-gram)")
    name = KIND_NAMES[spec.kind] if spec.kind else ""
    if spec.drafter is None:
        return tr("{kind} head inside the model").format(kind=name)
    return tr("{kind} drafter {file}").format(kind=name, file=spec.drafter.name)


def speed_line(numbers: ReplyNumbers, mode_words: str, finish: str = "") -> str:
    """The line under a reply.

    For example "63.4 tok/s · 38 tokens · first token 0.31 s · 78 % accepted · MTP, 3 draft tokens".

    Args:
        numbers: the measured numbers.
        mode_words: how it was speculated, from ``mode``.
        finish: how it ended: "stop", "length", "cancelled", "failed".
    """
    unit = tr("token") if numbers.tokens == 1 else tr("tokens")
    parts = [
        f"{speed(numbers.tokens_per_second)} {tr('tok/s')}",
        f"{count(numbers.tokens)} {unit}",
        tr("first token {seconds:.2f} s").format(seconds=numbers.first_token),
    ]
    if numbers.acceptance is not None:
        parts.append(tr("{share} accepted").format(share=percent(numbers.acceptance)))
    parts.append(mode_words)
    ending = {
        "cancelled": tr("stopped"),
        "length": tr("context or token limit reached"),
        "failed": tr("interrupted"),
    }
    if finish in ending:
        parts.append(ending[finish])
    return " · ".join(parts)


def facts_text(facts: Mapping[str, Fact]) -> str:
    """Facts of an error, one a line."""
    return "\n".join(f"{key.replace('_', ' ')}: {value}" for key, value in facts.items())


def file_title(path: Path) -> str:
    """A model's file as a name for people: without ending and shard number."""
    return path.name.removesuffix(".gguf")
