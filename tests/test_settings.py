"""Settings: declared once, read without ever failing, saved without undoing another app's work."""

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from slipstream import paths, settings
from slipstream.drafters.kinds import DrafterKind
from slipstream.errors import SlipstreamError
from slipstream.settings import Kind, Settings


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def file(home: Path) -> Path:
    return paths.settings_file()


def test_without_a_file_every_setting_has_its_default(file: Path) -> None:
    result = settings.load()
    assert result == settings.LoadResult(Settings())
    assert (result.settings.theme, result.settings.text_size) == ("system", 100)
    assert not file.exists()


@pytest.mark.skipif(os.name != "posix", reason="pipes have names there")
@pytest.mark.parametrize("name", ["settings.json", ".settings.json.lock"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(file: Path, name: str) -> None:
    os.mkfifo(file.with_name(name))
    assert settings.load().settings == Settings()
    with pytest.raises(SlipstreamError) as caught:
        settings.save({"theme": "dark"})
    assert caught.value.code == "settings_not_saved"


def test_every_declaration_is_complete() -> None:
    for setting in settings.declared():
        assert setting.check(setting.default) == setting.default
        assert setting.label
        assert setting.help.endswith(".")
        assert setting.group in {"Appearance", "Engine", "Models", "Chat"}
        assert setting.words(setting.default)
        assert (setting.kind is Kind.CHOICE) == bool(setting.choices)
        assert (setting.kind is Kind.NUMBER) == (setting.minimum < setting.maximum)


def test_speculation_offers_every_kind_of_drafter() -> None:
    choice = next(item for item in settings.declared() if item.key == "speculation")
    assert list(choice.choices) == ["auto", "off", *DrafterKind]


def test_saved_values_come_back_with_their_types(file: Path) -> None:
    changes = {"theme": "dark", "threads": 4, "send_with_enter": False, "model_folders": ["/a"]}
    saved = settings.save(changes)
    assert saved == Settings(theme="dark", threads=4, send_with_enter=False, model_folders=("/a",))
    assert settings.load() == settings.LoadResult(saved)


def test_only_changed_keys_are_written(file: Path) -> None:
    settings.save({"theme": "dark"})
    assert json.loads(file.read_text()) == {"theme": "dark"}


def test_keys_of_a_newer_version_survive(file: Path) -> None:
    file.write_text('{"from_the_future": {"a": [1]}, "theme": "light"}')
    assert settings.load().notices == ()
    settings.save({"theme": "dark"})
    assert json.loads(file.read_text()) == {"from_the_future": {"a": [1]}, "theme": "dark"}


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe\x00", b"null", b"[" * 100_000, b"1" * 10_000]
)
def test_a_damaged_file_is_kept_and_reported_once(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    result = settings.load()
    assert result.settings == Settings()
    assert len(result.notices) == 1
    assert "settings.json.bak" in result.notices[0]
    assert file.with_name("settings.json.bak").read_bytes() == content
    assert settings.load().notices == ()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("theme", "pink"),
        ("theme", 1),
        ("text_size", 79),
        ("text_size", 201),
        ("text_size", True),
        ("text_size", 100.0),
        ("text_size", None),
        ("engine", " "),
        ("engine", "/a\0b"),
        ("engine", "/\ud83d"),
        ("model_folders", ["/a", "/b\0c"]),
        ("model_folders", "/a"),
        ("model_folders", ["/a", 3]),
        ("show_drafted_tokens", 1),
    ],
)
def test_a_bad_value_is_reset_and_the_good_ones_are_kept(
    file: Path, key: str, value: object
) -> None:
    before = json.dumps({key: value, "threads": 3})
    file.write_text(before)
    result = settings.load()
    assert result.settings == Settings(threads=3)
    setting = next(item for item in settings.declared() if item.key == key)
    assert len(result.notices) == 1
    assert setting.label in result.notices[0]
    assert setting.words(setting.default) in result.notices[0]
    assert file.with_name("settings.json.bak").read_text() == before
    assert json.loads(file.read_text()) == {"threads": 3}


def test_saving_over_a_damaged_file_keeps_the_damaged_one(file: Path) -> None:
    file.write_text("{oops")
    assert settings.save({"threads": 2}) == Settings(threads=2)
    assert file.with_name("settings.json.bak").read_text() == "{oops"


def test_a_value_that_is_not_allowed_is_refused_and_nothing_is_written(file: Path) -> None:
    with pytest.raises(SlipstreamError) as caught:
        settings.save({"theme": "dark", "text_size": 500})
    assert caught.value.code == "setting_not_allowed"
    assert "80 to 200" in caught.value.message
    assert not file.exists()


@pytest.mark.skipif(os.name != "posix", reason="file names of POSIX")
def test_a_path_that_is_no_valid_text_is_kept(file: Path) -> None:
    engine = os.fsdecode(b"/opt/\xff/llama-server")
    assert settings.save({"engine": engine}).engine == engine
    assert settings.load() == settings.LoadResult(Settings(engine=engine))


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_that_leads_in_a_circle_does_not_stop_the_app(file: Path) -> None:
    file.symlink_to(file.name)
    result = settings.load()
    assert result.settings == Settings()
    assert "could not be read" in result.notices[0]


def test_an_unreadable_file_is_left_alone(file: Path) -> None:
    file.mkdir()
    result = settings.load()
    assert result.settings == Settings()
    assert "could not be read" in result.notices[0]
    with pytest.raises(SlipstreamError) as caught:
        settings.save({"theme": "dark"})
    assert caught.value.code == "settings_not_saved"


def test_a_home_that_cannot_be_made_does_not_stop_the_app(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "file" / "home"))
    result = settings.load()
    assert result.settings == Settings()
    assert "could not be made" in result.notices[0]
    with pytest.raises(SlipstreamError) as caught:
        settings.save({"theme": "dark"})
    assert caught.value.code == "home_not_writable"


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_only_the_user_can_read_them(file: Path) -> None:
    file.write_text("{oops")
    settings.save({"theme": "dark"})
    rights = {path.name: path.stat().st_mode & 0o777 for path in file.parent.iterdir()}
    assert rights == dict.fromkeys(
        ["settings.json", "settings.json.bak", ".settings.json.lock"], 0o600
    )


def test_a_linked_file_stays_a_link(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.json"
    target.write_text("{}")
    file.symlink_to(target)
    settings.save({"theme": "dark"})
    assert file.is_symlink()
    assert json.loads(target.read_text()) == {"theme": "dark"}


def _save_many(key: str, values: list[object]) -> None:
    for value in values:
        settings.save({key: value})


def test_two_apps_saving_at_once_lose_nothing(file: Path) -> None:
    context = multiprocessing.get_context("spawn")
    work: list[tuple[str, list[object]]] = [
        ("threads", list(range(1, 61))),
        ("draft_tokens", list(range(1, 61))),
    ]
    apps = [context.Process(target=_save_many, args=args) for args in work]
    for app in apps:
        app.start()
    for app in apps:
        app.join(30)
    assert [app.exitcode for app in apps] == [0, 0]
    assert settings.load() == settings.LoadResult(Settings(threads=60, draft_tokens=60))
    assert {item.name for item in file.parent.iterdir()} == {"settings.json", ".settings.json.lock"}


@pytest.mark.skipif(os.name != "posix", reason="pipes are no files there")
def test_a_pipe_in_place_of_the_file_does_not_hang(file: Path) -> None:
    os.mkfifo(file)
    loaded = settings.load()
    assert loaded.settings == Settings()
    assert "not a file" in loaded.notices[0]
    with pytest.raises(SlipstreamError):
        settings.save({"theme": "dark"})


_HOLD_THE_LOCK = """
import sys
from slipstream.settings import file
from pathlib import Path
with file._locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_an_app_that_never_lets_go_of_the_lock_is_not_waited_for(file: Path) -> None:
    file.write_text("{oops")
    command = [sys.executable, "-c", _HOLD_THE_LOCK, str(file)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as other:
        assert other.stdout
        assert other.stdout.readline() == "locked\n"
        assert settings.load().settings == Settings()
        with pytest.raises(SlipstreamError) as caught:
            settings.save({"theme": "dark"})
        assert caught.value.facts["reason"] == "another program keeps them locked"
        other.communicate("")


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
_keys = st.sampled_from([setting.key for setting in settings.declared()])


@pytest.fixture(scope="module")
def written(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[dict[str, object]], None]]:
    patch = pytest.MonkeyPatch()
    patch.setenv("SLIPSTREAM_HOME", str(tmp_path_factory.mktemp("home")))

    def write(content: dict[str, object]) -> None:
        paths.settings_file().write_text(json.dumps(content))

    yield write
    patch.undo()


@limits(max_examples=50)  # each waits for the disk
@given(st.dictionaries(_keys | st.text(), _json))
def test_whatever_the_file_says_the_second_start_is_clean(
    written: Callable[[dict[str, object]], None], content: dict[str, object]
) -> None:
    written(content)
    first = settings.load()
    for setting in settings.declared():
        assert setting.check(getattr(first.settings, setting.key)) is not None
    assert settings.load() == settings.LoadResult(first.settings)
