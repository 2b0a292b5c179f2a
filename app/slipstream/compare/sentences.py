"""What a comparison came to, in words for a page."""

from collections.abc import Mapping

from slipstream.compare.report import Gain, Report, Row
from slipstream.compare.statistics import DEAD_BAND, Outcome
from slipstream.words import SPECULATION, count, several, size

KIND_NAMES = {
    "code": "code",
    "rewrite": "rewriting",
    "maths": "maths",
    "facts": "facts",
    "summary": "summaries",
    "json": "JSON and tools",
    "chat": "chat",
    "story": "stories",
    "own": "your prompts",
}
"""Kinds of prompt, as they stand in a sentence."""


def mode_name(row: Row) -> str:
    """A mode for people: "MTP, 3 tokens"."""
    if row.mode.kind is None:
        return "Plain"
    name = SPECULATION[row.mode.kind].name
    return f"{name}, {several(row.draft_tokens, 'token')}" if row.draft_tokens else name


def headline(found: Report) -> str:
    """What to do, in one sentence."""
    best = best_row(found)
    if best is None:
        return "Nothing is faster than decoding without a drafter here."
    name = SPECULATION[best.mode.kind].name if best.mode.kind else "Plain decoding"
    return f"Use {name} with {several(best.draft_tokens, 'draft token')}."


def best_row(found: Report) -> Row | None:
    """The mode to use, if it is another one than the one compared with."""
    faster = [row for row in found.rows if row.gain and row.gain.outcome is Outcome.FASTER]
    return max(faster, key=lambda row: row.gain.speedup if row.gain else 0.0, default=None)


def where_it_helps(by_kind: Mapping[str, Gain]) -> str:
    """For which kinds of prompt a mode is faster, and for which not."""
    helps, hurts = _named(by_kind, Outcome.FASTER), _named(by_kind, Outcome.SLOWER)
    if len(by_kind) < 2:
        return ""
    if len(helps) == len(by_kind):
        order = sorted(by_kind, key=lambda kind: by_kind[kind].speedup)
        least, most = (KIND_NAMES.get(kind, kind) for kind in (order[0], order[-1]))
        kinds = several(len(by_kind), "kind")
        return f"It is faster for all {kinds} of prompt, most for {most}, least for {least}."
    even = len(by_kind) - len(helps) - len(hurts)
    said = [f"it helps for {_joined(helps)}"] if helps else []
    said += [f"it is slower for {_joined(hurts)}"] if hurts else []
    said += [f"no sure difference for {count(even)} of {count(len(by_kind))} kinds"] if even else []
    text = "; ".join(said)
    return f"{text[0].upper()}{text[1:]}."


def may_help(found: Report) -> str:
    """What was faster, but not surely, where nothing else was; empty if nothing was."""
    faster = [row for row in found.rows if row.gain and row.gain.speedup >= 1 + DEAD_BAND]
    best = max(faster, key=lambda row: row.gain.speedup if row.gain else 0.0, default=None)
    if best is None or best.gain is None:
        return ""
    low, high = best.gain.interval
    return (
        f"{mode_name(best)} was {best.gain.speedup:.2f} times as fast, but between {low:.2f} and"
        f" {high:.2f}: that is not sure. Longer answers tell more."
    )


def costs(row: Row, basis: Row) -> str:
    """What a mode costs, and whether its answers were the same."""
    said = [f"The same text in {count(row.same_text)} of {several(row.of, 'answer')}."]
    if row.difference is not None:
        at = count(row.difference.at + 1)
        said = [f"{said[0][:-1]}; one goes another way from token {at} on."]
    if row.extra_memory > 0:
        said.append(f"It needs {size(row.extra_memory)} more memory.")
    later = row.first_token - basis.first_token
    if abs(later) >= 0.005:
        said.append(
            f"The first token comes {abs(later):.2f} s {'later' if later > 0 else 'sooner'}."
        )
    return " ".join(said)


def _named(by_kind: Mapping[str, Gain], outcome: Outcome) -> list[str]:
    return [KIND_NAMES.get(kind, kind) for kind, gain in by_kind.items() if gain.outcome is outcome]


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
