"""Why a quantization is recommended or not, in one sentence with the numbers."""

from slipstream.machine.devices import Device
from slipstream.planning.computer import Computer
from slipstream.planning.placement import Fit
from slipstream.planning.plan import Plan
from slipstream.planning.recommend import QUICK_ANYWHERE, is_good, loses_quality
from slipstream.words import count, size


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
    if need > computer.total:
        return f"Too large: it needs {size(need)}, and there are {size(computer.total)} in all."
    if fits_later(plan, computer):
        return (
            f"Too large for now: it needs {size(need)}, and {size(computer.free)} are free. "
            "It may fit when other programs are closed."
        )
    return f"Too large: it needs {size(need)}, and no way to divide it fits what is free."


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
