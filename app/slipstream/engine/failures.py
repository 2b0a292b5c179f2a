"""The names of what goes wrong with an engine, found in its exit status and its log.

The patterns are llama.cpp's own messages (``src/llama-model-loader.cpp``, ``ggml/src/gguf.cpp``,
``tools/server/server-context.cpp``, ``common/speculative.cpp`` and the backends).
"""

import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from slipstream.engine.config import LaunchConfig
from slipstream.engine.guardian import CANNOT_RUN, NOT_FOUND
from slipstream.engine.logtail import METADATA
from slipstream.errors import Fact, SlipstreamError

DRAFTER_TROUBLE = frozenset(
    {
        "drafter_damaged",
        "drafter_idle",
        "drafter_mismatch",
        "engine_crashed",
        "engine_exited",
        "engine_hung",
        "engine_killed",
        "not_enough_memory",
    }
)
"""Failures of a launch with a drafter after which the same launch may work with less of one."""

PROJECTOR_UNFIT = "projector_unfit"
"""A projector that the engine cannot load for this model."""

ENGINE_PROBLEMS = frozenset(
    {"engine_missing", "illegal_instruction", "missing_library", "not_an_engine", "not_executable"}
)
"""Failures that are the engine's own, whatever it is to run."""

_MIB = 1 << 20
_SHOWN_LINES = 5


@dataclass(frozen=True)
class _Words:
    """What a person is told; names in braces are filled in."""

    sentence: str
    action: str


_OTHER_ENGINE = "Choose another engine in Settings."
_WORDS = {
    "not_enough_memory": _Words(
        "There is not enough memory to run {model}.",
        "Choose a smaller quantization or a shorter context.",
    ),
    "unsupported_architecture": _Words(
        "This engine does not know the kind of model that is in {model} ({architecture}).",
        "Update the engine, or choose another model.",
    ),
    "damaged_file": _Words("{model} is damaged or incomplete.", "Download the file again."),
    "missing_shard": _Words("A part of {model} is missing.", "Download the missing parts."),
    "not_found": _Words("There is no file {model}.", "Choose a file that exists."),
    "not_a_model": _Words("{model} is not a model that can answer.", "Choose a model file."),
    "drafter_damaged": _Words(
        "The {drafter} is damaged, incomplete or not a drafter.", "Download the drafter again."
    ),
    "drafter_mismatch": _Words("The {drafter} does not fit {model}.", "Choose another drafter."),
    PROJECTOR_UNFIT: _Words(
        "The projector {projector}, which lets it read images, cannot be loaded for {model}.",
        "Load it without images, or download the projector again.",
    ),
    "template_unfit": _Words(
        "The chat template of {model} cannot be used.",
        "Choose another chat template in the settings of the model.",
    ),
    "drafter_idle": _Words("The engine does not use the {drafter}.", "Choose another drafter."),
    "illegal_instruction": _Words(
        "The engine needs an instruction that this computer's processor does not have.",
        "Choose an engine that is built for this processor.",
    ),
    "port_taken": _Words("Another program took the engine's network port.", "Try again."),
    "engine_killed": _Words(
        "The engine was ended from outside: by a person or a program, or by the system because"
        " memory ran out.",
        "Try again; if it happens again, close other programs or choose a smaller model.",
    ),
    "guardian_ended": _Words(
        "The helper process that watches over the engine was ended from outside, and the engine"
        " with it.",
        "Restart the engine.",
    ),
    "engine_hung": _Words("The engine does not answer any more.", "Restart the engine."),
    "engine_crashed": _Words("The engine crashed.", "Restart the engine."),
    "engine_exited": _Words("The engine ended unexpectedly.", "Restart the engine."),
    "engine_cannot": _Words("The engine does not know the option {option}.", _OTHER_ENGINE),
    "extra_refused": _Words(
        "The engine refuses the extra arguments: {words}.",
        "Correct the extra arguments in the settings of the model.",
    ),
    "setting_conflict": _Words(
        "{model} cannot keep its context's memory as {kv_type} here.",
        "Choose another type of the context's memory in the settings of the model.",
    ),
    "engine_missing": _Words("There is no engine at {engine}.", _OTHER_ENGINE),
    "not_an_engine": _Words("{engine} does not answer as an engine should.", _OTHER_ENGINE),
    "not_executable": _Words("{engine} cannot be run on this computer.", _OTHER_ENGINE),
    "missing_library": _Words(
        "The engine cannot start because the library {library} is missing.",
        "Install the library, or choose another engine in Settings.",
    ),
}

_DAMAGED_PERHAPS = "If it always happens, the file may be damaged: download it again."
_WORDS_WHILE_LOADING = {
    "engine_crashed": _Words("The engine crashed while it loaded {model}.", _DAMAGED_PERHAPS),
    "engine_exited": _Words("The engine ended while it loaded {model}.", _DAMAGED_PERHAPS),
    "engine_hung": _Words("The engine does not get {model} loaded.", _DAMAGED_PERHAPS),
}

_WORDS_WHEN_ASKED = {
    "engine_killed": _Words("{engine} was ended from outside before it answered.", _OTHER_ENGINE),
    "guardian_ended": _Words("{engine} was ended from outside before it answered.", _OTHER_ENGINE),
    "engine_hung": _Words("{engine} does not answer.", _OTHER_ENGINE),
    "engine_crashed": _Words("{engine} crashes when it is started.", _OTHER_ENGINE),
}
"""Of an engine that was only asked what it can do."""

# A named group becomes a fact and goes into the sentence; "bytes" and "mib" are what was needed.
_REASONS = tuple(
    (code, re.compile(pattern))
    for code, pattern in (
        ("port_taken", r"couldn't bind HTTP server socket"),
        ("engine_cannot", r"^error: (?P<words>invalid argument: (?P<option>\S+))"),
        ("engine_cannot", r'(?P<words>error while handling argument "(?P<option>[^"]+)".*)'),
        ("missing_library", r"loading shared libraries: (?P<library>[^:]+):"),
        ("missing_library", r"Library not loaded: (?P<library>\S+)"),
        ("not_enough_memory", r"failed to allocate \S* ?buffer of size (?P<bytes>\d+)"),
        ("not_enough_memory", r"insufficient memory \(attempted to allocate +(?P<mib>[\d.]+) MB"),
        ("not_enough_memory", r"allocating (?P<mib>[\d.]+) MiB on device .*[Mm]alloc failed"),
        ("not_enough_memory", r"failed to allocate +(?P<mib>[\d.]+) MB"),
        ("not_enough_memory", r"[Oo]ut of memory|OutOf(Device|Host)Memory|std::bad_alloc"),
        ("not_enough_memory", r"unable to allocate \S+ buffer|failed to allocate .*buffer"),
        ("not_enough_memory", r"failed to reserve initial output buffer"),
        # No room for the stack of a thread.
        ("not_enough_memory", r"(?:what\(\)|tor failed): +Resource temporarily unavailable"),
        ("setting_conflict", r"quantized V cache|[KV] cache type \S+ with block size"),
        (
            "unsupported_architecture",
            r"(?:unknown|unsupported) model architecture: '(?P<architecture>[^']*)'",
        ),
        ("missing_shard", r"failed to load GGUF split|invalid split count"),
        ("not_found", r"failed to open GGUF file .*No such file"),
        ("not_a_model", r"invalid magic characters|failed to read magic"),
        ("not_a_model", r"CLIP cannot be used as main model"),
        ("not_a_model", r"requires ctx_other to be set"),
        ("damaged_file", r"not within the file bounds|corrupted (?:model|or incomplete)"),
        ("damaged_file", r"gguf_init_from_\w+: .*(?:failed to read|exceeds|invalid|must be)"),
        ("damaged_file", r"missing tensor |has wrong shape|has invalid data|is duplicated"),
        ("damaged_file", r"error loading model (?:hyperparameters|vocabulary)"),
        (PROJECTOR_UNFIT, r"failed to load multimodal model"),
        ("template_unfit", r"chat template parsing error|failed to initialize chat template"),
        ("drafter_mismatch", r"failed to initialize speculative decoding context"),
        ("drafter_mismatch", r"model doesn't contain MTP layers|failed to create MTP context"),
        ("drafter_mismatch", r"(?:EAGLE3|DFlash|DSpark).*(?:requires|exceeds|not extracted)"),
        ("drafter_mismatch", r"embedding size mismatch|failed to add embedding at index"),
        ("drafter_mismatch", r"speculative\.cpp:\d+: "),
    )
)
# It was main memory that ran out, not a GPU's.
_MAIN_MEMORY = re.compile(
    r"failed to allocate CPU|_cpu_buffer|attempted to allocate|unable to allocate CPU|bad_alloc"
)
# What the engine says last before memory for the context is taken.
_TAKING_CONTEXT = re.compile(r"\bllama_(?:context|kv_cache\w*|memory_\w+): ")
_CRASHES = frozenset({"engine_crashed", "engine_killed"})
# The draft file could not be loaded: the reason before it is about the drafter.
_DRAFT_FILE = re.compile(r"failed to load draft model")
_OF_DRAFTER = {
    "damaged_file": "drafter_damaged",
    "missing_shard": "drafter_damaged",
    "not_found": "drafter_damaged",
    "not_a_model": "drafter_damaged",
    "unsupported_architecture": "drafter_mismatch",
}
# While the engine measures memory it tries loads that may fail; the line before is about these.
_FITTING = re.compile(
    r"trying to fit params to free device memory|failed to measure the memory of the extra model"
)

_WINDOWS_STATUS = {
    0xC000001D: "illegal_instruction",
    0xC0000005: "engine_crashed",
    0xC0000409: "engine_crashed",
    0xC0000135: "missing_library",
}
_SIGNALS = {
    "SIGILL": "illegal_instruction",
    "SIGSEGV": "engine_crashed",
    "SIGABRT": "engine_crashed",
    "SIGBUS": "engine_crashed",
    "SIGFPE": "engine_crashed",
    "SIGKILL": "engine_killed",
}


def name_failure(
    status: int | None,
    log: Sequence[str],
    config: LaunchConfig,
    free: int | None = None,
    *,
    loading: bool = False,
) -> SlipstreamError:
    """The named failure of a launch or of a running engine.

    Args:
        status: how it ended, as ``Child.status`` tells it; None if it hangs.
        log: the engine's lines that may hold the reason, in order.
        config: what it ran.
        free: bytes of main memory that are free, if known.
        loading: it was not ready yet.
    """
    code, facts = _find_reason(status, log)
    if code == "engine_cannot" and _is_extra(str(facts["option"]), config):
        code = "extra_refused"
    elif loading and code in _CRASHES and log and _TAKING_CONTEXT.search(log[-1]):
        code = "not_enough_memory"
    if config.spec.kind is not None and any(_DRAFT_FILE.search(line) for line in log):
        code = _OF_DRAFTER.get(code, code)
        code = "drafter_mismatch" if code == "engine_exited" else code
    elif code == "drafter_mismatch" and config.spec.kind is None:
        code = "engine_exited"
    if code == "not_enough_memory" and free and any(map(_MAIN_MEMORY.search, log)):
        facts["free"] = free
    facts |= {"model": str(config.model)}
    return _error(code, facts, config, loading=loading)


def after_lack_of_memory(failure: SlipstreamError, config: LaunchConfig) -> SlipstreamError:
    """What a failure means where a launch that needs more memory failed for lack of it.

    Args:
        failure: of a launch that needs less.
        config: what that was to run.
    """
    if failure.code not in _CRASHES | {"engine_exited"}:
        return failure
    return _error("not_enough_memory", dict(failure.facts), config)


def drafter_refused(log: Sequence[str], config: LaunchConfig) -> SlipstreamError:
    """The failure of a launch that runs, but without the speculation that was asked for."""
    code, facts = _find_reason(None, log)
    code = code if code in ("drafter_mismatch", "not_enough_memory") else "drafter_idle"
    return _error(code, facts | {"model": str(config.model)}, config)


def name_exit(status: int, log: Sequence[str], engine: Path) -> SlipstreamError:
    """The named failure of an engine that was only asked what it can do."""
    code, facts = _find_reason(status, log)
    if code not in ENGINE_PROBLEMS | _WORDS_WHEN_ASKED.keys():
        code = "not_an_engine"  # it ended, or told of a model though it was given none
    return _problem(code, facts | {"engine": str(engine)})


def engine_problem(code: str, engine: Path) -> SlipstreamError:
    """A problem of the engine's binary itself."""
    return _problem(code, {"engine": str(engine)})


def _find_reason(status: int | None, log: Sequence[str]) -> tuple[str, dict[str, Fact]]:
    facts: dict[str, Fact] = {"status": status, "log": "\n".join(log[-_SHOWN_LINES:])}
    by_status = _code_of_status(status)
    if by_status in ("illegal_instruction", "guardian_ended"):
        return by_status, facts
    matches = list(_matches(log))
    if not matches:
        return by_status, facts
    code = matches[0][0]
    for same, told in matches:
        if same == code and told:
            return code, facts | told
    return code, facts


def _matches(log: Sequence[str]) -> Iterator[tuple[str, dict[str, Fact]]]:
    """The reasons found in the log, the last one first: what came before was survived."""
    for line in reversed(list(_without_fitting(log))):
        if METADATA in line:
            continue
        for code, pattern in _REASONS:
            if found := pattern.search(line):
                yield code, _facts_of(found.groupdict())
                break


def _is_extra(option: str, config: LaunchConfig) -> bool:
    """Whether a person typed what the engine refuses; it takes an underscore for a dash."""
    typed = config.extra.replace("_", "-")
    return bool(re.search(rf"(?<![\w-]){re.escape(option.replace('_', '-'))}(?![\w-])", typed))


def _code_of_status(status: int | None) -> str:
    if status is None:
        return "engine_hung"
    if status in (CANNOT_RUN, NOT_FOUND):
        return "not_executable"
    if status in _WINDOWS_STATUS:
        return _WINDOWS_STATUS[status]
    if status < 0:
        return "guardian_ended"
    try:
        return _SIGNALS.get(signal.Signals(status - 128).name, "engine_exited")
    except ValueError:
        return "engine_exited"


def _without_fitting(log: Sequence[str]) -> Iterator[str]:
    for line, following in zip(log, [*log[1:], ""], strict=False):
        if not _FITTING.search(line) and not _FITTING.search(following):
            yield line


def _facts_of(groups: dict[str, str | None]) -> dict[str, Fact]:
    if size := groups.get("bytes"):
        return {"needed": int(size)}
    if mib := groups.get("mib"):
        return {"needed": int(float(mib) * _MIB)}
    return dict(groups)


def _error(
    code: str, facts: dict[str, Fact], config: LaunchConfig, *, loading: bool = False
) -> SlipstreamError:
    words = (loading and _WORDS_WHILE_LOADING.get(code)) or _WORDS[code]
    names = {"model": config.model.name, "drafter": _drafter_name(config)}
    projector = config.projector.name if config.projector else ""
    return _told(code, words, facts, **names, projector=projector, kv_type=config.kv_type)


def _problem(code: str, facts: dict[str, Fact]) -> SlipstreamError:
    return _told(code, _WORDS_WHEN_ASKED.get(code) or _WORDS[code], facts)


def _told(code: str, words: _Words, facts: dict[str, Fact], **names: str) -> SlipstreamError:
    found = {
        "architecture": str(facts.get("architecture")),
        "engine": str(facts.get("engine", "The engine")),
        "library": str(facts.get("library", "it needs")),
        "option": str(facts.get("option")),
        "words": str(facts.get("words")).rstrip("."),
    }
    return SlipstreamError(
        code, words.sentence.format_map(found | names), facts=facts, action=words.action
    )


def _drafter_name(config: LaunchConfig) -> str:
    if config.spec.drafter is None:
        return "drafter inside the model"
    return f"drafter {config.spec.drafter.name}"
