"""How the flags of the embedded engine read their values and write them into its parameters."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

Params = Any
"""``xllamacpp.CommonParams``, which has no type stubs."""
Convert = Callable[[str], Any]
Apply = Callable[[Params, str], None]

KV_TYPES = ("f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1")
SPEC_TYPES = {
    "none": "NONE",
    "draft-simple": "DRAFT_SIMPLE",
    "draft-eagle3": "DRAFT_EAGLE3",
    "draft-mtp": "DRAFT_MTP",
    "draft-dflash": "DRAFT_DFLASH",
    "draft-dspark": "DRAFT_DSPARK",
    "ngram-simple": "NGRAM_SIMPLE",
    "ngram-map-k": "NGRAM_MAP_K",
    "ngram-map-k4v": "NGRAM_MAP_K4V",
    "ngram-mod": "NGRAM_MOD",
    "ngram-cache": "NGRAM_CACHE",
}
TRUTHY = ("on", "enabled", "true", "1")
FALSEY = ("off", "disabled", "false", "0")


@dataclass(frozen=True)
class Flag:
    """One option.

    Attributes:
        names: every spelling that sets it.
        hint: what its value looks like; empty for a switch.
        help: one line for ``--help``.
        apply: writes the value into the parameters ("1" or "0" for a switch).
        off: spellings that turn a switch off.
    """

    names: tuple[str, ...]
    hint: str
    help: str
    apply: Apply
    off: tuple[str, ...] = ()


def into(path: str, convert: Convert) -> Apply:
    """Converts a value and writes it to the field at a dotted ``path``."""
    *parents, name = path.split(".")

    def apply(params: Params, text: str) -> None:
        setattr(reduce(getattr, parents, params), name, convert(text))

    return apply


def enum(kind: str, prefix: str, names: Mapping[str, str]) -> Convert:
    """Reads one of ``names`` as a member of one of xllamacpp's enumerations."""

    def convert(text: str) -> Any:
        import xllamacpp

        if text not in names:
            raise ValueError(f"{text!r} is not one of {', '.join(names)}")
        return getattr(xllamacpp, kind)[prefix + names[text]]

    return convert


def switch(text: str) -> bool:
    """Read "on", "off" and their other spellings."""
    if text not in TRUTHY + FALSEY:
        raise ValueError(f"{text!r} is neither on nor off")
    return text in TRUTHY


def positive(text: str) -> int:
    """A whole number from 1."""
    number = int(text)
    if number < 1:
        raise ValueError("must be at least 1")
    return number


def layers(text: str) -> int:
    """A number of layers, "auto" or "all"."""
    return {"auto": -1, "all": -2}[text] if text in ("auto", "all") else int(text)


def comma_list(text: str) -> list[str]:
    """The parts between commas."""
    return [part for part in text.split(",") if part]


def choose_devices(params: Params, text: str) -> None:
    """Run on one device, on all of them, or on none. The bindings take no list of devices.

    Raises: ValueError, for a device that is not there, and for some of several.
    """
    if text == "none":
        params.n_gpu_layers = 0
        return
    import xllamacpp

    cpu = xllamacpp.ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_CPU
    there = [one["name"] for one in xllamacpp.get_device_info() if one["type"] != cpu]
    wanted = comma_list(text)
    for name in wanted:
        if name not in there:
            raise ValueError(f"invalid device: {name}")
    if len(wanted) == 1:
        params.split_mode = xllamacpp.llama_split_mode.LLAMA_SPLIT_MODE_NONE
        params.main_gpu = there.index(wanted[0])
    elif set(wanted) != set(there):
        raise ValueError("this engine runs on one device or on all of them")


def leave_free(params: Params, text: str) -> None:
    """Let fitting leave so many MiB on every device."""
    params.fit_params_target = [positive(text) << 20] * len(params.fit_params_target)


def numbers(text: str) -> list[float]:
    """Numbers between commas."""
    return [float(part) for part in text.split(",")]


def file_text(path: str) -> str:
    """What a text file holds."""
    return Path(path).read_text(encoding="utf-8")


def add_keys(params: Params, text: str) -> None:
    """API keys, besides those already there."""
    params.api_keys = [*params.api_keys, *comma_list(text)]


def add_template_values(params: Params, text: str) -> None:
    """Values for the chat template, from a JSON object."""
    values = {name: json.dumps(value) for name, value in json.loads(text).items()}
    params.default_template_kwargs = {**params.default_template_kwargs, **values}


def set_reasoning(params: Params, text: str) -> None:
    """Whether to think; "on" and "off" also tell the chat template."""
    if text in ("auto", "-1"):
        params.enable_reasoning = -1
        return
    on = switch(text)
    params.enable_reasoning = int(on)
    add_template_values(params, json.dumps({"enable_thinking": on}))


def add_spec_types(params: Params, text: str) -> None:
    """Kinds of speculation, besides those already there, as in llama-server."""
    import xllamacpp

    def member(name: str) -> Any:
        if name not in SPEC_TYPES:
            raise ValueError(f"unknown speculative type: {name}")
        return xllamacpp.common_speculative_type[f"COMMON_SPECULATIVE_TYPE_{SPEC_TYPES[name]}"]

    params.speculative.types = [*params.speculative.types, *map(member, comma_list(text))]


kv_type = enum("ggml_type", "GGML_TYPE_", {name: name.upper() for name in KV_TYPES})
flash = enum(
    "llama_flash_attn_type",
    "LLAMA_FLASH_ATTN_TYPE_",
    dict.fromkeys(TRUTHY, "ENABLED") | dict.fromkeys(FALSEY, "DISABLED") | {"auto": "AUTO"},
)
load_mode = enum(
    "llama_load_mode",
    "LLAMA_LOAD_MODE_",
    {
        "auto": "AUTO",
        "none": "NONE",
        "mmap": "MMAP",
        "mlock": "MLOCK",
        "mmap+mlock": "MMAP_MLOCK",
        "dio": "DIRECT_IO",
    },
)
reasoning_format = enum(
    "common_reasoning_format",
    "COMMON_REASONING_FORMAT_",
    {
        "none": "NONE",
        "auto": "AUTO",
        "deepseek": "DEEPSEEK",
        "deepseek-legacy": "DEEPSEEK_LEGACY",
    },
)
