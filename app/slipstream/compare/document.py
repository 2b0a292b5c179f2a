"""A comparison as a document: every number, and the times of every token they come from."""

import platform
from dataclasses import asdict
from typing import Any

from slipstream.compare.report import Gain, Measured, Report, Row
from slipstream.compare.samples import Sample
from slipstream.machine.cpu import read_cpu
from slipstream.machine.memory import read_memory


def document(measured: Measured, found: Report) -> dict[str, Any]:
    """What ``compare --json`` prints. Times are seconds, memory is bytes."""
    loaded = next((one.loaded for one in measured.launched.values()), None)
    plan = measured.plan
    return {
        "machine": {
            "os": f"{platform.system()} {platform.release()} {platform.machine()}",
            "cpu": asdict(read_cpu()),
            "ram": asdict(read_memory()),
        },
        "engine": loaded.engine if loaded else None,
        "model": str(plan.model),
        "context": loaded.context if loaded else None,
        "passes": plan.passes,
        "tokens": plan.tokens,
        "modes": [_row(row) for row in found.rows],
        "verdict": {
            "use": str(found.verdict.use),
            "draft_tokens": found.verdict.draft_tokens,
            "reason": found.verdict.reason,
        },
        "drift": found.drift,
        "samples": [_sample(one, again=False) for one in measured.samples]
        + [_sample(one, again=True) for one in measured.again],
    }


def _row(row: Row) -> dict[str, Any]:
    gain = row.gain
    return {
        "mode": str(row.mode),
        "draft_tokens": row.draft_tokens,
        "tokens_per_second": row.tokens_per_second,
        "speedup": gain.speedup if gain else None,
        "interval": gain.interval if gain else None,
        "outcome": gain.outcome if gain else None,
        "acceptance": row.acceptance,
        "tokens_per_step": row.tokens_per_step,
        "by_position": row.by_position,
        "first_token": row.first_token,
        "prompt_per_second": row.prompt_per_second,
        "extra_memory": row.extra_memory,
        "by_kind": {kind: _gain(one) for kind, one in row.by_kind.items()},
        "speed_by_kind": row.speed_by_kind,
        "same_text": row.same_text,
        "of": row.of,
        "difference": asdict(row.difference) if row.difference else None,
        "error": row.error.to_json() if row.error else None,
    }


def _gain(gain: Gain) -> dict[str, Any]:
    return {"speedup": gain.speedup, "interval": gain.interval, "outcome": gain.outcome}


def _sample(one: Sample, *, again: bool) -> dict[str, Any]:
    return {
        "mode": one.mode,
        "pass": one.number,
        "slot": one.slot,
        "again": again,
        "kind": one.prompt.kind,
        "prompt": one.prompt.text,
        "text": one.text,
        "times": [round(token.at, 6) for token in one.tokens],
        "drafted": [token.drafted for token in one.tokens],
    }
