"""The flags of the embedded engine: one table that parses them, explains them and applies them.

Names, aliases and meanings are those of llama.cpp's ``llama-server`` (``common/arg.cpp``), so one
command builder and one reader of ``--help`` serve both.
"""

from collections.abc import Sequence

from slipstream.engine.embedded_values import (
    KV_TYPES,
    SPEC_TYPES,
    Convert,
    Flag,
    Params,
    add_keys,
    add_spec_types,
    add_template_values,
    choose_devices,
    comma_list,
    file_text,
    flash,
    into,
    kv_type,
    layers,
    leave_free,
    load_mode,
    numbers,
    positive,
    reasoning_format,
    set_reasoning,
    switch,
)


class InvalidArgument(Exception):  # noqa: N818 - llama-server's own word
    """The command line cannot be understood; the text is what ``llama-server`` would print."""


def parse(argv: Sequence[str], params: Params) -> None:
    """Write a command line into ``params``.

    Raises: InvalidArgument, for an unknown flag, a missing or an impossible value.
    """
    by_name = {name: (flag, "1") for flag in FLAGS for name in flag.names}
    by_name |= {name: (flag, "0") for flag in FLAGS for name in flag.off}
    words = iter(argv)
    for word in words:
        if word not in by_name:
            raise InvalidArgument(f"error: invalid argument: {word}")
        flag, value = by_name[word]
        if flag.hint:
            given = next(words, None)
            if given is None:
                raise InvalidArgument(f'error while handling argument "{word}": expected value')
            value = given
        try:
            flag.apply(params, value)
        except (ValueError, KeyError, TypeError, OverflowError, OSError, RuntimeError) as error:
            raise InvalidArgument(f'error while handling argument "{word}": {error}') from error


def help_text() -> str:
    """The options in the layout of ``llama-server --help``."""
    lines = []
    for flag in (*_INFORMATION, *FLAGS):
        spellings = ", ".join(flag.names + flag.off) + (f" {flag.hint}" if flag.hint else "")
        gap = "\n" + " " * 40 if len(spellings) > 37 else " " * (40 - len(spellings))
        lines.append(spellings + gap + flag.help)
    return "\n".join(lines)


def _nothing(params: Params, text: str) -> None:
    """Such a flag asks for something else than to serve; ``embedded.main`` looks for it."""


_INFORMATION = (
    Flag(("-h", "--help"), "", "print usage and exit", _nothing),
    Flag(("--version",), "", "show version and build info", _nothing),
    Flag(("--list-devices",), "", "print list of available devices and exit", _nothing),
    Flag(("--dry-run",), "", "print what memory the model would take and exit", _nothing),
)
_KV_HELP = f"allowed values: {', '.join(KV_TYPES)}"
_DRAFT = "speculative.draft."


def _value(names: str, hint: str, field: str, convert: Convert, help: str) -> Flag:
    return Flag(tuple(names.split()), hint, help, into(field, convert))


def _on_off(names: str, off: str, field: str, help: str) -> Flag:
    return Flag(tuple(names.split()), "", help, into(field, switch), tuple(off.split()))


def _ngram_map(kind: str, field: str) -> tuple[Flag, ...]:
    start, path = f"--spec-{kind}-", f"speculative.{field}."
    return (
        _value(f"{start}size-n", "N", f"{path}size_n", positive, "length of the looked-up n-gram"),
        _value(f"{start}size-m", "N", f"{path}size_m", positive, "length of the draft"),
        _value(f"{start}min-hits", "N", f"{path}min_hits", positive, "hits before it drafts"),
    )


# fmt: off
FLAGS: tuple[Flag, ...] = (
    _value("-m --model", "FNAME", "model.path", str, "model path to load"),
    _value("--host", "HOST", "hostnames", comma_list, "IP addresses to listen on"),
    _value("--port", "PORT", "port", int, "port to listen"),
    Flag(("--api-key",), "KEY", "API keys, comma-separated (env: LLAMA_API_KEY)", add_keys),
    _value("-c --ctx-size", "N", "n_ctx", int, "size of the prompt context (0 = from model)"),
    _value("-b --batch-size", "N", "n_batch", int, "logical maximum batch size"),
    _value("-ub --ubatch-size", "N", "n_ubatch", int, "physical maximum batch size"),
    _value("-t --threads", "N", "cpuparams.n_threads", int, "CPU threads for generation"),
    _value("-tb --threads-batch", "N", "cpuparams_batch.n_threads", int, "CPU threads for prompts"),
    _value("-ngl --gpu-layers --n-gpu-layers", "N", "n_gpu_layers", layers,
           "layers to store in VRAM: a number, 'auto', or 'all'"),
    Flag(("-dev", "--device"), "<dev1,dev2,..>", "devices to use (none = only the processor)",
         choose_devices),
    _value("-ctk --cache-type-k", "TYPE", "cache_type_k", kv_type, _KV_HELP),
    _value("-ctv --cache-type-v", "TYPE", "cache_type_v", kv_type, _KV_HELP),
    _value("-np --parallel", "N", "n_parallel", positive, "number of server slots"),
    _value("-fa --flash-attn", "[on|off|auto]", "flash_attn_type", flash, "use Flash Attention"),
    _value("-fit --fit", "[on|off]", "fit_params", switch, "fit unset arguments to device memory"),
    Flag(("-fitt", "--fit-target"), "MiB", "memory that fitting leaves free on every device",
         leave_free),
    _value("-lm --load-mode", "MODE", "load_mode", load_mode,
           "auto, none, mmap, mlock, mmap+mlock, dio"),
    _value("-mm --mmproj", "FILE", "mmproj.path", str, "path to a multimodal projector file"),
    _on_off("--mmproj-offload", "--no-mmproj-offload", "mmproj_use_gpu", "projector on the GPU"),
    _on_off("-cb --cont-batching", "-nocb --no-cont-batching", "cont_batching",
            "continuous batching"),
    _value("-cram --cache-ram", "N", "cache_ram_mib", int,
           "MiB of prompts kept in memory (-1 = no limit, 0 = none)"),
    _on_off("--warmup", "--no-warmup", "warmup", "run once empty before serving"),
    _on_off("--offline", "", "offline", "never use the network"),
    _on_off("--jinja", "--no-jinja", "use_jinja", "use the Jinja engine for chat templates"),
    _value("--chat-template", "JINJA_TEMPLATE", "chat_template", str, "custom chat template"),
    _value("--chat-template-file", "JINJA_TEMPLATE_FILE", "chat_template", file_text,
           "file of a custom chat template"),
    Flag(("--chat-template-kwargs",), "STRING", "JSON object given to the chat template",
         add_template_values),
    Flag(("-rea", "--reasoning"), "[on|off|auto]", "ask the model to think", set_reasoning),
    _value("--reasoning-format", "FORMAT", "reasoning_format", reasoning_format,
           "none, auto, deepseek, deepseek-legacy"),
    _value("--reasoning-budget", "N", "sampling.reasoning_budget_tokens", int,
           "token budget for thinking (-1 = no limit)"),
    _on_off("--metrics", "", "endpoint_metrics", "enable the metrics endpoint"),
    _on_off("--slots", "--no-slots", "endpoint_slots", "expose the slots endpoint"),
    _on_off("--props", "", "endpoint_props", "let POST /props change properties"),
    _on_off("--ui --webui", "--no-ui --no-webui", "ui", "serve the web page"),
    _value("--sse-ping-interval", "N", "sse_ping_interval", int,
           "seconds between pings of a stream (-1 = never)"),
    _value("-lv --verbosity --log-verbosity", "N", "verbosity", int,
           "0 generic, 1 error, 2 warning, 3 info, 4 trace, 5 debug"),
    Flag(("--spec-type",), ",".join(SPEC_TYPES), "types of speculative decoding", add_spec_types),
    _value("--spec-draft-model -md --model-draft", "FNAME", f"{_DRAFT}mparams.path", str,
           "draft model"),
    _value("--spec-draft-n-max", "N", f"{_DRAFT}n_max", positive, "most tokens to draft"),
    _value("--spec-draft-n-min", "N", f"{_DRAFT}n_min", int, "discard shorter drafts"),
    _value("--spec-draft-p-min --draft-p-min", "P", f"{_DRAFT}p_min", float,
           "stop drafting below this probability"),
    _value("--spec-draft-p-split --draft-p-split", "P", f"{_DRAFT}p_split", float,
           "split probability"),
    _value("--spec-draft-ngl -ngld --gpu-layers-draft --n-gpu-layers-draft", "N",
           f"{_DRAFT}n_gpu_layers", layers, "draft layers to store in VRAM"),
    _value("--spec-draft-device -devd --device-draft", "<dev1,dev2,..>", f"{_DRAFT}devices", str,
           "devices of the draft model"),
    _value("--spec-draft-type-k -ctkd --cache-type-k-draft", "TYPE", f"{_DRAFT}cache_type_k",
           kv_type, _KV_HELP),
    _value("--spec-draft-type-v -ctvd --cache-type-v-draft", "TYPE", f"{_DRAFT}cache_type_v",
           kv_type, _KV_HELP),
    _value("--spec-draft-threads -td --threads-draft", "N", f"{_DRAFT}cpuparams.n_threads", int,
           "CPU threads of the draft model"),
    _value("--spec-draft-threads-batch -tbd --threads-batch-draft", "N",
           f"{_DRAFT}cpuparams_batch.n_threads", int, "its CPU threads for prompts"),
    _value("--spec-draft-override-tensor -otd --override-tensor-draft",
           "<tensor name pattern>=<buffer type>,...", f"{_DRAFT}tensor_buft_overrides", str,
           "buffer types of draft tensors"),
    _on_off("--spec-draft-backend-sampling", "--no-spec-draft-backend-sampling",
            f"{_DRAFT}backend_sampling", "sample drafts on the device"),
    _value("--spec-ngram-mod-n-match", "N", "speculative.ngram_mod.n_match", positive,
           "lookup length"),
    _value("--spec-ngram-mod-n-min", "N", "speculative.ngram_mod.n_min", int, "shortest draft"),
    _value("--spec-ngram-mod-n-max", "N", "speculative.ngram_mod.n_max", int, "longest draft"),
    *_ngram_map("ngram-simple", "ngram_simple"),
    *_ngram_map("ngram-map-k", "ngram_map_k"),
    *_ngram_map("ngram-map-k4v", "ngram_map_k4v"),
    _value("-lcs --lookup-cache-static", "FNAME", "speculative.ngram_cache.lookup_cache_static",
           str, "n-gram lookup file that is only read"),
    _value("-lcd --lookup-cache-dynamic", "FNAME", "speculative.ngram_cache.lookup_cache_dynamic",
           str, "n-gram lookup file that is updated"),
    _value("--spec-synth-len", "L", "speculative.synth_len", float,
           "synthetic mean accepted length (benchmarking only)"),
    _value("--spec-synth-rates", "P0,P1,...", "speculative.synth_rates", numbers,
           "synthetic acceptance rates (benchmarking only)"),
)
# fmt: on
