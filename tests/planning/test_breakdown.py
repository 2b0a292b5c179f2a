"""What an engine tells of memory is read from its log, whatever else is in there."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.planning.breakdown import (
    MIB,
    from_json,
    parse_loaded,
    parse_projection,
    tells_of_memory,
    to_json,
)
from slipstream.planning.parts import HOST, Breakdown, Share

PROJECTION = """\
0.00.007.862 I cmn  common_init_: fitting params to device memory ...
0.00.044.138 I common_memory_breakdown_print: | memory breakdown [MiB]     | total   free    self   model   context   compute    unaccounted |
0.00.049.913 I common_memory_breakdown_print: |   - RPC0 (127.0.0.1:50152) | 24105 = 24105 + (4923 =  3847 +     960 +     116) +       -4923 |
0.00.049.913 I common_memory_breakdown_print: |   - Host                   |                  5509 =  4289 +    1088 +     132                |
0.00.049.914 I common_memory_breakdown_print: |   - CPU_REPACK             |                    12 =    12 +       0 +       0                |
"""  # noqa: E501
EXTRA = """\
0.00.053.755 I operator(): getting device memory data for the extra model at a context size of 2048:
0.00.083.426 I common_memory_breakdown_print: | memory breakdown [MiB] | total   free    self   model   context   compute    unaccounted |
0.00.083.469 I common_memory_breakdown_print: |   - Host               |                   23 =    17 +       1 +       5                |
"""  # noqa: E501
UNMEASURED = """\
0.00.044.243 I operator(): getting device memory data for the extra model at a context size of 2048:
0.00.057.806 W operator(): failed to measure the memory of the extra model, fitting without it: failed to create llama_context from model
"""  # noqa: E501
END = "0.00.1 I common_params_fit_impl: projected to use 81 MiB of host memory vs. 24105 MiB of\n"

LOADED = """\
0.00.067.630 I load_tensors: loading model tensors, this can take a while... (load_mode = mmap)
0.00.079.138 I load_tensors:   CPU_Mapped model buffer size =   235.00 MiB
0.00.079.138 I load_tensors:   CPU_REPACK model buffer size =    12.50 MiB
0.00.079.147 I load_tensors: RPC0[127.0.0.1:50199] model buffer size =     8.00 MiB
0.00.100.332 I llama_context: constructing llama_context
0.00.100.382 I llama_context:        CPU  output buffer size =     0.01 MiB
0.00.100.491 I llama_kv_cache:        CPU KV buffer size =    13.00 MiB
0.00.100.491 I llama_kv_cache:        CPU KV buffer size =     2.00 MiB
0.00.107.415 I llama_kv_cache: RPC0[127.0.0.1:50199] KV buffer size =    10.00 MiB
0.00.110.611 I llama_memory_recurrent:  CUDA_Host RS buffer size =     0.50 MiB
0.00.110.624 I sched_reserve: reserving ...
0.00.127.432 I sched_reserve: RPC0[127.0.0.1:50199] compute buffer size =     6.00 MiB
0.00.127.451 I sched_reserve:        CPU compute buffer size =     6.50 MiB
0.00.127.451 I alloc_compute_meta:        CPU compute buffer size =    99.00 MiB
"""
LOADED_DRAFTER = """\
0.00.193.599 I load_tensors: loading model tensors, this can take a while... (load_mode = mmap)
0.00.194.629 I load_tensors:   CPU_Mapped model buffer size =     1.50 MiB
0.00.194.953 I llama_context: constructing llama_context
0.00.195.585 I llama_kv_cache:        CPU KV buffer size =     2.00 MiB
0.00.197.425 I sched_reserve: reserving ...
0.00.199.848 I sched_reserve:        CPU compute buffer size =     5.50 MiB
0.00.200.668 I sched_reserve: reserving ...
0.00.202.325 I sched_reserve:        CPU compute buffer size =     8.50 MiB
"""

TARGET = {
    "RPC0": Share(3847 * MIB, 960 * MIB, 116 * MIB),
    HOST: Share(4301 * MIB, 1088 * MIB, 132 * MIB),
}


def projected(text: str, *, drafter_inside: bool = False) -> Breakdown | None:
    return parse_projection(text.splitlines(), drafter_inside=drafter_inside)


def test_every_device_has_a_share_and_the_rest_is_main_memory() -> None:
    assert projected(PROJECTION + END) == Breakdown(TARGET)


def test_a_drafter_is_apart() -> None:
    drafter = {HOST: Share(17 * MIB, MIB, 5 * MIB)}
    assert projected(PROJECTION + EXTRA + END) == Breakdown(TARGET, drafter)


def test_a_head_inside_the_target_has_no_weights_of_its_own() -> None:
    told = projected(PROJECTION + EXTRA + END, drafter_inside=True)
    assert told == Breakdown(TARGET, {HOST: Share(0, MIB, 5 * MIB)})


def test_a_drafter_that_could_not_be_measured_is_missing() -> None:
    told = projected(PROJECTION + UNMEASURED + END)
    assert told == Breakdown(TARGET, {}, drafter_missing=True)


def test_a_projection_that_was_cut_off_is_none() -> None:
    assert projected(PROJECTION + EXTRA) is None
    assert projected(END) is None
    assert projected("") is None


def test_what_is_tried_after_the_projection_does_not_count() -> None:
    assert projected(PROJECTION + END + EXTRA + EXTRA + END) == Breakdown(TARGET)


def test_a_table_that_comes_again_replaces_the_one_before() -> None:
    assert projected(PROJECTION + PROJECTION + END) == Breakdown(TARGET)


def test_a_device_may_have_any_name() -> None:
    row = (
        "I common_memory_breakdown_print: |   - CUDA0 (A = 1 + (2 = 3 + 4) | B)"
        " | 9 = 5 + (6 =   1 +  2 +   3) + 18446744073709551615 |\n"
    )
    assert projected(row + END) == Breakdown({"CUDA0": Share(MIB, 2 * MIB, 3 * MIB)})


def test_a_real_load_is_the_sum_of_its_buffers() -> None:
    loaded = parse_loaded((LOADED + LOADED_DRAFTER).splitlines())
    assert loaded == Breakdown(
        {
            # Of the mapping 12.5 were repacked, and what was repacked counts.
            HOST: Share(235 * MIB, 15 * MIB + MIB // 2, 6 * MIB + MIB // 2),
            "RPC0": Share(8 * MIB, 10 * MIB, 6 * MIB),
        },
        {HOST: Share(MIB + MIB // 2, 2 * MIB, 8 * MIB + MIB // 2)},
    )


def test_more_copies_than_mapping_leave_the_copies() -> None:
    text = LOADED.replace("=   235.00", "=     2.00")
    loaded = parse_loaded(text.splitlines())
    assert loaded
    assert loaded.target[HOST].weights == 12 * MIB + MIB // 2


def test_a_head_inside_the_target_loads_no_weights() -> None:
    inside = "\n".join(LOADED_DRAFTER.splitlines()[2:])
    loaded = parse_loaded((LOADED + inside).splitlines())
    assert loaded
    assert loaded.drafter == {HOST: Share(0, 2 * MIB, 8 * MIB + MIB // 2)}


def test_without_a_model_and_a_context_nothing_was_loaded() -> None:
    lines = LOADED.splitlines()
    assert parse_loaded(lines[:4]) is None
    assert parse_loaded(lines[4:]) is None
    assert parse_loaded([]) is None


shares = st.builds(Share, *[st.integers(0, 1 << 20).map(lambda mib: mib * MIB)] * 3)
names = st.from_regex(r"(CUDA|ROCm|Vulkan|RPC|MTL)[0-9]", fullmatch=True)
tables = st.dictionaries(names, shares, max_size=4)
noise = st.lists(st.text(max_size=80), max_size=5)


def rows(table: dict[str, Share]) -> list[str]:
    lines = ["common_memory_breakdown_print: | memory breakdown [MiB] | total"]
    for id, share in table.items():
        sizes = [size // MIB for size in (share.weights, share.context, share.compute)]
        parts = " + ".join(f"{size:7}" for size in sizes)
        name, device = ("Host", False) if id == HOST else (f"{id} (Card)", True)
        cells = f"9 = 9 + (9 = {parts}) + -9" if device else f"9 = {parts}"
        lines.append(f"common_memory_breakdown_print: |   - {name} | {cells} |")
    return lines


@given(tables, shares, st.none() | tables, noise)
def test_any_table_is_read_back(
    devices: dict[str, Share], host: Share, drafter: dict[str, Share] | None, noise: list[str]
) -> None:
    target = {**devices, HOST: host}
    log = [*noise, *rows(target)]
    if drafter is not None:
        log += ["getting device memory data for the extra model", *rows(drafter)]
    assert parse_projection([*log, END]) == Breakdown(target, drafter or {})


KNOWN = [*(PROJECTION + EXTRA + UNMEASURED + END + LOADED + LOADED_DRAFTER).splitlines()]
pieces = st.sampled_from(KNOWN) | st.text()
cut = st.builds(lambda line, at: line[at:] + line[:at], st.sampled_from(KNOWN), st.integers(0, 99))


@given(st.lists(pieces | cut))
def test_no_log_confuses_and_other_lines_do_not_matter(lines: list[str]) -> None:
    relevant = [line for line in lines if tells_of_memory(line)]
    assert parse_projection(lines) == parse_projection(relevant)
    assert parse_loaded(lines) == parse_loaded(relevant)


@given(st.builds(Breakdown, tables, tables, st.booleans()))
def test_a_breakdown_survives_being_stored(breakdown: Breakdown) -> None:
    breakdown = replace(breakdown, target={HOST: Share(), **breakdown.target})
    assert from_json(json.loads(json.dumps(to_json(breakdown)))) == breakdown


@pytest.mark.parametrize(
    "share",
    [
        {"weights": -1, "context": 0, "compute": 0},
        {"weights": 10**400, "context": 0, "compute": 0},
        {"weights": "5", "context": 0, "compute": 0},
        {"weights": 1.5, "context": 0, "compute": 0},
    ],
)
def test_what_was_kept_is_believed_only_if_it_is_possible(share: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        from_json({"target": {HOST: share}, "drafter": {}, "drafter_missing": False})
    with pytest.raises(ValueError):  # noqa: PT011
        from_json({"target": {}, "drafter": {}, "drafter_missing": False})
