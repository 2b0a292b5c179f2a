"""What a launch took in fact, kept beside what was predicted (``planning/truth.py``)."""

from collections.abc import Sequence

from slipstream.engine.config import LaunchConfig
from slipstream.engine.dryrun import remembered
from slipstream.engine.spec import EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.planning.breakdown import parse_loaded
from slipstream.planning.computer import Computer
from slipstream.planning.formula import predict
from slipstream.planning.layouts import with_weights_of
from slipstream.planning.model import model_of
from slipstream.planning.need import Extras, Need, need_of
from slipstream.planning.parts import HOST, Breakdown, Offload
from slipstream.planning.placement import place
from slipstream.planning.truth import Outcome, Prediction, record
from slipstream.weights.header import Header
from slipstream.weights.names import model_stem, quantization_of
from slipstream.weights.shards import read_model


def keep_outcome(
    engine: EngineSpec,
    config: LaunchConfig,
    target: Header,
    computer: Computer,
    log: Sequence[str],
) -> None:
    """Record what a launch took, if its log tells, beside what was predicted.

    Args:
        engine: what runs.
        config: what it serves.
        target: the model's header.
        computer: what it could use, as it was before the launch.
        log: its lines that tell of memory.
    """
    loaded = parse_loaded(log)
    if loaded is None:
        return
    try:
        predicted = _prediction(engine, config, target, computer)
    except SlipstreamError:  # the drafter's file went away
        return
    backends = {HOST: "CPU"} | {device.id: device.backend for device in computer.devices}
    used = loaded.target.keys() | loaded.drafter.keys()
    record(
        Outcome(
            model=model_stem(config.model.name) or config.model.name,
            quantization=quantization_of(target) or "",
            engine=engine.id,
            build=engine.build,
            backends={id_: name for id_, name in backends.items() if id_ in used},
            context=config.context,
            kv_type=config.kv_type,
            spec=config.spec.kind,
            draft_tokens=config.spec.draft_tokens,
            predicted=predicted,
            loaded=loaded,
        )
    )


def _prediction(
    engine: EngineSpec, config: LaunchConfig, target: Header, computer: Computer
) -> Prediction:
    """What a dry run of this very launch answered, else the formula's answer."""
    setup = config.setup
    drafter = read_model(config.spec.drafter) if config.spec.drafter else None
    known = remembered(
        engine,
        target,
        setup,
        drafter=drafter,
        gpu_layers=config.gpu_layers,
        devices=computer.devices,
    )
    model, drafts = model_of(target), model_of(drafter) if drafter else None

    def predicted(where: Offload) -> Breakdown:
        return predict(model, setup, drafter=drafts, offload=where)

    def need(where: Offload) -> Need:
        return need_of(predicted(where), Extras(), computer)

    where = place(model.sizes, need, computer).offload
    by_formula = predicted(where)
    elsewhere = bool(computer.devices) and where.count < model.layers
    if known is None or elsewhere or where.host_experts:
        return Prediction(by_formula, "formula")
    return Prediction(_with_weights(known, by_formula), "dry-run")


def _with_weights(known: Breakdown, by_formula: Breakdown) -> Breakdown:
    """The engine's answer about another quantization, with the weights of this one."""
    drafter = by_formula.drafter
    if known.drafter and not known.drafter_missing:
        drafter = with_weights_of(by_formula.drafter, known.drafter, known.drafter)
    target = with_weights_of(by_formula.target, known.target, known.target)
    return Breakdown(target, drafter, known.drafter_missing)
