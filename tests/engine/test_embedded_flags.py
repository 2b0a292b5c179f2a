"""The embedded engine understands the flags of llama-server."""

import subprocess
from pathlib import Path

import pytest
import xllamacpp

from slipstream.engine.answers import parse_flags
from slipstream.engine.embedded_flags import FLAGS, InvalidArgument, help_text, parse
from slipstream.engine.spec import EngineSpec


def parsed(line: str) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    parse(line.split(), params)
    return params


def test_no_spelling_means_two_things() -> None:
    spellings = [name for flag in FLAGS for name in flag.names + flag.off]
    assert len(spellings) == len(set(spellings))
    assert set(spellings) < parse_flags(help_text())


def test_a_launch_with_a_drafter_reaches_the_engine() -> None:
    params = parsed(
        "-m a.gguf --host 127.0.0.1 --port 8123 -c 4096 -np 2 -ctk q8_0 -fa on -ngl all"
        " --metrics --no-slots --no-webui --spec-type draft-dflash,ngram-mod -md d.gguf"
        " --spec-draft-n-max 5 --draft-p-min 0.25 -ctkd bf16 --spec-ngram-mod-n-match 20"
    )
    assert params.model.path == "a.gguf"
    assert (params.port, params.n_ctx, params.n_parallel) == (8123, 4096, 2)
    assert params.hostnames == ["127.0.0.1"]
    assert params.cache_type_k == xllamacpp.ggml_type.GGML_TYPE_Q8_0
    assert params.flash_attn_type.name == "LLAMA_FLASH_ATTN_TYPE_ENABLED"
    assert params.n_gpu_layers == -2
    assert (params.endpoint_metrics, params.endpoint_slots, params.ui) == (True, False, False)
    spec = params.speculative
    assert [kind.name.removeprefix("COMMON_SPECULATIVE_TYPE_") for kind in spec.types] == [
        "NONE",
        "DRAFT_DFLASH",
        "NGRAM_MOD",
    ]
    assert spec.draft.mparams.path == "d.gguf"
    assert (spec.draft.n_max, spec.draft.p_min) == (5, 0.25)
    assert spec.draft.cache_type_k == xllamacpp.ggml_type.GGML_TYPE_BF16
    assert spec.ngram_mod.n_match == 20


def test_devices_are_chosen_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = xllamacpp.ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_GPU
    devices = [*xllamacpp.get_device_info(), {"name": "GPU0", "type": gpu}]
    monkeypatch.setattr(
        xllamacpp, "get_device_info", lambda: [*devices, {**devices[-1], "name": "GPU1"}]
    )
    assert parsed("-ngl all --device none").n_gpu_layers == 0
    one = parsed("-dev GPU1")
    assert (one.split_mode, one.main_gpu) == (xllamacpp.llama_split_mode.LLAMA_SPLIT_MODE_NONE, 1)
    both = parsed("--device GPU1,GPU0")
    assert both.split_mode == xllamacpp.llama_split_mode.LLAMA_SPLIT_MODE_LAYER
    with pytest.raises(InvalidArgument, match="invalid device: GPU7"):
        parsed("--device GPU7")


def test_template_and_thinking_are_told_together(tmp_path: Path) -> None:
    template = tmp_path / "t.jinja"
    template.write_text("{{ messages }}")
    params = parsed(
        f'--chat-template-file {template} --reasoning off --chat-template-kwargs {{"a":[1]}}'
    )
    assert params.chat_template == "{{ messages }}"
    assert params.enable_reasoning == 0
    assert params.default_template_kwargs == {"enable_thinking": "false", "a": "[1]"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--frobnicate", "error: invalid argument: --frobnicate"),
        ("-m", 'error while handling argument "-m": expected value'),
        ("-c many", 'error while handling argument "-c": '),
        ("-ctk q9_9", "'q9_9' is not one of f32, f16"),
        ("--spec-type draft-magic", "unknown speculative type: draft-magic"),
        ("-np 0", "must be at least 1"),
        ("-c 99999999999999999999", 'error while handling argument "-c"'),
        ("--chat-template-file /nothing/there", "/nothing/there"),
    ],
)
def test_what_it_cannot_understand_it_names(line: str, message: str) -> None:
    with pytest.raises(InvalidArgument) as told:
        parsed(line)
    assert message in str(told.value)


def test_it_fails_like_llama_server(embedded: EngineSpec) -> None:
    for line, message in (
        (["--frobnicate"], "error: invalid argument: --frobnicate"),
        ([], "--model is required"),
    ):
        run = subprocess.run(
            [*embedded.command, *line], capture_output=True, text=True, timeout=20, check=False
        )
        assert run.returncode == 1
        assert message in run.stderr
