"""What a comparison showed is remembered, so that pages can tell it and launches use it."""

import time
from collections.abc import Iterator

from slipstream.compare.report import Measured, Report
from slipstream.compare.statistics import Outcome
from slipstream.drafters.gains import Gain, Run, keep_gains
from slipstream.engine.model_records import keep_way


def keep(measured: Measured, found: Report) -> None:
    """Remember what each drafter brought, if it was compared with plain decoding.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """
    if measured.plan.modes[measured.plan.baseline].kind is None:
        keep_gains(_gains(measured, found))


def use(measured: Measured, found: Report) -> None:
    """The model speculates from now on as the verdict says, wherever it is loaded.

    Raises: SlipstreamError ``not_saved``, ``home_not_writable``.
    """
    wanted = (found.verdict.use, found.verdict.draft_tokens)
    rows = [(row.mode, row.draft_tokens) for row in found.rows]
    launched = measured.launched[rows.index(wanted)]
    keep_way(measured.plan.model, launched.loaded.spec)


def _gains(measured: Measured, found: Report) -> Iterator[tuple[Run, Gain]]:
    """The best of each drafter: it may have been measured with several numbers of draft tokens."""
    best: dict[Run, Gain] = {}
    for place, row in enumerate(found.rows):
        launched = measured.launched.get(place)
        if launched is None or row.gain is None or row.mode.kind is None:
            continue
        spec = launched.loaded.spec
        run = Run(measured.plan.model, spec.drafter, row.mode.kind, launched.loaded.engine)
        low, high = row.gain.interval
        sure = row.gain.outcome is not Outcome.SAME
        gain = Gain(row.gain.speedup, low, high, sure, row.draft_tokens, time.time())
        if run not in best or gain.speedup > best[run].speedup:
            best[run] = gain
    yield from best.items()
