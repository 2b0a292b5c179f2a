"""Extra arguments: experts get what they type, but nothing that others rely on."""

import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slipstream.drafters.kinds import DrafterKind, SpecConfig
from slipstream.engine.command import build_command
from slipstream.engine.config import LaunchConfig
from slipstream.engine.embedded_flags import FLAGS
from slipstream.engine.extra import check_extra
from slipstream.engine.spec import EngineSpec
from slipstream.errors import SlipstreamError

ALLOWED = ("--reasoning-budget", "-fit", "--load-mode", "-tb", "--spec-draft-ngl", "--no-warmup")
FORBIDDEN = (
    *("--host", "--port", "--api-key", "--api-key-file", "--ssl-key-file", "--path", "--rpc"),
    *("--tools", "--agent", "--ui-mcp-proxy", "--mcp-servers-json", "--props", "--cors-origins"),
    *("-m", "--model", "-mu", "--model-url", "-hf", "--hf-repo", "-hfd", "--hf-repo-draft", "-dr"),
    *("--spec-draft-hf", "--mmproj-url", "--models-dir", "--gpt-oss-20b-default", "-lcd"),
    *("--slot-save-path", "--log-file", "--lookup-cache-dynamic", "-np", "--parallel", "--metrics"),
    *("--no-slots", "--offline", "-v", "-lv", "-h", "--help", "--list-devices", "--dry-run"),
    *("-c", "--ctx-size", "-t", "-ngl", "-ctk", "-ctv", "-b", "-ub", "-fa", "-mm", "--no-mmproj"),
    *("--chat-template", "-rea", "--spec-type", "-md", "--spec-draft-n-max", "--draft-max"),
    *("--draft-p-min", "--spec-draft-p-min", "--sleep-idle-seconds"),
    *("--spec-synth-len", "--spec-synth-rates"),
)
numbers = st.integers(-1, 99).map(str)
values = numbers | st.text("abcXYZ019 ./\\'\"$&;|=", max_size=12).filter(
    lambda text: not text.startswith("-")
)


def refusal(text: str, engine: EngineSpec) -> SlipstreamError:
    with pytest.raises(SlipstreamError) as raised:
        check_extra(text, engine)
    assert raised.value.code == "extra_refused"
    assert raised.value.message.endswith(".")
    assert raised.value.action.endswith(".")
    return raised.value


def test_nothing_is_nothing(embedded: EngineSpec) -> None:
    assert check_extra(" \n ", embedded) == ()


def test_options_and_values_come_through_as_a_shell_reads_them(embedded: EngineSpec) -> None:
    text = "--reasoning-budget -1\n--chat-template-kwargs '{\"a\": [1, 2]}' --no-warmup"
    assert check_extra(text, embedded) == (
        *("--reasoning-budget", "-1"),
        *("--chat-template-kwargs", '{"a": [1, 2]}'),
        "--no-warmup",
    )


def test_what_the_app_sets_is_refused_and_the_setting_is_named(embedded: EngineSpec) -> None:
    failure = refusal("-tb 4 --ctx-size 9", embedded)
    assert failure.message == "The extra argument --ctx-size is set by the app."
    assert failure.action == "Use “Context” instead."


def test_what_would_open_the_engine_says_so(embedded: EngineSpec) -> None:
    assert "open the engine to other programs" in refusal("--host 0.0.0.0", embedded).message
    assert "write files" in refusal("--lookup-cache-dynamic x.bin", embedded).message
    assert "load a model from somewhere else" in refusal("-hf a/b", embedded).message


def test_nobody_can_make_up_what_is_accepted(embedded: EngineSpec) -> None:
    for made_up in ("--spec-synth-len 5", "--spec-synth-rates 1,1", "--spec_synth_len 5"):
        assert "only pretend that drafts are accepted" in refusal(made_up, embedded).message


def test_an_option_of_another_engine_is_named(embedded: EngineSpec) -> None:
    assert refusal("--swa-fulll", embedded).message == (
        "The extra argument --swa-fulll is not known to this engine."
    )
    assert "“=”" in refusal("--reasoning-budget=5", embedded).message
    assert refusal("--load-mode 'mmap", embedded).action == (
        "Close every quotation mark that is opened."
    )


def test_the_option_that_a_hint_names_is_let_through(embedded: EngineSpec) -> None:
    before, _, named = refusal("20", embedded).action.removesuffix(".").partition("such as ")
    assert before == "Begin with an option, "
    assert check_extra(named, embedded) == tuple(named.split())
    assert len(named.split()) == 2


def test_a_llama_server_reads_underscores_as_dashes_and_so_do_we(embedded: EngineSpec) -> None:
    assert check_extra("--load_mode none", embedded) == ("--load-mode", "none")
    assert "--api-key" in refusal("--api_key x", embedded).message


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.tuples(st.sampled_from(ALLOWED), st.none() | values)))
@pytest.mark.skipif(sys.platform == "win32", reason="quoting of a POSIX shell")
def test_allowed_options_come_through_unchanged(
    embedded: EngineSpec, words: list[tuple[str, str | None]]
) -> None:
    flat = [word for pair in words for word in pair if word is not None]
    assert check_extra(shlex.join(flat), embedded) == tuple(flat)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.lists(st.sampled_from(ALLOWED)),
    forbidden=st.sampled_from(FORBIDDEN),
    underscores=st.booleans(),
    ending=st.sampled_from(["", " 1", "=1", " 'a b'"]),
)
def test_nothing_forbidden_gets_through_in_any_spelling(
    embedded: EngineSpec, before: list[str], forbidden: str, underscores: bool, ending: str
) -> None:
    name = forbidden
    if underscores and name.startswith("--"):
        name = "--" + name[2:].replace("-", "_")
    # As if the engine knew it: what an engine offers must not matter.
    generous = EngineSpec("x", "llama-server", embedded.path, (), flags=_every_flag(embedded))
    failure = refusal(" ".join([*before, name]) + ending, generous)
    assert failure.facts["option"] == forbidden


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text() | st.text(st.sampled_from(" -=_'\"\\\nabcmht1\0"), max_size=30))
def test_any_text_is_read_or_refused(embedded: EngineSpec, text: str) -> None:
    try:
        words = check_extra(text, embedded)
    except SlipstreamError:
        return
    options = {word for word in words if word.startswith("-") and word[1:2].isalpha()}
    assert options <= embedded.flags


def test_every_option_of_the_app_itself_is_refused(embedded: EngineSpec) -> None:
    """What the app says of this engine's options cannot be said again, in any spelling."""
    full = LaunchConfig(
        Path("m.gguf"), 4096, SpecConfig(DrafterKind.DFLASH, Path("d.gguf"), 5, with_ngram=True),
        threads=1, gpu_layers=1, kv_type="q8_0", batch=64, micro_batch=64, flash_attention="on",
        prompt_cache=1 << 30, projector=Path("p.gguf"), chat_template="x", reasoning="on",
    )  # fmt: skip
    said = set(build_command(embedded, full, 1)) & embedded.flags - {"--jinja"}
    by_name = {name: flag.names + flag.off for flag in FLAGS for name in flag.names + flag.off}
    assert len(said) > 20
    for spelling in {other for name in said for other in by_name[name]}:
        refusal(spelling, embedded)


def _every_flag(embedded: EngineSpec) -> frozenset[str]:
    return embedded.flags | frozenset(FORBIDDEN)
