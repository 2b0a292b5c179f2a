"""What goes wrong gets a name, found in real lines of llama.cpp's log."""

# ruff: noqa: E501 - log lines are quoted as they are

import signal
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.engine.config import LaunchConfig
from slipstream.engine.failures import (
    DRAFTER_TROUBLE,
    after_lack_of_memory,
    drafter_refused,
    engine_problem,
    name_exit,
    name_failure,
)

PLAIN = LaunchConfig(Path("m.gguf"), 4096)
DRAFTED = LaunchConfig(Path("m.gguf"), 4096, SpecConfig(DrafterKind.DFLASH, Path("d.gguf"), 5))
FIT = "0.1 E common_fit_params: encountered an error while trying to fit params to free device memory: failed to create llama_context from model"
CTX_OTHER = "0.1 E llama_init_from_model: failed to initialize the context: dflash requires ctx_other to be set (this warning is normal during memory fitting)"
DRAFT_FAILED = "0.1 E srv    load_model: failed to load draft model, 'd.gguf'"


@pytest.mark.parametrize(
    ("status", "line", "code"),
    [
        (1, "0.1 E llama_model_load: error loading model: unknown model architecture: 'q9'", "unsupported_architecture"),
        (1, "E llama_model_load: error loading model: tensor 'blk.0' data is not within the file bounds, model is corrupted or incomplete", "damaged_file"),
        (1, "E gguf_init_from_reader: string length 99999999999 exceeds maximum 1073741824", "damaged_file"),
        (1, "E llama_model_load: error loading model: missing tensor 'output_norm.weight'", "damaged_file"),
        (1, "E gguf_init_from_reader: invalid magic characters: 'hell', expected 'GGUF'", "not_a_model"),
        (1, "error loading model: CLIP cannot be used as main model, use it with --mmproj instead", "not_a_model"),
        (1, CTX_OTHER, "not_a_model"),
        (1, "E error loading model: llama_model_loader: failed to load GGUF split from m-00002-of-00003.gguf", "missing_shard"),
        (1, "E gguf_init_from_file: failed to open GGUF file 'm.gguf' (No such file or directory)", "not_found"),
        (1, "0.1 E srv         start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 1", "port_taken"),
        (1, "error: invalid argument: --frobnicate", "engine_cannot"),
        (127, "llama-server: error while loading shared libraries: libcudart.so.12: cannot open shared object file", "missing_library"),
        (1, "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4500.00 MiB on device 0: cudaMalloc failed: out of memory", "not_enough_memory"),
        (134, "ggml_vulkan: Device memory allocation failed: ErrorOutOfDeviceMemory", "not_enough_memory"),
        (1, "E srv    load_model: failed to load multimodal model, 'mmproj.gguf'", "projector_unfit"),
        (1, "E srv          init: init: chat template parsing error: std::exception", "template_unfit"),
        (132, "", "illegal_instruction"),
        (0xC000001D, "", "illegal_instruction"),
        (137, "", "engine_killed"),
        (-9, "", "guardian_ended"),
        (-9, "E x: out of memory", "guardian_ended"),
        (134, "ggml.c:99: GGML_ASSERT(x) failed", "engine_crashed"),
        (139, "", "engine_crashed"),
        (0xC0000005, "", "engine_crashed"),
        (126, "", "not_executable"),
        (1, "something nobody knows", "engine_exited"),
        (0, "", "engine_exited"),
        (None, "", "engine_hung"),
    ],
)  # fmt: skip
def test_each_failure_has_its_name(status: int | None, line: str, code: str) -> None:
    failure = name_failure(status, [line] if line else [], PLAIN)
    assert failure.code == code
    assert failure.facts["log"] == line
    assert failure.facts["model"] == "m.gguf"
    assert "{" not in failure.message
    assert "None" not in failure.message


def test_what_a_person_typed_is_told_in_the_engines_own_words() -> None:
    own = replace(PLAIN, extra="--no-warmup --threads_batch abc")
    line = 'error while handling argument "--threads-batch": invalid stoi argument.'
    failure = name_failure(1, [line], own)
    assert failure.code == "extra_refused"
    assert failure.message == f"The engine refuses the extra arguments: {line}"
    assert "extra arguments" in failure.action
    stray = name_failure(1, ["error: invalid argument: words"], replace(PLAIN, extra="-tb 1 words"))
    assert stray.message == "The engine refuses the extra arguments: invalid argument: words."


@pytest.mark.parametrize("extra", ["", "--threads-batch 4", "--no-threads 4"])
def test_what_nobody_typed_is_the_engines_fault(extra: str) -> None:
    line = "error: invalid argument: --threads"
    assert name_failure(1, [line], replace(PLAIN, extra=extra)).code == "engine_cannot"


@pytest.mark.parametrize(
    "line",
    [
        "0.1 E llama_init_from_model: quantized V cache requires flash_attn to be enabled",
        "E llama_init_from_model: V cache type q4_0 with block size 32 does not divide n_embd_head_v=80",
    ],
)  # fmt: skip
def test_a_type_of_the_cache_that_cannot_be_had_is_not_the_file_s_fault(line: str) -> None:
    failure = name_failure(1, [line], replace(PLAIN, kv_type="q4_0"), loading=True)
    assert failure.code == "setting_conflict"
    assert failure.message == "m.gguf cannot keep its context's memory as q4_0 here."


TAKES_CONTEXT = (
    "0.1 I llama_context: flash_attn            = auto",
    "0.2 I llama_kv_cache:        CPU KV buffer size =  1536.00 MiB",
)


@pytest.mark.parametrize("line", TAKES_CONTEXT)
@pytest.mark.parametrize("status", [139, 137, 0xC0000005])
def test_a_crash_while_the_context_takes_its_memory_is_lack_of_memory(
    status: int, line: str
) -> None:
    assert name_failure(status, ["x", line], PLAIN, loading=True).code == "not_enough_memory"
    assert name_failure(status, ["x", line], PLAIN).code != "not_enough_memory"
    assert name_failure(status, [line, "x"], PLAIN, loading=True).code != "not_enough_memory"
    assert name_failure(1, [line], PLAIN, loading=True).code == "engine_exited"


def test_a_thread_without_room_for_its_stack_is_lack_of_memory() -> None:
    log = [
        "terminate called after throwing an instance of 'std::system_error'",
        "  what():  Resource temporarily unavailable",
    ]
    assert name_failure(134, log, PLAIN, loading=True).code == "not_enough_memory"


@pytest.mark.parametrize("status", [139, 137, 1])
def test_an_end_without_a_reason_after_lack_of_memory_is_more_of_it(status: int) -> None:
    failure = name_failure(status, [], PLAIN, loading=True)
    read_again = after_lack_of_memory(failure, PLAIN)
    assert read_again.code == "not_enough_memory"
    assert "shorter context" in read_again.action
    assert read_again.facts == failure.facts
    damaged = name_failure(1, ["E gguf_init_from_reader: failed to read key"], PLAIN)
    assert after_lack_of_memory(damaged, PLAIN) is damaged


@pytest.mark.parametrize(
    ("status", "word"), [(134, "crashed"), (1, "ended"), (None, "does not get")]
)
def test_what_happens_while_a_model_loads_may_be_the_file_s_fault(
    status: int | None, word: str
) -> None:
    failure = name_failure(status, [], PLAIN, loading=True)
    assert word in failure.message
    assert "m.gguf" in failure.message
    assert "damaged" in failure.action


def test_needed_and_free_memory_are_facts() -> None:
    lines = [
        "E ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 6144000000",
        "E llama_init_from_model: failed to initialize the context: failed to allocate buffer for kv cache",
        "E srv    load_model: failed to create_context with model 'm.gguf'",
    ]
    for log in (lines, [*lines[:1], *lines[2:]]):
        failure = name_failure(1, log, PLAIN, free=1000)
        assert failure.code == "not_enough_memory"
        assert (failure.facts["needed"], failure.facts["free"]) == (6144000000, 1000)


@pytest.mark.parametrize(
    ("line", "main"),
    [
        ("E alloc_tensor_range: failed to allocate CPU buffer of size 6144000000", True),
        ("E alloc_tensor_range: failed to allocate CUDA0 buffer of size 6144000000", False),
        ("E x: allocating 4500.00 MiB on device 0: cudaMalloc failed: out of memory", False),
        ("E ggml_aligned_malloc: insufficient memory (attempted to allocate  45.00 MB)", True),
        ("terminate called after throwing an instance of 'std::bad_alloc'", True),
        ("ggml_vulkan: Device memory allocation failed: ErrorOutOfDeviceMemory", False),
    ],
)
def test_free_main_memory_is_only_told_when_that_is_what_ran_out(line: str, main: bool) -> None:
    failure = name_failure(1, [line], PLAIN, free=1000)
    assert failure.code == "not_enough_memory"
    assert ("free" in failure.facts) == main


def test_trouble_while_fitting_memory_is_not_the_reason() -> None:
    log = [CTX_OTHER, FIT, "0.2 E srv: something nobody knows"]
    assert name_failure(1, log, DRAFTED).code == "engine_exited"
    measured = (
        "W operator(): failed to measure the memory of the extra model, fitting without it: x"
    )
    assert name_failure(139, [CTX_OTHER, measured], DRAFTED).code == "engine_crashed"


def test_what_happens_twice_counts_once_it_is_real() -> None:
    assert (
        name_failure(1, [CTX_OTHER, FIT, CTX_OTHER, "0.3 E srv: exiting"], PLAIN).code
        == "not_a_model"
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("E llama_model_load: error loading model: tensor 'x' data is not within the file bounds", "drafter_damaged"),
        ("E gguf_init_from_reader: invalid magic characters: 'hell', expected 'GGUF'", "drafter_damaged"),
        ("E llama_model_load: error loading model: unknown model architecture: 'q9'", "drafter_mismatch"),
        ("E ggml_backend_cpu_buffer: failed to allocate buffer of size 5", "not_enough_memory"),
        ("E srv: something nobody knows", "drafter_mismatch"),
    ],
)  # fmt: skip
def test_a_drafter_that_cannot_be_loaded_is_blamed(line: str, code: str) -> None:
    failure = name_failure(1, [line, DRAFT_FAILED], DRAFTED)
    assert failure.code == code
    assert failure.code in DRAFTER_TROUBLE


@pytest.mark.parametrize(
    "line",
    [
        "E srv load_model: failed to initialize speculative decoding context: draft model is not eagle3",
        "W llama_context: context type MTP requested but model doesn't contain MTP layers",
        "common/speculative.cpp:1376: GGML_ASSERT(n_embd == n_embd_dft) failed",
        "EAGLE3: target layer id 31 exceeds target n_layer 4",
        "common.cpp:2167: failed to add embedding at index 3 (error -3, n = 4)",
    ],
)  # fmt: skip
def test_a_drafter_that_does_not_fit_is_told(line: str) -> None:
    failure = name_failure(134, [line], DRAFTED)
    assert failure.code == "drafter_mismatch"
    assert "d.gguf" in failure.message
    assert failure.code in DRAFTER_TROUBLE
    assert name_failure(134, [line], PLAIN).code != "drafter_mismatch"


def test_a_crash_may_be_the_drafters_fault_but_a_taken_port_is_not() -> None:
    crash = name_failure(139, [], DRAFTED)
    assert crash.code in DRAFTER_TROUBLE
    taken = name_failure(1, ["couldn't bind HTTP server socket"], DRAFTED)
    assert taken.code not in DRAFTER_TROUBLE


def test_a_crash_with_an_old_reason_in_the_log_keeps_the_last_one() -> None:
    log = ["E error loading model: missing tensor 'a'", "E: failed to allocate buffer of size 7"]
    assert name_failure(1, log, PLAIN).code == "not_enough_memory"


def test_the_binary_itself_has_problems_too() -> None:
    assert "/x/llama-server" in engine_problem("engine_missing", Path("/x/llama-server")).message
    assert name_exit(3, ["?"], Path("x")).code == "not_an_engine"
    assert name_exit(128 + signal.SIGSEGV, [], Path("x")).code == "engine_crashed"


@pytest.mark.parametrize("status", [3, -9, *(128 + n for n in (signal.SIGSEGV, signal.SIGKILL))])
def test_an_engine_that_ends_when_it_is_asked_is_one_to_be_replaced(status: int) -> None:
    damaged = "E llama_model_load: error loading model: missing tensor 'output_norm.weight'"
    for problem in (
        name_exit(status, [damaged], Path("/x")),
        engine_problem("engine_hung", Path("/x")),
    ):
        assert problem.message.startswith("/x ")
        assert problem.action == "Choose another engine in Settings."


def test_names_stand_in_sentences_as_sentences_are_written() -> None:
    inside = LaunchConfig(Path("m.gguf"), 4096, SpecConfig(DrafterKind.MTP, None, 3))
    mismatch = ["E srv load_model: failed to initialize speculative decoding context: x"]
    assert drafter_refused([], inside).message == (
        "The engine does not use the drafter inside the model."
    )
    assert drafter_refused([], DRAFTED).message == "The engine does not use the drafter d.gguf."
    assert name_failure(1, mismatch, inside).message == (
        "The drafter inside the model does not fit m.gguf."
    )
    assert name_failure(126, [], PLAIN).message == "The engine cannot be run on this computer."


@given(st.none() | st.integers(-100, 1 << 32), st.lists(st.text()))
def test_every_end_has_a_sentence(status: int | None, log: list[str]) -> None:
    failure = name_failure(status, log, DRAFTED)
    assert failure.message.endswith(".")
    assert failure.action.endswith(".")
