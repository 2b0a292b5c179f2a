"""Numbers and states in words: the same thing is said the same way everywhere."""

from slipstream.drafters.kinds import DrafterKind, SpecChoice, SpecConfig, Unfit
from slipstream.engine.events import FellBack, ReplyNumbers
from slipstream.engine.requests import Loaded
from slipstream.paths import printable
from slipstream.ui.i18n import tr
from slipstream.words import ENDINGS, SPECULATION, count

_THIN = "\u202f"  # narrow no-break space, before units


def percent(share: float) -> str:
    """A share from 0 to 1: 78 %."""
    return f"{round(share * 100)}{_THIN}%"


def speed(per_second: float) -> str:
    """Tokens per second as people read them: 63.4, but 1,840."""
    return f"{per_second:.1f}" if per_second < 1000 else count(per_second)


def choice_name(choice: SpecChoice) -> str:
    """What the user can choose: Automatic, Off, or a kind of drafter."""
    return tr(SPECULATION[choice].name)


def choice_meaning(choice: SpecChoice) -> str:
    """What that choice is, in a line."""
    return tr(SPECULATION[choice].meaning)


def mode(spec: SpecConfig) -> str:
    """How a reply was or will be made: "MTP, 3 draft tokens" or "no drafter"."""
    if spec.kind is None:
        return tr("no drafter")
    return f"{choice_name(spec.kind)}, {draft_tokens(spec)}"


def draft_tokens(spec: SpecConfig) -> str:
    """How many tokens it drafts at most: "3 draft tokens"."""
    unit = tr("draft token") if spec.draft_tokens == 1 else tr("draft tokens")
    return f"{spec.draft_tokens} {unit}"


def mode_pill(spec: SpecConfig) -> str:
    """The same, short: "MTP · 3 tokens"."""
    if spec.kind is None:
        return tr("No drafter")
    unit = tr("token") if spec.draft_tokens == 1 else tr("tokens")
    return f"{choice_name(spec.kind)} · {spec.draft_tokens} {unit}"


def drafter_pill(kind: DrafterKind, *, inside: bool) -> str:
    """A kind of drafter in a pill: "MTP inside"."""
    name = choice_name(kind)
    return tr("{kind} inside").format(kind=name) if inside else name


def our_fault() -> str:
    """What is said where something fails that should never fail."""
    return tr(
        "Something went wrong inside Slipstream. Your chats are safe; the log has the details."
    )


def speculation(loaded: Loaded) -> str:
    """One sentence about how the loaded model speculates."""
    if loaded.fallback:
        return loaded.fallback
    spec = loaded.spec
    if spec.kind is None:
        return tr("Plain decoding, no drafter.")
    return f"{_drafter(spec)}, {draft_tokens(spec)}."


def next_attempt(fall: FellBack) -> str:
    """What did not work, and what is tried next."""
    wanted, now = fall.wanted, fall.now
    if fall.without_images:
        failed, tried = tr("with images"), tr("without images")
    elif wanted.kind is None:
        failed, tried = tr("with this much context"), _context(fall.context)
    elif now.kind is not None and now.draft_tokens == wanted.draft_tokens:
        failed, tried = tr("with n-grams"), tr("without n-grams")
    else:
        failed, tried = tr("with {drafts}").format(drafts=draft_tokens(wanted)), _drafting(now)
    words = tr("It did not work {failed} ({reason}). Trying {tried}.")
    return words.format(failed=failed, reason=fall.reason.rstrip("."), tried=tried)


def attempt_that_works(fall: FellBack) -> str:
    """What runs after the last attempt that did not work, and why."""
    ways = [_drafting(fall.now)]
    if fall.without_images:
        ways = [tr("without images")]
    elif fall.wanted.kind is None:
        ways.append(_context(fall.context))
    elif fall.now.draft_tokens == fall.wanted.draft_tokens:
        ways = [tr("without n-grams")]
    words = tr("Running {how}: {reason}")
    return words.format(how=tr(" and ").join(ways), reason=fall.reason)


def not_used(unfit: Unfit) -> str:
    """Which drafter near the model was left out, and why."""
    name = printable(unfit.path.name)
    if unfit.inside:
        words = tr("The {kind} head of {file} is not used. {reason}")
        return words.format(kind=choice_name(unfit.kind), file=name, reason=unfit.reason)
    return tr("{file} is not used. {reason}").format(file=name, reason=unfit.reason)


def _drafting(spec: SpecConfig) -> str:
    if spec.kind is None:
        return tr("without a drafter")
    return tr("with {drafts}").format(drafts=draft_tokens(spec))


def _context(tokens: int) -> str:
    return tr("with {n} tokens of context").format(n=count(tokens))


def _drafter(spec: SpecConfig) -> str:
    if spec.kind is DrafterKind.NGRAM:
        return tr("Repeats found in the text so far (n-gram)")
    name = choice_name(spec.kind) if spec.kind else ""
    if spec.drafter is None:
        return tr("{kind} head inside the model").format(kind=name)
    return tr("{kind} drafter {file}").format(kind=name, file=spec.drafter.name)


def speed_line(numbers: ReplyNumbers, spec: SpecConfig | None, finish: str = "") -> str:
    """The line under a reply; of one without a token it says at most how it ended.

    For example "63.4 tok/s · 38 tokens · first token 0.31 s · 78 % accepted · MTP, 3 draft tokens".

    Args:
        numbers: the measured numbers.
        spec: how it was speculated; None if that is not known.
        finish: how it ended: "stop", "length", "cancelled", "failed".
    """
    parts = _measured(numbers, spec) if numbers.tokens else []
    if finish in ENDINGS:
        parts.append(tr(ENDINGS[finish]))
    return " · ".join(parts)


def restarted(spec: SpecConfig) -> str:
    """How the model runs after it was loaded again."""
    if spec.kind is None:
        return tr("Restarted without a drafter.")
    return tr("Restarted with {mode}.").format(mode=mode(spec))


def _measured(numbers: ReplyNumbers, spec: SpecConfig | None) -> list[str]:
    unit = tr("token") if numbers.tokens == 1 else tr("tokens")
    parts = [
        f"{speed(numbers.tokens_per_second)} {tr('tok/s')}",
        f"{count(numbers.tokens)} {unit}",
        tr("first token {seconds:.2f} s").format(seconds=numbers.first_token),
    ]
    if numbers.acceptance is not None:
        parts.append(tr("{share} accepted").format(share=percent(numbers.acceptance)))
    if spec is not None:
        parts.append(mode(spec))
    return parts
