"""How quantizations fit, which is recommended, and why: words first, then the numbers."""

from collections.abc import Iterator, Sequence

from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.machine.devices import Device
from slipstream.planning.computer import Computer
from slipstream.planning.placement import Fit
from slipstream.planning.plan import Plan
from slipstream.planning.recommend import QUICK_ANYWHERE, is_good, loses_quality
from slipstream.words import Tone, context_words, count, size

_LITTLE = 1_000_000_000
_LITTLE_SHARE = 0.05
"""Bytes, and share of what is free, below which a model that fits has little to spare."""
_DRAFTERS = {
    DrafterKind.MTP: "its MTP drafter",
    DrafterKind.DFLASH: "its DFlash drafter",
    DrafterKind.DSPARK: "its DSpark drafter",
    DrafterKind.EAGLE3: "its EAGLE-3 drafter",
    DrafterKind.DRAFT: "a small model that drafts",
    DrafterKind.SELF: "a lower quantization that drafts",
    DrafterKind.NGRAM: "n-gram drafting",
}


def verdict(plan: Plan, computer: Computer) -> tuple[str, Tone]:
    """How a plan fits on the computer that it was made for, in a few words."""
    fit = plan.placement.fit
    if fit is Fit.NONE:
        return _does_not_fit(plan, computer)
    if fit is Fit.PARTIAL:
        return _slower(plan), Tone.CAUTION
    if fit is Fit.CPU and not computer.memory.total:
        return f"Needs {size(plan.placement.need.total)}, free memory unknown", Tone.CAUTION
    if fit is Fit.CPU and computer.devices:
        return "Fits in main memory, not on the GPU (slower)", Tone.CAUTION
    spare = min((one for one in _little(plan, computer)), default=None)
    if spare is not None:
        return f"Fits, {size(spare)} to spare", Tone.CAUTION
    if loses_quality(plan.quantization.label):
        return "Fits, quality drops", Tone.PLAIN
    if fit is Fit.CPU:
        return "Fits in main memory", Tone.GOOD
    return f"Fits fully on your GPU{'s' * (len(_used(plan, computer)) > 1)}", Tone.GOOD


def headline(plans: Sequence[Plan], computer: Computer, automatic: Sequence[Plan] = ()) -> str:
    """What to take, in one sentence; else what is wrong.

    Args:
        plans: of the quantizations of one model; one at least.
        computer: that they were made for.
        automatic: the same without layers by hand, where these leave nothing that fits.
    """
    best = _recommended(plans)
    if best:
        return f"{best.quantization.label} {_fits_how(best, computer)}."
    smallest = min(plans, key=lambda one: one.placement.need.total)
    label, need = smallest.quantization.label, smallest.placement.need.total
    instead = _recommended(automatic)
    if instead:
        what = label if len(plans) == 1 else f"Even the smallest, {label},"
        fits = f"{instead.quantization.label} {_fits_how(instead, computer)}"
        return f"{what} does not fit with {_by_hand(smallest)}. Left to automatic, {fits}."
    needs = f"needs {size(need)}, and {_free_words(smallest, computer)} are free"
    if len(plans) == 1:
        return f"{label} does not fit: it {needs}."
    return f"Nothing of this model fits: the smallest, {label}, {needs}."


def _recommended(plans: Sequence[Plan]) -> Plan | None:
    return next((one for one in plans if one.recommended), None)


def why(plan: Plan, computer: Computer) -> str:
    """One sentence, or two, about a plan on the computer that it was made for."""
    sentences = [_FITS[plan.placement.fit](plan, computer)]
    if plan.recommended:
        sentences.insert(0, _recommendation(plan))
    if loses_quality(plan.quantization.label):
        sentences.append("Below 4 bits the quality drops.")
    return " ".join(sentences)


def fits_later(plan: Plan, computer: Computer) -> bool:
    """Whether what does not fit now may fit when other programs are closed."""
    need = plan.placement.need.total
    return plan.placement.fit is Fit.NONE and computer.free < need <= computer.total


def _does_not_fit(plan: Plan, computer: Computer) -> tuple[str, Tone]:
    need, free = plan.placement.need.total, _free_words(plan, computer)
    if fits_later(plan, computer):
        return f"Not for now: needs {size(need)}, {free} free", Tone.CAUTION
    if plan.placement.by_hand and need <= computer.free:
        return f"Does not fit with {_by_hand(plan)}", Tone.BAD
    return f"Too large: needs {size(need)}, {free} free", Tone.BAD


def _by_hand(plan: Plan) -> str:
    layers = plan.placement.offload.count
    return f"{count(layers)} of {count(plan.layers)} layers on the GPU"


def _free_words(plan: Plan, computer: Computer) -> str:
    """What is free: in all, or of each memory where it would be enough if it were one."""
    if plan.placement.need.total > computer.free:
        return size(computer.free)
    apart = [one.free for one in computer.devices if not one.unified]
    return " and ".join(size(free) for free in (computer.memory.free, *apart))


def _slower(plan: Plan) -> str:
    offload = plan.placement.offload
    if offload.host_experts:
        return f"Fits, experts of {count(offload.host_experts)} layers in main memory (slower)"
    return f"Fits, {_by_hand(plan)} (slower)"


def _little(plan: Plan, computer: Computer) -> Iterator[int]:
    """What is to spare, of each memory where that is little."""
    need, in_memory = plan.placement.need, plan.placement.need.host
    for device in _used(plan, computer):
        needed = need.by_device[device.id]
        in_memory += needed if device.unified else 0
        yield from _if_little(device.free - needed, device.free)
    if computer.memory.total:
        yield from _if_little(computer.memory.free - in_memory, computer.memory.free)


def _if_little(spare: int, free: int) -> Iterator[int]:
    if spare < min(_LITTLE, _LITTLE_SHARE * free):
        yield max(0, spare)


def _fits_how(plan: Plan, computer: Computer) -> str:
    """The rest of the sentence that a label begins."""
    fit, need = plan.placement.fit, plan.placement.need
    names = " and ".join(one.short_name for one in _used(plan, computer))
    following = _with(plan)
    if fit is Fit.CPU and not computer.memory.total:
        return f"needs {size(need.total)} {following}; how much memory is free is not known"
    if fit is Fit.CPU:
        return f"fits in main memory {following}"
    if fit is Fit.GPU:
        return f"fits fully on your {names} {following}"
    experts = plan.placement.offload.host_experts
    if experts:
        return f"fits on your {names} but for the experts of {count(experts)} layers, {following}"
    return f"fits in part on your {names}, {_by_hand(plan)}, {following}"


def _with(plan: Plan) -> str:
    spec = plan.setup.spec
    drafter = f" and {drafter_words(spec)}" if spec.kind else ""
    return f"with {context_words(plan.setup.context)}{drafter}"


def drafter_words(spec: SpecConfig) -> str:
    """What drafts, in the middle of a sentence: "its DFlash drafter"; empty if nothing does."""
    if spec.kind is DrafterKind.MTP and spec.drafter is None:
        return "the MTP head"
    return _DRAFTERS[spec.kind] if spec.kind else ""


def _recommendation(plan: Plan) -> str:
    label = plan.quantization.label
    if plan.instead:
        return f"It is on this computer already; else {plan.instead} would be the one to take."
    if loses_quality(label):
        return "The largest that fits."
    if not is_good(label):
        if plan.largest:
            return "The best of those that fit."
        return "More bits would gain hardly anything and cost speed."
    if plan.placement.fit is Fit.GPU:
        return (
            "The largest of up to 6 bits that the GPU holds as a whole; more gain hardly anything."
        )
    if plan.placement.need.weights <= QUICK_ANYWHERE:
        return "Good, and quick on any processor."
    return "Close to the smallest that keeps 4 bits: from main memory, fewer bytes are quicker."


def _on_gpu(plan: Plan, computer: Computer) -> str:
    return f"It fits fully on {_names(plan, computer)}: {_on_devices(plan, computer)}."


def _in_part(plan: Plan, computer: Computer) -> str:
    offload, names = plan.placement.offload, _names(plan, computer)
    if offload.host_experts:
        where = f"{names} but for the experts of {count(offload.host_experts)} layers"
    else:
        where = f"{names} in part, {count(offload.count)} of {count(plan.layers)} layers"
    return (
        f"It fits on {where}: {_on_devices(plan, computer)}. "
        f"The rest, {size(plan.placement.need.host)}, runs on the processor, which is slower."
    )


def _in_memory(plan: Plan, computer: Computer) -> str:
    need, memory = plan.placement.need.total, computer.memory
    if not memory.total:
        return f"It needs {size(need)}; how much memory is free is not known."
    return f"It fits in main memory: {size(need)} of {size(memory.free)} that are free."


def _too_large(plan: Plan, computer: Computer) -> str:
    need = plan.placement.need.total
    if plan.placement.by_hand and need <= computer.free:
        return f"It does not fit with {_by_hand(plan)}: {'; '.join(_lacking(plan, computer))}."
    if need > computer.total:
        return f"Too large: it needs {size(need)}, and there are {size(computer.total)} in all."
    if fits_later(plan, computer):
        return (
            f"Too large for now: it needs {size(need)}, and {size(computer.free)} are free. "
            "It may fit when other programs are closed."
        )
    return f"Too large: it needs {size(need)}, and no way to divide it fits what is free."


def _lacking(plan: Plan, computer: Computer) -> Iterator[str]:
    """Where too much lies."""
    need, in_memory = plan.placement.need, plan.placement.need.host
    for device in _used(plan, computer):
        needed = need.by_device[device.id]
        in_memory += needed if device.unified else 0
        if needed > device.free:
            name = device.name or device.id
            yield f"{name} would hold {size(needed)}, and {size(device.free)} are free"
    if in_memory > computer.memory.free and computer.memory.total:
        free = size(computer.memory.free)
        yield f"main memory would hold {size(in_memory)}, and {free} are free"


_FITS = {
    Fit.GPU: _on_gpu,
    Fit.PARTIAL: _in_part,
    Fit.CPU: _in_memory,
    Fit.NONE: _too_large,
}


def _on_devices(plan: Plan, computer: Computer) -> str:
    free = sum(_free(device, computer) for device in _used(plan, computer))
    return f"{size(plan.placement.need.on_devices)} of {size(free)} that are free"


def _free(device: Device, computer: Computer) -> int:
    shared = device.unified and computer.memory.total
    return min(device.free, computer.memory.free) if shared else device.free


def _names(plan: Plan, computer: Computer) -> str:
    return " and ".join(device.name or device.id for device in _used(plan, computer))


def _used(plan: Plan, computer: Computer) -> list[Device]:
    return [one for one in computer.devices if plan.placement.need.by_device.get(one.id)]
