"""What engines have said, for tests of what is made of it."""

from dataclasses import dataclass, field

from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.errors import SlipstreamError
from slipstream.planning.parts import HOST, Breakdown, Offload, Setup, Share
from slipstream.weights.header import Header

MIB = 1 << 20
MTP = SpecConfig(DrafterKind.MTP, None, 3)

# Qwen3.6-27B in Q8_0 at 16,384 tokens, in main memory (llama.cpp 0.5.0).
QWEN_PLAIN = Breakdown({HOST: Share(27_293 * MIB, 1173 * MIB, 148 * MIB)})
QWEN_MTP = Breakdown(
    {HOST: Share(27_724 * MIB, 1622 * MIB, 148 * MIB)},
    {HOST: Share(0, 64 * MIB, 148 * MIB)},
)


def assert_same(said: Share, took: Share, allowance: int = MIB) -> None:
    """Whether two figures agree in each part, but for ``allowance`` bytes."""
    for part in ("weights", "context", "compute"):
        assert abs(getattr(said, part) - getattr(took, part)) <= allowance, part


@dataclass
class Recorded:
    """Says again what an engine has said; notes each time it is asked: file and setup."""

    answer: Breakdown
    asked: list[tuple[str, Setup, Offload]] = field(default_factory=list)

    def __call__(
        self,
        target: Header,
        setup: Setup,
        drafter: Header | None,  # noqa: ARG002
        where: Offload,
    ) -> Breakdown:
        self.asked.append((target.path.name, setup, where))
        return self.answer


@dataclass
class Silent:
    """An engine that does not answer."""

    asked: int = 0

    def __call__(
        self,
        target: Header,
        setup: Setup,  # noqa: ARG002
        drafter: Header | None,  # noqa: ARG002
        where: Offload,  # noqa: ARG002
    ) -> Breakdown:
        self.asked += 1
        raise SlipstreamError(
            "dry_run_failed", f"{target.path.name} could not be asked about.", action="Go on."
        )
