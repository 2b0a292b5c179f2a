"""Why a quantization is recommended or not, in one sentence with the numbers."""

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


def _recommendation(plan: Plan) -> str:
    if loses_quality(plan.quantization.label):
        return "The largest that fits."
    if plan.placement.fit is Fit.GPU:
        return "The best that the GPU holds as a whole."
    if plan.placement.need.weights <= QUICK_ANYWHERE:
        return "Good, and quick on any processor."
    if is_good(plan.quantization.label):
        return "The smallest good one, and so the quickest from main memory."
    return "The best choice of those that fit."


def _on_gpu(plan: Plan, computer: Computer) -> str:
    need = plan.placement.need
    return f"It fits fully on {_names(plan, computer)}: {_of_free(need.on_devices, computer)}."


def _in_part(plan: Plan, computer: Computer) -> str:
    offload, names = plan.placement.offload, _names(plan, computer)
    if offload.host_experts:
        where = f"{names}, but the experts of {count(offload.host_experts)} layers do not"
    else:
        where = f"{names} in part: {count(offload.count)} of {count(plan.layers)} layers"
    return f"It fits on {where}; the rest runs on the processor, which is slower."


def _in_memory(plan: Plan, computer: Computer) -> str:
    need, memory = plan.placement.need.total, computer.memory
    if not memory.total:
        return f"It needs {size(need)}; how much memory is free is not known."
    return f"It fits in main memory: {size(need)} of {size(memory.free)} that are free."


def _too_large(plan: Plan, computer: Computer) -> str:
    need = plan.placement.need.total
    own = [device for device in computer.devices if not device.unified]
    free = computer.memory.free + sum(device.free for device in own)
    total = computer.memory.total + sum(device.total for device in own)
    if need > total:
        return f"Too large: it needs {size(need)}, and there are {size(total)} in all."
    if need > free:
        return (
            f"It needs {size(need)}, and {size(free)} are free; "
            "it fits when other programs are closed."
        )
    return f"Too large: it needs {size(need)}, and no split of it fits both memories."


_FITS = {
    Fit.GPU: _on_gpu,
    Fit.PARTIAL: _in_part,
    Fit.CPU: _in_memory,
    Fit.NONE: _too_large,
}


def _of_free(need: int, computer: Computer) -> str:
    free = sum(device.free for device in computer.devices)
    return f"{size(need)} of {size(free)} that are free"


def _names(plan: Plan, computer: Computer) -> str:
    used = [one for one in computer.devices if plan.placement.need.by_device.get(one.id)]
    return " and ".join(device.name or device.id for device in used)
