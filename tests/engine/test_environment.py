"""Nothing in the user's environment misleads an engine."""

import sys
from pathlib import Path

import pytest

from slipstream.engine.environment import child_environment


def test_settings_of_other_llama_programs_do_not_reach_the_engine(tmp_path: Path) -> None:
    config = tmp_path / "config"
    (config / "llama.cpp").mkdir(parents=True)
    (config / "llama.cpp" / "config.ini").write_text("spec-type = ngram-mod")
    inherited = {
        "LLAMA_ARG_SPEC_TYPE": "ngram-mod",
        "LLAMA_API_KEY": "stranger",
        "GGML_CUDA_NO_PINNED": "1",
        "llama_arg_port": "1",
        "CUDA_VISIBLE_DEVICES": "1",
        "XDG_CONFIG_HOME": str(config),
    }
    environment = child_environment("ours", inherited)
    assert not (Path(environment["XDG_CONFIG_HOME"]) / "llama.cpp" / "config.ini").exists()
    assert environment["LLAMA_API_KEY"] == "ours"
    assert environment["CUDA_VISIBLE_DEVICES"] == "1"
    assert not {"LLAMA_ARG_SPEC_TYPE", "GGML_CUDA_NO_PINNED", "llama_arg_port"} & set(environment)


def test_proxies_and_secrets_stay_with_the_app() -> None:
    inherited = {"http_proxy": "p", "HTTPS_PROXY": "p", "HF_TOKEN": "secret", "PATH": "/bin"}
    environment = child_environment(None, inherited)
    assert environment["PATH"] == "/bin"
    assert not {"http_proxy", "HTTPS_PROXY", "HF_TOKEN", "LLAMA_API_KEY"} & set(environment)


def test_the_library_path_is_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    bundled = {"LD_LIBRARY_PATH": "/app/lib:/opt/cuda", "LD_LIBRARY_PATH_ORIG": "/opt/cuda"}
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert child_environment(None, bundled)["LD_LIBRARY_PATH"] == "/opt/cuda"
    del bundled["LD_LIBRARY_PATH_ORIG"]
    assert "LD_LIBRARY_PATH" not in child_environment(None, bundled)
    monkeypatch.setattr(sys, "frozen", False)
    assert child_environment(None, bundled)["LD_LIBRARY_PATH"] == "/app/lib:/opt/cuda"


def test_an_abort_does_not_start_a_debugger() -> None:
    assert child_environment(inherited={})["GGML_NO_BACKTRACE"] == "1"
