"""Plain against plain: a comparison must find no difference, 19 times of 20.

Run it alone on a quiet machine: ``python benchmarks/aa_test.py`` (the demo model), or with
``--model FILE``. It prints how often "no difference" was said, and what was said instead.
"""

import argparse
import json
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.compare.modes import parse_modes
from slipstream.compare.prompts import own_set
from slipstream.compare.report import Measured, report
from slipstream.compare.runner import PASSES, Plan, run
from slipstream.compare.statistics import Outcome
from slipstream.hub.reference import resolve


def one_comparison(model: Path, passes: int, tokens: int) -> dict[str, object]:
    """What a comparison of a model with itself came to."""
    measured = Measured(Plan(model, parse_modes("plain,plain"), own_set(), passes, tokens))
    for event in run(measured.plan, CancelToken()):
        measured.take(event)
    found = report(measured)
    gain = found.rows[1].gain
    assert gain is not None
    return {
        "outcome": gain.outcome,
        "speedup": round(gain.speedup, 3),
        "interval": [round(each, 3) for each in gain.interval],
        "drift": found.drift and round(found.drift, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="demo")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--passes", type=int, default=PASSES)
    parser.add_argument("--tokens", type=int, default=128)
    args = parser.parse_args()
    model = resolve(args.model)
    runs = [one_comparison(model, args.passes, args.tokens) for _ in range(args.runs)]
    same = sum(one["outcome"] == Outcome.SAME for one in runs)
    ratio = same / len(runs)
    print(json.dumps({"no_difference": ratio, "wanted": 0.95, "runs": runs}, indent=2))


if __name__ == "__main__":
    main()
