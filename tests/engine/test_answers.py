"""Reading what engines print about themselves."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.engine.answers import (
    Hardware,
    parse_build,
    parse_flags,
    parse_hardware,
    parse_spec_types,
    traces,
)
from slipstream.machine.devices import Device

HELP = """
----- common params -----

-h,    --help, --usage                  print usage and exit
-c,    --ctx-size N                     size of the prompt context (default: 0)
--swa-full                              use full-size SWA cache --not-a-flag, -n
                                        -x is explained here
-kvu,  --kv-unified, -no-kvu, --no-kv-unified
                                        use single unified KV buffer
--spec-type none,draft-simple,ngram-mod
                                        comma-separated list
--draft, --draft-n, --draft-max N       the argument has been removed. use --spec-draft-n-max
--draft-min, --draft-n-min N            the argument has
                                        been removed.
"""
DEVICES = """load_backend: loaded CUDA backend from /opt/libggml-cuda.so
load_backend: loaded CPU backend from /opt/libggml-cpu.so
ggml_vulkan: 0 = AMD Radeon Graphics (RADV) (radv) | uma: 1 | fp16: 1
ggml_vulkan: 1 = NVIDIA (x) | uma: 0 | fp16: 1
Available devices:
  CUDA0: NVIDIA H200 (143771 MiB, 143000 MiB free)
  Vulkan0: AMD Radeon Graphics (RADV) (8192 MiB, 4096 MiB free)
  MTL0: Apple M3 (27648 MiB, 27647 MiB free)
"""


def test_every_spelling_that_is_still_valid_is_a_flag() -> None:
    assert parse_flags(HELP) == {
        "-h",
        "--help",
        "--usage",
        "-c",
        "--ctx-size",
        "--swa-full",
        "-kvu",
        "--kv-unified",
        "-no-kvu",
        "--no-kv-unified",
        "--spec-type",
    }


def test_the_kinds_of_speculation_are_the_values_of_one_flag() -> None:
    assert parse_spec_types(HELP) == ("draft-simple", "ngram-mod")
    assert parse_spec_types("--spec-type [none|ngram-cache]") == ("ngram-cache",)
    assert parse_spec_types("nothing here") == ()


def test_the_build_is_the_version_line() -> None:
    assert parse_build("version: 0.5.0 (build 1, commit 0c1e570)\nbuilt with GNU") == (
        "0.5.0 (build 1, commit 0c1e570)"
    )
    assert parse_build("garbage") == ""


def test_devices_have_names_backends_and_bytes() -> None:
    hardware = parse_hardware(DEVICES)
    cuda, vulkan, metal = hardware.devices
    assert cuda == Device("CUDA0", "NVIDIA H200", "CUDA", 143771 << 20, 143000 << 20, False)
    assert (vulkan.name, vulkan.unified) == ("AMD Radeon Graphics (RADV)", True)
    assert (metal.backend, metal.unified) == ("Metal", True)
    assert hardware.backends == ("CPU", "CUDA", "Vulkan", "Metal")
    assert parse_hardware("Available devices:\n  (none)\n") == Hardware()


@given(st.text() | st.lists(st.sampled_from(HELP.split(" ") + DEVICES.split("\n"))).map(" ".join))
def test_no_text_confuses_the_readers(text: str) -> None:
    assert all(re.fullmatch(r"--?[a-zA-Z][^\s,]*", flag) for flag in parse_flags(text))
    assert "none" not in parse_spec_types(text)
    assert "\n" not in parse_build(text)
    assert all(device.total >= 0 for device in parse_hardware(text).devices)


@pytest.mark.parametrize(
    ("help", "expected"),
    [
        (" - 3: info\n - 4: trace (more info)\n - 5: debug", True),
        ("0 generic, 1 error, 2 warning, 3 info, 4 trace, 5 debug", True),
        (" - 3: info\n - 4: debug", False),
        ("set the verbosity threshold", False),
    ],
)
def test_only_a_fourth_level_that_is_no_debugging_is_a_trace(help: str, expected: bool) -> None:
    assert traces(help) is expected
