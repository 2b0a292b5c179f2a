"""One command builder serves every engine: only what it offers, nothing twice."""

import shlex
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import xllamacpp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.engine.command import build_command, shown_command
from slipstream.engine.config import LaunchConfig
from slipstream.engine.embedded_flags import FLAGS, parse
from slipstream.engine.spec import EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.planning.need import DEVICE_SPARE, ENGINE_SPARE

MTP = SpecConfig(DrafterKind.MTP, None, 3)
DFLASH = SpecConfig(DrafterKind.DFLASH, Path("d.gguf"), 5, 0.1, with_ngram=True)
PLAIN_LAUNCH = LaunchConfig(Path("model with spaces.gguf"), 4096)

specs = st.sampled_from([SpecConfig(None), MTP, DFLASH, SpecConfig(DrafterKind.NGRAM, None, 8)])
launches = st.builds(
    LaunchConfig,
    model=st.just(Path("m.gguf")),
    context=st.integers(1, 1 << 20),
    spec=specs,
    slots=st.integers(1, 4),
    threads=st.none() | st.integers(1, 64),
    gpu_layers=st.none() | st.integers(0, 99),
    devices=st.sampled_from([(), ("CUDA0", "CUDA1")]),
    kv_type=st.sampled_from(["f16", "q8_0"]),
    batch=st.none() | st.integers(32, 4096),
    micro_batch=st.none() | st.integers(32, 4096),
    flash_attention=st.sampled_from(["auto", "on", "off"]),
    projector=st.none() | st.just(Path("p.gguf")),
    chat_template=st.none() | st.just("{{ messages }}"),
    reasoning=st.sampled_from(["auto", "on", "off"]),
    extra=st.sampled_from(["", "--no-warmup -tb 2"]),
)


def options(engine: EngineSpec, config: LaunchConfig) -> list[str]:
    """The arguments after the program itself."""
    return build_command(engine, config, 4321)[len(engine.command) :]


def without(engine: EngineSpec, *names: str) -> EngineSpec:
    gone = {name for flag in FLAGS if flag.names[0] in names for name in flag.names + flag.off}
    assert gone
    return replace(engine, flags=engine.flags - gone)


def test_what_matters_is_always_said(embedded: EngineSpec) -> None:
    words = options(embedded, replace(PLAIN_LAUNCH, spec=MTP))
    told = dict(pairwise(words))
    assert words[:2] == ["--model", "model with spaces.gguf"]
    assert (told["--host"], told["--port"]) == ("127.0.0.1", "4321")
    assert (told["--ctx-size"], told["--parallel"]) == ("4096", "1")
    assert (told["--spec-type"], told["--spec-draft-n-max"]) == ("draft-mtp", "3")
    assert (told["--spec-draft-type-k"], told["--spec-draft-type-v"]) == ("f16", "f16")
    assert told["--sse-ping-interval"] == "5"
    assert told["--verbosity"] == "4"
    assert {"--metrics", "--slots", "--offline", "--no-ui"} <= set(words)
    assert "--api-key" not in words
    plain = dict(pairwise(options(embedded, PLAIN_LAUNCH)))
    assert plain["--spec-type"] == "none"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(config=launches, renamed=st.sets(st.sampled_from(["--ctx-size", "--no-ui", "--parallel"])))
def test_only_offered_flags_and_each_at_most_once(
    embedded: EngineSpec, config: LaunchConfig, renamed: set[str]
) -> None:
    offered = (embedded.flags | {"--device"}) - renamed
    words = options(replace(embedded, flags=offered), config)
    meaning = {name: flag.names for flag in FLAGS for name in flag.names + flag.off}
    flags = [word for word in words if word in embedded.flags or word == "--device"]
    assert set(flags) <= offered
    distinct = {meaning.get(flag, (flag,)) for flag in flags}
    assert len(distinct) == len(flags)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(config=launches)
def test_the_embedded_engine_understands_every_launch(
    embedded: EngineSpec, config: LaunchConfig
) -> None:
    config = replace(config, devices=())
    params = xllamacpp.CommonParams()
    parse(options(embedded, config), params)
    assert params.n_ctx == config.context
    assert params.n_parallel == config.slots
    speculates = any(kind.value for kind in params.speculative.types)
    assert speculates == (config.spec.kind is not None)


@pytest.mark.parametrize(
    ("wish", "lacking"),
    [
        ({"spec": DFLASH}, "--spec-type"),
        ({"kv_type": "q8_0"}, "-ctk"),
        ({"threads": 2}, "-t"),
        ({"gpu_layers": 3}, "-ngl"),
        ({"projector": Path("p.gguf")}, "-mm"),
        ({"reasoning": "off"}, "-rea"),
        ({"chat_template": "x"}, "--chat-template"),
        ({"flash_attention": "on"}, "-fa"),
    ],
)
def test_a_wish_that_an_engine_cannot_grant_is_an_error(
    embedded: EngineSpec, wish: dict[str, object], lacking: str
) -> None:
    older = without(embedded, lacking)
    assert options(older, PLAIN_LAUNCH)
    with pytest.raises(SlipstreamError) as told:
        options(older, replace(PLAIN_LAUNCH, **wish))  # type: ignore[arg-type]
    assert told.value.code == "engine_cannot"


def test_the_devices_that_were_chosen_are_named(embedded: EngineSpec) -> None:
    words = options(embedded, replace(PLAIN_LAUNCH, devices=("CUDA0", "CUDA1")))
    assert words[words.index("--device") + 1] == "CUDA0,CUDA1"
    older = without(embedded, "--device", "-dev")
    with pytest.raises(SlipstreamError, match="cannot choose among devices"):
        options(older, replace(PLAIN_LAUNCH, devices=("CUDA0",)))


def test_extra_arguments_come_last_and_are_checked(embedded: EngineSpec) -> None:
    words = options(embedded, replace(PLAIN_LAUNCH, extra="--load-mode 'none'"))
    assert words[-2:] == ["--load-mode", "none"]
    with pytest.raises(SlipstreamError, match="--host would open the engine"):
        options(embedded, replace(PLAIN_LAUNCH, extra="--host 0.0.0.0"))


@pytest.mark.skipif(sys.platform == "win32", reason="quoting of a POSIX shell")
def test_the_command_can_be_copied_into_a_shell_and_has_no_key(embedded: EngineSpec) -> None:
    shown = shown_command(embedded, PLAIN_LAUNCH, 8080)
    assert "'model with spaces.gguf'" in shown
    assert "key" not in shown
    assert shlex.split(shown) == build_command(embedded, PLAIN_LAUNCH, 8080)


def test_every_launch_leaves_the_devices_what_plans_count_on(embedded: EngineSpec) -> None:
    words = options(embedded, PLAIN_LAUNCH)
    assert int(words[words.index("--fit-target") + 1]) << 20 == ENGINE_SPARE
    assert ENGINE_SPARE + (320 << 20) <= DEVICE_SPARE  # and what CUDA takes for itself
