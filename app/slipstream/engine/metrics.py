"""The speculation counters of an engine, from its Prometheus text."""

import re
from dataclasses import dataclass

_SAMPLE = re.compile(
    r'^llamacpp:spec_decode_num_(\w+)_total(?:\{position="(\d+)"\})? (\S+)$', re.MULTILINE
)


@dataclass(frozen=True)
class SpecCounters:
    """Counted over all finished requests since the engine started.

    Attributes:
        drafts: steps in which a draft was verified.
        drafted, accepted: draft tokens proposed, and accepted by the target.
        by_position: drafts whose 1st, 2nd, ... token was accepted.
    """

    drafts: int
    drafted: int
    accepted: int
    by_position: tuple[int, ...] = ()

    def since(self, before: "SpecCounters") -> "SpecCounters":
        """What was added after ``before``."""
        # positions appear with the first draft
        missing = max(0, len(self.by_position) - len(before.by_position))
        earlier = (before.by_position + (0,) * missing)[: len(self.by_position)]
        return SpecCounters(
            self.drafts - before.drafts,
            self.drafted - before.drafted,
            self.accepted - before.accepted,
            tuple(now - then for now, then in zip(self.by_position, earlier, strict=True)),
        )


def parse_metrics(text: str) -> SpecCounters | None:
    """The counters in the text of ``/metrics``.

    Returns: None if the engine does not count speculation, or not in numbers.
    """
    totals: dict[str, int] = {}
    positions: dict[int, int] = {}
    try:
        for name, position, value in _SAMPLE.findall(text):
            if position:
                positions[int(position)] = int(float(value))
            else:
                totals[name] = int(float(value))
        drafts, drafted = totals["drafts"], totals["draft_tokens"]
        accepted = totals["accepted_tokens"]
    except (KeyError, ValueError, OverflowError):
        return None
    return SpecCounters(drafts, drafted, accepted, tuple(n for _, n in sorted(positions.items())))
