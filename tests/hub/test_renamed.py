from pathlib import Path

import pytest

from slipstream.hub.renamed import present, remember


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_repository_is_found_by_its_old_name() -> None:
    remember("old/Name", "new/Name")
    assert present("old/Name") == present("OLD/name") == present("new/Name") == "new/Name"
    assert present("other/Name") == "other/Name"


def test_a_repository_may_be_renamed_repeatedly_and_back() -> None:
    remember("a/x", "b/x")
    remember("b/x", "c/x")
    assert present("a/x") == "c/x"
    remember("c/x", "a/x")
    assert present("b/x") == present("c/x") == present("a/x") == "a/x"


def test_a_name_that_another_repository_took_is_its_own_again() -> None:
    remember("old/Name", "new/Name")
    remember("old/Name", "old/Name")
    assert present("old/Name") == "old/Name"


def test_other_letter_case_is_another_spelling() -> None:
    remember("owner/test-gguf", "Owner/Test-GGUF")
    assert present("owner/TEST-gguf") == "Owner/Test-GGUF"


def test_nothing_is_written_for_names_that_are_right(home: Path) -> None:
    remember("owner/Name", "owner/Name")
    assert not list(home.rglob("renamed.json"))


@pytest.mark.parametrize("content", ["", "[]", '{"old/name": 3}', '{"old/name": "old/name"}'])
def test_a_damaged_file_does_not_matter(home: Path, content: str) -> None:
    remember("a/a", "b/b")
    (file,) = home.rglob("renamed.json")
    file.write_text(content)
    assert present("old/name") == "old/name"
