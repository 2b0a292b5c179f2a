"""Telling whether two sources mean the same card, by what they call it.

llama.cpp leaves out makers' names in places (``common/fit.cpp``), Vulkan's drivers add their own
in parentheses ("AMD Radeon RX 7900 XTX (RADV NAVI31)"), and Intel adds trade marks.
"""

import re
from dataclasses import dataclass

from slipstream.machine.devices import Device

_MAKERS = {
    "nvidia": ("nvidia", "geforce", "quadro", "tesla", "rtx", "gtx"),
    "amd": ("amd", "radeon", "instinct", "radv", "ryzen"),
    "intel": ("intel", "arc", "iris", "uhd"),
    "apple": ("apple",),
}
_BACKENDS = {
    "CUDA": "nvidia",
    "NVIDIA": "nvidia",
    "ROCm": "amd",
    "AMD": "amd",
    "SYCL": "intel",
    "Intel": "intel",
    "Metal": "apple",
    "Apple": "apple",
}
_SAYS_NOTHING = {
    *("nvidia", "geforce", "tesla", "amd", "radeon", "instinct", "intel", "apple"),
    *("graphics", "gpu", "series"),
}


@dataclass(frozen=True)
class Identity:
    """A card by its name.

    Attributes:
        maker: "nvidia", "amd", "intel", "apple", or "" where the name does not tell.
        model: the words of the name that tell cards of one maker apart; often none ("AMD Radeon
            Graphics").
    """

    maker: str
    model: tuple[str, ...]

    def same_name(self, other: "Identity") -> bool:
        """Whether both are called the same."""
        if self.maker and other.maker:
            return self == other
        return bool(self.model) and self.model == other.model


def identity(device: Device) -> Identity:
    """What the name of a device, and what drives it, tell about the card."""
    plain = re.sub(r"\((?:r|tm)\)|[®™]|\s+mig\s.*", " ", device.name.lower())
    words = re.findall(r"[a-z0-9.]+", re.sub(r"\([^)]*\)", " ", plain))
    return Identity(
        maker=_BACKENDS.get(device.backend) or _maker(words),
        model=tuple(word for word in words if word not in _SAYS_NOTHING),
    )


def _maker(words: list[str]) -> str:
    return next((maker for maker, marks in _MAKERS.items() if set(marks) & set(words)), "")


def is_processor(device: Device) -> bool:
    """Whether it is the processor that draws: Mesa's llvmpipe and its like."""
    return bool(re.search(r"\b(llvmpipe|lavapipe|softpipe|swiftshader)\b", device.name.lower()))
