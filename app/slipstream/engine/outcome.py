"""What a launch took in fact, kept beside what was predicted (``planning/truth.py``)."""

import contextlib
from collections.abc import Sequence

from slipstream.engine.config import LaunchConfig
from slipstream.engine.dryrun import remembered
from slipstream.engine.spec import EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.machine.devices import Device
from slipstream.planning.breakdown import parse_loaded
from slipstream.planning.formula import predict
from slipstream.planning.model import model_of
from slipstream.planning.parts import HOST, Setup
from slipstream.planning.truth import Outcome, Prediction, record
from slipstream.weights.header import Header
from slipstream.weights.names import model_stem, quantization_of
from slipstream.weights.shards import read_model


def keep_outcome(
    engine: EngineSpec,
    config: LaunchConfig,
    target: Header,
    devices: Sequence[Device],
    log: Sequence[str],
) -> None:
    """Record what a launch took, if its log tells and something predicted it.

    Args:
        engine: what runs.
        config: what it serves.
        target: the model's header.
        devices: what the engine could use.
        log: its lines that tell of memory.
    """
    loaded = parse_loaded(log)
    if loaded is None:
        return
    with contextlib.suppress(SlipstreamError):  # the drafter's file went away
        predicted = _prediction(engine, config, target, devices)
        if predicted is not None:
            backends = {HOST: "CPU"} | {device.id: device.backend for device in devices}
            used = loaded.target.keys() | loaded.drafter.keys()
            outcome = Outcome(
                model=model_stem(config.model.name) or config.model.name,
                quantization=quantization_of(target) or "",
                engine=engine.id,
                build=engine.build,
                backends={id: name for id, name in backends.items() if id in used},
                context=config.context,
                kv_type=config.kv_type,
                spec=config.spec.kind,
                draft_tokens=config.spec.draft_tokens,
                predicted=predicted,
                loaded=loaded,
            )
            record(outcome)


def _prediction(
    engine: EngineSpec, config: LaunchConfig, target: Header, devices: Sequence[Device]
) -> Prediction | None:
    """What a dry run of this very launch answered, else the formula's answer.

    The formula has none where the engine itself chose what goes to which device.
    """
    setup = _setup(config)
    drafter = read_model(config.spec.drafter) if config.spec.drafter else None
    known = remembered(
        engine,
        target,
        setup,
        drafter=drafter,
        gpu_layers=config.gpu_layers,
        devices=config.devices,
    )
    if known is not None:
        return Prediction(known, "dry-run")
    if devices:
        return None
    drafts = model_of(drafter) if drafter else None
    return Prediction(predict(model_of(target), setup, drafter=drafts), "formula")


def _setup(config: LaunchConfig) -> Setup:
    return Setup(
        context=config.context,
        spec=config.spec,
        slots=config.slots,
        kv_type=config.kv_type,
        batch=config.batch or Setup.batch,
        micro_batch=config.micro_batch or Setup.micro_batch,
    )
