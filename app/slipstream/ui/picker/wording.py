"""What the Models page says about models, drafters and quantizations."""

import re

from slipstream.drafters.gains import Gain
from slipstream.drafters.kinds import DrafterKind
from slipstream.engine.picture import DrafterOption, Line, Picture
from slipstream.ui.i18n import tr
from slipstream.ui.wording import choice_name
from slipstream.words import size

_THOUSAND = ((1_000_000, "M"), (1_000, "k"))

_NOT_OF_A_MODEL = frozenset(
    {"gguf", "mtp", "dflash", "dflash2", "dspark", "eagle3", "eagle", "drafter", "draft"}
)
"""Words in the names of repositories that say what is made of the model."""


def remark(line: Line) -> str:
    """What stands below the name of a quantization."""
    words = [
        tr("Recommended") if line.recommended else "",
        tr("on this computer") if line.here else "",
        tr("dynamic") if line.dynamic and not line.recommended else "",
    ]
    return " · ".join(filter(None, words))


def file_size(line: Line) -> str:
    """How large the files of a quantization are."""
    return size(line.bytes)


def total_size(line: Line) -> str:
    """What a quantization takes in all."""
    return size(line.plan.placement.need.total)


def spoken(line: Line, picture: Picture) -> str:
    """A row and its bar as a screen reader says them."""
    need, free = line.plan.placement.need.total, capacity(picture)
    used = tr("{used} of {free} gigabytes").format(used=_gigabytes(need), free=_gigabytes(free))
    words = [line.label, remark(line), line.verdict, used if free else size(need)]
    return ", ".join(filter(None, words))


def capacity(picture: Picture) -> int:
    """Bytes that the line in the bars marks: what is free on the devices, or of main memory."""
    devices = sum(device.free for device in picture.computer.devices)
    return devices or picture.computer.memory.free


def capacity_words(picture: Picture) -> str:
    """What that line stands for: "24.0 GB VRAM, 22.6 GB free"."""
    computer = picture.computer
    if computer.devices:
        total = sum(device.total for device in computer.devices)
        what = tr("VRAM") if any(not one.unified for one in computer.devices) else tr("memory")
    else:
        total, what = computer.memory.total, tr("RAM")
    if not total:
        return tr("free memory unknown")
    words = tr("{total} {what}, {free} free")
    return words.format(total=size(total), what=what, free=size(capacity(picture)))


def machine_words(picture: Picture) -> str:
    """The computer in one line."""
    computer = picture.computer
    parts = [
        tr("{name} · {total} ({free} free)").format(
            name=device.name or device.id, total=size(device.total), free=size(device.free)
        )
        for device in computer.devices
    ]
    if computer.memory.total:
        ram = tr("{total} RAM ({free} free)")
        memory = computer.memory
        parts.append(ram.format(total=size(memory.total), free=size(memory.free)))
    return " · ".join(filter(None, parts))


def downloads_words(number: int) -> str:
    """How often it was downloaded, in short: "1.2M downloads"."""
    for unit, name in _THOUSAND:
        if number >= unit:
            value = f"{number / unit:.{int(number < 10 * unit)}f}".removesuffix(".0")
            return tr("{n} downloads").format(n=value + name)
    return tr("1 download") if number == 1 else tr("{n} downloads").format(n=number)


def drafter_chip(option: DrafterOption) -> str:
    """A drafter and what it costs: "MTP head, inside every file · +0.58 GB while in use"."""
    words = [choice_name(option.kind), option.repo] if option.repo else [option.title]
    if option.memory:
        words.append(tr("+{size} while in use").format(size=size(option.memory)))
    elif option.bytes:
        words.append(size(option.bytes))
    if option.gain is not None:
        words.append(gain_words(option.gain))
    if not option.fits:
        words.append(tr("does not fit"))
    elif not option.proven and option.kind is not DrafterKind.NGRAM:
        words.append(tr("only plausible"))
    return " · ".join(words)


def gain_words(gain: Gain) -> str:
    """What a comparison showed, short: "1.42× as fast here"."""
    if not gain.sure:
        return tr("no difference here")
    return tr("{n}× as fast here").format(n=f"{gain.speedup:.2f}")


def _gigabytes(number: int) -> str:
    return f"{number / 1e9:,.1f}"


def model_words(repo: str) -> str:
    """The name of the model that a repository of drafters, or of another format, was made for."""
    words = re.split(r"[-_ ]+", repo.partition("/")[2])
    return " ".join(word for word in words if word.lower() not in _NOT_OF_A_MODEL)
