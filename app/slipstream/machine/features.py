"""Instruction sets that make llama.cpp faster, in the names that it uses.

Which ones matter: ``ggml/src/CMakeLists.txt`` and ``ggml/src/ggml-cpu/ggml-cpu.cpp`` of llama.cpp.
"""

import ctypes
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from slipstream.machine.files import read_text
from slipstream.machine.sysctl import sysctl

_Key = TypeVar("_Key", int, str)
_LINUX = {
    "avx": "avx",
    "avx2": "avx2",
    "f16c": "f16c",
    "fma": "fma",
    "bmi2": "bmi2",
    "avx_vnni": "avx_vnni",
    "avx512f": "avx512f",
    "avx512_vnni": "avx512_vnni",
    "avx512_bf16": "avx512_bf16",
    "amx_int8": "amx_int8",
    "asimd": "neon",
    "neon": "neon",
    "asimddp": "dotprod",
    "i8mm": "i8mm",
    "sve": "sve",
    "sme": "sme",
}
"""Words of /proc/cpuinfo (arch/x86/include/asm/cpufeatures.h, arch/arm64/kernel/cpuinfo.c)."""
_MACOS = {
    "hw.optional.avx1_0": "avx",
    "hw.optional.avx2_0": "avx2",
    "hw.optional.f16c": "f16c",
    "hw.optional.fma": "fma",
    "hw.optional.bmi2": "bmi2",
    "hw.optional.avx512f": "avx512f",
    "hw.optional.avx512vnni": "avx512_vnni",
    "hw.optional.neon": "neon",
    "hw.optional.AdvSIMD": "neon",
    "hw.optional.arm.FEAT_DotProd": "dotprod",
    "hw.optional.arm.FEAT_I8MM": "i8mm",
    "hw.optional.arm.FEAT_SME": "sme",
}
"""Values of sysctl (Apple, "Determining instruction set characteristics")."""
_WINDOWS = {
    39: "avx",
    40: "avx2",
    60: "bmi2",
    41: "avx512f",
    19: "neon",
    43: "dotprod",
    66: "i8mm",
    46: "sve",
    70: "sme",
}
"""Numbers of IsProcessorFeaturePresent (winnt.h); Windows has none for the others."""


def read_features(root: Path) -> tuple[str, ...]:
    """The instruction sets of this processor, the oldest first; may raise what the system does."""
    if sys.platform == "win32":
        present = ctypes.windll.kernel32.IsProcessorFeaturePresent
        return _named(_WINDOWS, (number for number in _WINDOWS if present(number)))
    if sys.platform == "darwin":
        return macos_features(sysctl("hw.optional"))
    return linux_features(read_text(root / "proc/cpuinfo"))


def linux_features(cpuinfo: str) -> tuple[str, ...]:
    """The instruction sets in the text of ``/proc/cpuinfo``; the first processor stands for all."""
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", cpuinfo, re.MULTILINE)
    return _named(_LINUX, found[1].split() if found else ())


def macos_features(listing: str) -> tuple[str, ...]:
    """The instruction sets in what ``sysctl hw.optional`` prints."""
    return _named(_MACOS, re.findall(r"^(\S+): 1$", listing, re.MULTILINE))


def _named(names: Mapping[_Key, str], present: Iterable[_Key]) -> tuple[str, ...]:
    there = set(present)
    return tuple(dict.fromkeys(name for key, name in names.items() if key in there))
