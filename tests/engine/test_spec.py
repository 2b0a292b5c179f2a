"""Learning from a binary what it can do, whatever the binary does."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bad_engines import BadEngine
from slipstream import settings
from slipstream.engine import spec as spec_module
from slipstream.engine.spec import (
    EngineSpec,
    chosen,
    find_engines,
    fingerprint,
    learn,
    read_hardware,
)
from slipstream.errors import SlipstreamError
from slipstream.paths import cache_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs with a shebang line")

GOOD = """
answers = {
    "--help": "-m, --model FNAME\\n--port N\\n--list-devices\\n--spec-type none,draft-mtp",
    "--version": "version: 7 (abc)",
    "--list-devices": "Available devices:\\n  CUDA0: Card (2048 MiB, 1024 MiB free)",
}
print(answers[sys.argv[1]])
open(__file__ + ".asked", "a").write(sys.argv[1])
"""


def problem_of(path: Path) -> SlipstreamError:
    problem = learn("llama-server", path).problem
    assert problem
    return problem


def test_the_embedded_engine_tells_what_it_can_do(embedded: EngineSpec) -> None:
    assert embedded.id == embedded.kind == "embedded"
    assert embedded.path.suffix in {".so", ".pyd"}
    assert embedded.build.startswith("xllamacpp 20")
    expected = {"--model", "--ctx-size", "--spec-type", "--metrics", "--verbosity", "--dry-run"}
    assert expected <= embedded.flags
    assert {"draft-mtp", "draft-dflash", "draft-eagle3"} <= set(embedded.spec_types)


def test_a_llama_server_is_learnt_from_its_answers(bad_engine: BadEngine) -> None:
    path = bad_engine(GOOD)
    spec = learn("llama-server", path)
    assert spec.ok
    assert (spec.id, spec.build) == (str(path), "7 (abc)")
    assert spec.flags == {"-m", "--model", "--port", "--list-devices", "--spec-type"}
    assert spec.spec_types == ("draft-mtp",)


@pytest.mark.parametrize(("level", "offered"), [("4: trace", True), ("4: debug", False)])
def test_an_engine_whose_log_would_hold_prompts_is_not_asked_for_more(
    bad_engine: BadEngine, level: str, offered: bool
) -> None:
    verbose = f"-lv, --verbosity, --log-verbosity N  threshold\\n - {level}\\n--port N"
    path = bad_engine(GOOD.replace("--port N", verbose))
    assert ("--verbosity" in learn("llama-server", path).flags) is offered


def test_what_it_runs_on_is_never_remembered(bad_engine: BadEngine) -> None:
    """A driver that was installed, a card that was pulled: its own files do not change."""
    path = bad_engine(GOOD)
    spec = learn("llama-server", path)
    assert read_hardware(spec).backends == ("CPU", "CUDA")
    assert read_hardware(spec).devices[0].free == 1024 << 20
    stat = path.stat()
    path.write_text(path.read_text().replace("CUDA0", "CUDA7"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert read_hardware(learn("llama-server", path)).devices[0].id == "CUDA7"


@pytest.mark.parametrize(
    ("content", "flag"),
    [
        (b"ggml_backend_cpu_reg\0ggml_backend_dev_backend_reg\0", False),
        (b"ggml_backend_cpu_reg\0ggml_backend_device_register\0", False),
        (b"ggml_backend_cpu_reg\0ggml_backend_cuda_reg\0", True),
        (b"a file without names", True),
    ],
)  # fmt: skip
def test_the_embedded_engine_is_asked_for_devices_unless_it_was_built_for_the_cpu_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, flag: bool
) -> None:
    """A wheel with other backends is another file of the same name."""
    binary = tmp_path / "xllamacpp.abi3.so"
    binary.write_bytes(content)
    built_so = replace(spec_module._embedded(), path=binary)
    monkeypatch.setattr(spec_module, "_embedded", lambda: built_so)
    assert ("--list-devices" in learn("embedded").flags) == flag


def test_it_is_asked_again_only_when_its_file_changed(bad_engine: BadEngine) -> None:
    path = bad_engine(GOOD)
    asked = Path(f"{path}.asked")
    first = learn("llama-server", path)
    asked.unlink()
    again = learn("llama-server", path)
    assert not asked.exists()
    assert again.flags == first.flags
    os.utime(path, (1, 1))
    learn("llama-server", path)
    assert "--help" in asked.read_text()


@pytest.mark.parametrize("damage", ["", "[]", "\x00\xff" * 100])
def test_a_damaged_cache_is_ignored(bad_engine: BadEngine, damage: str) -> None:
    path = bad_engine(GOOD)
    learn("llama-server", path)
    file = cache_folder() / "engines.json"
    assert str(path) in file.read_text()
    file.write_text(damage)
    assert learn("llama-server", path).ok


def test_a_cache_with_wrong_values_is_ignored(bad_engine: BadEngine) -> None:
    path = bad_engine(GOOD)
    learn("llama-server", path)
    file = cache_folder() / "engines.json"
    file.write_text(file.read_text().replace('"build"', '"built"'))
    assert learn("llama-server", path).build == "7 (abc)"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("os.kill(os.getpid(), signal.SIGILL)", "illegal_instruction"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "engine_crashed"),
        ("print('hello')", "not_an_engine"),
        ("print('-m, --model F\\n--port N') if '--help' in sys.argv else sys.exit(1)", None),
        ("sys.exit(2)", "not_an_engine"),
        ("os.write(1, os.urandom(5000))", "not_an_engine"),
        ("while True: print('-x ' * 10000)", "not_an_engine"),
        (
            "sys.exit('x: error while loading shared libraries: libcuda.so.1: cannot open') ",
            "missing_library",
        ),
    ],
)
def test_every_way_to_fail_has_a_name(bad_engine: BadEngine, body: str, code: str | None) -> None:
    problem = problem_of(bad_engine(body))
    assert problem.code == (code or "not_an_engine")
    assert problem.message.endswith(".")
    assert "Restart" not in problem.action
    assert "{" not in problem.message


def test_what_engines_said_need_not_be_remembered(bad_engine: BadEngine, own_home: Path) -> None:
    own_home.touch()  # in the place of the folder
    assert learn("llama-server", bad_engine(GOOD)).ok


def test_the_settings_say_what_runs(bad_engine: BadEngine) -> None:
    assert chosen().engine.id == "embedded"
    path = str(bad_engine(GOOD))
    settings.save({"engine": path, "threads": 3, "default_context": 2560})
    choice = chosen()
    assert (choice.engine.id, choice.threads, choice.context) == (path, 3, 2560)
    settings.save({"engine": f"{path}-gone"})
    with pytest.raises(SlipstreamError) as caught:
        chosen()
    assert caught.value.code == "engine_missing"


def test_an_engine_that_hangs_is_given_up(
    bad_engine: BadEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spec_module, "ANSWER_SECONDS", 0.5)
    started = time.monotonic()
    problem = problem_of(bad_engine("time.sleep(60)"))
    assert problem.code == "engine_hung"
    assert problem.action == "Choose another engine in Settings."
    assert time.monotonic() - started < 30


def test_a_problem_is_not_remembered(bad_engine: BadEngine) -> None:
    path = bad_engine("sys.exit(1)")
    stat = path.stat()
    assert not learn("llama-server", path).ok
    path.write_text(path.read_text().replace("sys.exit(1)", GOOD))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert learn("llama-server", path).ok


def test_files_that_are_no_programs(tmp_path: Path) -> None:
    assert problem_of(tmp_path / "nothing").code == "engine_missing"
    assert problem_of(tmp_path).code == "engine_missing"
    text = tmp_path / "text"
    text.write_text("hello")
    assert problem_of(text).code == "not_executable"
    text.chmod(0o755)
    assert problem_of(text).code == "not_executable"


@pytest.mark.parametrize("path", ["a" * 5000, "~nobody-of-this-name/x", "circle"])
def test_settings_may_name_an_engine_that_cannot_be(path: str, tmp_path: Path) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to("circle")
    path = str(circle) if path == "circle" else path
    settings.save({"engine": path})
    with pytest.raises(SlipstreamError) as caught:
        chosen()
    assert caught.value.code == "engine_missing"
    assert find_engines([Path(path)])[1].problem


def test_engines_are_found_once_each(
    bad_engine: BadEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = bad_engine(GOOD)
    link = tmp_path / "link"
    link.symlink_to(path)
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    kinds = [(engine.kind, engine.path) for engine in find_engines([link, path])]
    assert [kind for kind, _ in kinds] == ["embedded", "llama-server"]
    assert kinds[1][1] == link


def test_an_engine_whose_libraries_changed_is_another(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    binary = tmp_path / "bin" / "llama-server"
    library = tmp_path / "lib" / "libllama.so.1"
    for file in (binary, library):
        file.write_text("one")
    engine = EngineSpec(str(binary), "llama-server", binary, (str(binary),))
    before = fingerprint(engine)
    assert fingerprint(engine) == before
    library.write_text("another")
    assert fingerprint(engine) != before
