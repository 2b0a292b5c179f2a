"""The command line of one launch, built from what the engine offers."""

import shlex
import subprocess
import sys

from slipstream.drafters.flags import spec_flags
from slipstream.drafters.kinds import DRAFTER_KV, DrafterKind
from slipstream.engine.config import LaunchConfig
from slipstream.engine.extra import check_extra
from slipstream.engine.spec import VERBOSITY, EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.planning.need import ENGINE_SPARE

PING_SECONDS = 5
"""How often a stream without tokens shows that the engine is alive."""

# Options are renamed from one build to the next: the first spelling that is offered is used.
_CACHE_K = ("--cache-type-k", "-ctk")
_CACHE_V = ("--cache-type-v", "-ctv")
_GPU_LAYERS = ("--gpu-layers", "--n-gpu-layers", "-ngl")
_DRAFT_CACHE_K = ("--spec-draft-type-k", "--cache-type-k-draft", "-ctkd")
_DRAFT_CACHE_V = ("--spec-draft-type-v", "--cache-type-v-draft", "-ctvd")
_TRACE = 4
"""The level of the log that tells what memory goes where; a higher one would write prompts."""
_MIB = 1 << 20
_NO_PAGE = ("--no-ui", "--no-webui")
_PROJECTOR = ("--mmproj", "-mm")


class _CommandLine:
    """Collects options that this engine offers."""

    def __init__(self, engine: EngineSpec) -> None:
        self.engine = engine
        self.words: list[str] = list(engine.command)

    def wants(self, *names: str, value: object = None) -> bool:
        """Add the first of ``names`` that is offered; returns whether one is."""
        name = next((name for name in names if name in self.engine.flags), None)
        if name is not None:
            self.words += [name] if value is None else [name, str(value)]
        return name is not None

    def needs(self, *names: str, value: object, wish: str) -> None:
        """Add an option.

        Raises: SlipstreamError ``engine_cannot``, if the engine does not offer it.
        """
        if not self.wants(*names, value=value):
            raise SlipstreamError(
                "engine_cannot",
                f"This engine cannot {wish}.",
                facts={"engine": self.engine.id, "option": names[0], "value": str(value)},
                action="Choose another engine in Settings, or leave this setting at its default.",
            )


def build_command(engine: EngineSpec, config: LaunchConfig, port: int) -> list[str]:
    """The command that serves ``config`` on loopback at ``port``.

    The key is not in it (``environment.py``). What matters is always said, not left to defaults
    that change between builds.

    Raises: SlipstreamError ``engine_cannot``, if the engine lacks something that is asked for;
        ``extra_refused``.
    """
    line = _CommandLine(engine)
    line.needs("--model", "-m", value=config.model, wish="open a model")
    line.needs("--host", value="127.0.0.1", wish="stay on this computer")
    line.needs("--port", value=port, wish="listen on a port")
    line.needs("--ctx-size", "-c", value=config.context, wish="set the context")
    line.needs("--parallel", "-np", value=config.slots, wish="limit parallel requests")
    for observing in ("--metrics", "--slots", "--offline"):
        line.wants(observing)
    line.wants(*_NO_PAGE)
    line.wants(*VERBOSITY, value=_TRACE)
    line.wants("--fit-target", "-fitt", value=ENGINE_SPARE // _MIB)
    line.wants("--sse-ping-interval", value=PING_SECONDS)
    _add_memory(line, config)
    _add_devices(line, config)
    _add_template(line, config)
    _add_speculation(line, config)
    return [*line.words, *check_extra(config.extra, engine)]


def shown_command(engine: EngineSpec, config: LaunchConfig, port: int) -> str:
    """The same command as one line for a shell; without a key, which a person may add.

    Raises: SlipstreamError, as ``build_command``.
    """
    words = build_command(engine, config, port)
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def offers_projector(engine: EngineSpec) -> bool:
    """Whether an engine can be given what lets a model read images."""
    return any(name in engine.flags for name in _PROJECTOR)


def _add_memory(line: _CommandLine, config: LaunchConfig) -> None:
    wish = f"keep the KV cache as {config.kv_type}"
    if config.kv_type != "f16":
        line.needs(*_CACHE_K, value=config.kv_type, wish=wish)
        line.needs(*_CACHE_V, value=config.kv_type, wish=wish)
    else:
        line.wants(*_CACHE_K, value=config.kv_type)
        line.wants(*_CACHE_V, value=config.kv_type)
    if config.batch is not None:
        line.needs("--batch-size", "-b", value=config.batch, wish="set the batch size")
    if config.micro_batch is not None:
        line.needs("--ubatch-size", "-ub", value=config.micro_batch, wish="set the micro-batch")
    if config.prompt_cache is not None:
        line.wants("--cache-ram", "-cram", value=config.prompt_cache // _MIB)
    if config.flash_attention != "auto":
        wish = "switch flash attention"
        line.needs("--flash-attn", "-fa", value=config.flash_attention, wish=wish)


def _add_devices(line: _CommandLine, config: LaunchConfig) -> None:
    if config.threads is not None:
        line.needs("--threads", "-t", value=config.threads, wish="set the number of threads")
    if config.gpu_layers is not None:
        line.needs(*_GPU_LAYERS, value=config.gpu_layers, wish="place layers on a GPU")
    if config.devices:
        chosen = ",".join(config.devices)
        line.needs("--device", "-dev", value=chosen, wish="choose among devices")


def _add_template(line: _CommandLine, config: LaunchConfig) -> None:
    if config.projector is not None:
        line.needs(*_PROJECTOR, value=config.projector, wish="read images")
    if config.chat_template is not None:
        # Without it a llama-server takes only the templates it has built in.
        line.wants("--jinja")
        wish = "use another chat template"
        line.needs("--chat-template", value=config.chat_template, wish=wish)
    if config.reasoning != "auto":
        wish = "switch thinking on or off"
        line.needs("--reasoning", "-rea", value=config.reasoning, wish=wish)


def _add_speculation(line: _CommandLine, config: LaunchConfig) -> None:
    line.words += spec_flags(config.spec, line.engine.flags, line.engine.spec_types)
    if config.spec.kind not in (None, DrafterKind.NGRAM):
        line.wants(*_DRAFT_CACHE_K, value=DRAFTER_KV)
        line.wants(*_DRAFT_CACHE_V, value=DRAFTER_KV)
