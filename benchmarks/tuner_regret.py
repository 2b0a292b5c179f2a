"""The tuner against trying everything: how good is its choice, and how long does it take.

The tuner runs first. Then plain decoding, every number of draft tokens (1 to 8) of every kind, and
the tuner's choice where it is none of these are compared in turns. Run it alone on a quiet machine:
``python benchmarks/tuner_regret.py`` (the demo model), or with ``--model FILE``.
"""

import argparse
import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.compare.modes import PLAIN_MODE, Mode
from slipstream.compare.prompts import own_set
from slipstream.compare.report import Measured, Row, report
from slipstream.compare.runner import PASSES, Plan, Starting, run
from slipstream.compare.settle import slower_for
from slipstream.compare.tuned import Tuning
from slipstream.compare.tuner import TOKENS, Progress, TunePlan, kinds_there, tune
from slipstream.drafters.kinds import DrafterKind
from slipstream.hub.reference import resolve

MOST_DRAFT_TOKENS = 8
WANTED_SPEED, WANTED_TIME = 0.97, 0.35


@dataclass
class Clock:
    """Seconds that the launches of each mode took."""

    spent: dict[int, float] = field(default_factory=dict)
    _mode: int | None = None
    _since: float = 0.0

    def begin(self, mode: int | None) -> None:
        """A launch of a mode begins, or everything ends."""
        now = time.monotonic()
        if self._mode is not None:
            self.spent[self._mode] = self.spent.get(self._mode, 0.0) + now - self._since
        self._mode, self._since = mode, now


def tuned(plan: TunePlan) -> tuple[Tuning, int]:
    """What the tuner finds, and how many launches it needed."""
    launches = 0
    for event in tune(plan, CancelToken()):
        if isinstance(event, Progress):
            launches = event.launch
            print(f"tuner: {event.mode}, {event.launch} of about {event.about}", file=sys.stderr)
        else:
            return event, launches
    raise AssertionError


def choice_of(found: Tuning) -> Mode:
    """How the tuner's choice is launched."""
    best = found.best
    if best.kind is None:
        return PLAIN_MODE
    usual = {one.p_min for one in found.tried if one.kind is best.kind and not one.confirmed}
    return Mode(best.kind, best.draft_tokens, None if best.p_min in usual else best.p_min)


def swept(plan: Plan) -> tuple[Measured, Clock]:
    """Every mode, measured in turns, and what its launches took."""
    measured, clock = Measured(plan), Clock()
    for event in run(plan, CancelToken()):
        if isinstance(event, Starting):
            clock.begin(event.mode)
            print(f"sweep: {plan.modes[event.mode]}", file=sys.stderr)
        measured.take(event)
    clock.begin(None)
    return measured, clock


def regret(
    model: Path, kinds: tuple[DrafterKind, ...], passes: int, tokens: int
) -> dict[str, object]:
    """What the tuner's choice reaches of the best there is, and in which share of the time."""
    found, launches = tuned(TunePlan(model, kinds, own_set(), passes, tokens))
    numbers = range(1, MOST_DRAFT_TOKENS + 1)
    grid = (PLAIN_MODE, *(Mode(kind, number) for kind in kinds for number in numbers))
    choice = choice_of(found)
    modes = grid if choice in grid else (*grid, choice)
    measured, clock = swept(Plan(model, modes, own_set(), passes, tokens))
    seconds = sum(spent for mode, spent in clock.spent.items() if mode < len(grid))
    rows = [row for row in report(measured).rows if row.error is None]
    chosen = next(row for row in rows if row.mode == choice)
    best = max(rows, key=_speed)
    safe = max((row for row in rows if slower_for(row) is None), key=_speed)
    return {
        "model": model.name,
        "kinds": kinds,
        "choice": str(choice),
        "reason": found.reason,
        "best": str(best.mode),
        "speed_ratio": _speed(chosen) / _speed(best),
        "best_slower_for_no_kind": str(safe.mode),
        "speed_ratio_slower_for_no_kind": _speed(chosen) / _speed(safe),
        "wanted_speed_ratio": WANTED_SPEED,
        "time_ratio": found.seconds / seconds,
        "wanted_time_ratio": WANTED_TIME,
        "tuner": {"seconds": found.seconds, "launches": launches, "drift": found.drift},
        "sweep": {
            "seconds": seconds,
            "launches": passes * len(grid) + 1,
            "drift": report(measured).drift,
        },
        "tokens_per_second": {str(row.mode): _speed(row) for row in rows},
        "expected": {one.mode: one.expected for one in found.tried if one.expected},
    }


def _speed(row: Row) -> float:
    return row.tokens_per_second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="demo")
    parser.add_argument("--kinds", help="with commas between; without it all there are")
    parser.add_argument("--passes", type=int, default=PASSES)
    parser.add_argument("--tokens", type=int, default=TOKENS)
    args = parser.parse_args()
    model = resolve(args.model)
    asked = tuple(DrafterKind(word) for word in args.kinds.split(",")) if args.kinds else None
    kinds = asked or kinds_there(model, CancelToken())
    print(json.dumps(regret(model, kinds, args.passes, args.tokens), indent=2))


if __name__ == "__main__":
    main()
