"""From what was confirmed to what to use."""

from collections.abc import Sequence

from slipstream.compare.modes import Mode
from slipstream.compare.report import Gain, Measured, Row, report
from slipstream.compare.sentences import KIND_NAMES
from slipstream.compare.statistics import DEAD_BAND, Outcome
from slipstream.compare.tuned import Best, Tried
from slipstream.errors import SlipstreamError
from slipstream.words import SPECULATION, draft_tokens

_NOTHING = "Plain decoding is best here: nothing is faster by 5 % or more."


def settled(plain: Tried, measured: Measured | None) -> tuple[Best, str, tuple[Tried, ...]]:
    """What to use, why, and every mode that was confirmed.

    Args:
        plain: plain decoding, as a single launch showed it.
        measured: what was confirmed; None if nothing was worth it.
    """
    if measured is None:
        return _plain(plain.tokens_per_second), _NOTHING, ()
    rows = report(measured).rows
    p_mins = {place: one.loaded.spec.p_min for place, one in measured.launched.items()}
    tried = tuple(
        failed(row.mode, row.error, confirmed=True)
        if row.error
        else tried_of(row, p_mins.get(place, 0.0), confirmed=True)
        for place, row in enumerate(rows)
    )
    best, reason = _choice(tried, rows)
    return best, reason, tried


def tried_of(row: Row, p_min: float = 0.0, *, confirmed: bool = False) -> Tried:
    """What a mode showed.

    Args:
        row: its numbers.
        p_min: draft probability below which it stopped drafting.
        confirmed: it was measured in turns with plain decoding.
    """
    gain = row.gain if confirmed else None
    return Tried(
        mode=str(row.mode),
        kind=row.mode.kind,
        draft_tokens=row.draft_tokens,
        p_min=p_min,
        confirmed=confirmed,
        tokens_per_second=row.tokens_per_second,
        speedup=gain.speedup if gain else None,
        interval=gain.interval if gain else None,
        by_position=row.by_position,
        reason=_reason(row, gain) if gain and row.mode.kind else "",
    )


def failed(mode: Mode, error: SlipstreamError, *, confirmed: bool = False) -> Tried:
    """A mode that could not be run."""
    why = error.facts.get("reason")
    reason = f"{error.message} {why}" if why else error.message
    return Tried(
        str(mode),
        mode.kind,
        mode.draft_tokens or 0,
        mode.p_min or 0.0,
        confirmed,
        0.0,
        reason=reason,
    )


def _choice(tried: Sequence[Tried], rows: Sequence[Row]) -> tuple[Best, str]:
    """The fastest that is surely faster and, for no kind of prompt, slower."""
    faster = [
        (one, row, row.gain)
        for one, row in zip(tried, rows, strict=True)
        if row.gain is not None and row.gain.outcome is Outcome.FASTER
    ]
    faster.sort(key=lambda each: each[2].speedup, reverse=True)
    for one, row, gain in faster:
        if slower_for(row) is None:
            reason = f"{_name(one)} is {_times(gain)} on this computer."
            return _best(one, gain), reason
    plain = _plain(rows[0].tokens_per_second)
    if not faster:
        return plain, _NOTHING
    one, row, gain = faster[0]
    but = f"{_name(one)} is {_times(gain)}, but {slower_for(row)}."
    return plain, f"Plain decoding is best here: {but}"


def _best(one: Tried, gain: Gain) -> Best:
    return Best(
        kind=one.kind,
        draft_tokens=one.draft_tokens,
        p_min=one.p_min,
        tokens_per_second=one.tokens_per_second,
        speedup=gain.speedup,
        interval=gain.interval,
    )


def _plain(tokens_per_second: float) -> Best:
    return Best(None, 0, 0.0, tokens_per_second, 1.0, (1.0, 1.0))


def _reason(row: Row, gain: Gain) -> str:
    slower = slower_for(row)
    if gain.outcome is Outcome.SAME:
        return "No difference that is large and sure." + (f" It is {slower}." if slower else "")
    said = f"It is {_times(gain)}"
    return f"{said}, but {slower}." if slower and gain.outcome is Outcome.FASTER else f"{said}."


def slower_for(row: Row) -> str | None:
    """The kind of prompt for which a mode is slower by more than the dead band, if there is one."""
    kind, gain = min(row.by_kind.items(), key=lambda each: each[1].speedup)
    if gain.speedup >= 1 - DEAD_BAND:
        return None
    return f"slower for {KIND_NAMES.get(kind, kind)} ({gain.speedup:.2f} times as fast)"


def _name(one: Tried) -> str:
    assert one.kind is not None
    name = f"{SPECULATION[one.kind].name} with {draft_tokens(one.draft_tokens)}"
    return f"{name} and a p-min of {one.p_min:g}" if one.p_min else name


def _times(gain: Gain) -> str:
    low, high = gain.interval
    return f"{gain.speedup:.2f} times as fast as plain decoding (between {low:.2f} and {high:.2f})"
