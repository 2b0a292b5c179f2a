"""What a person types or pastes names a model on the Hub, or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.hub.address import Address, is_safe_path, parse

HERE = "http://127.0.0.1:8000/hub"
HUB = "https://huggingface.co/unsloth/Qwen3.8-27B-GGUF"
REPO = "unsloth/Qwen3.8-27B-GGUF"


@pytest.mark.parametrize(
    "text",
    [
        REPO,
        f"  {REPO}\n",
        f"hf.co/{REPO}",
        f"huggingface.co/{REPO}",
        f"HTTPS://HuggingFace.co/{REPO}/",
        f"http://www.huggingface.co/{REPO}",
        f"{HUB}?library=llama-cpp#usage",
        f"{HUB}/discussions/3",
        f"{HUB}/settings",
        f"hf:{REPO}",
        f"hf://{REPO}",
        f"HF://models/{REPO}",
        f"{HERE}/{REPO}",
        f"127.0.0.1:8000/hub/{REPO}",
    ],
)
def test_a_repository_is_named_in_many_ways(text: str) -> None:
    assert parse(text, HERE) == Address(REPO)


@pytest.mark.parametrize("before", ["", "hf.co/", "https://hf.co/", "hf:", "hf://", f"{HERE}/"])
def test_a_quantization_stands_after_a_colon(before: str) -> None:
    assert parse(f"{before}{REPO}:UD-Q4_K_XL", HERE) == Address(REPO, "UD-Q4_K_XL")


def test_a_file_may_stand_there_too() -> None:
    assert parse(f"hf.co/{REPO}:Model-Q4.gguf") == Address(REPO, file="Model-Q4.gguf")


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("/tree/main", Address(REPO, revision="main")),
        ("/tree/feature%2Ffast", Address(REPO, revision="feature/fast")),
        ("/tree/refs/pr/7", Address(REPO, revision="refs/pr/7")),
        ("/tree/refs%2Fpr%2F7/Q8_0", Address(REPO, "Q8_0", "refs/pr/7")),
        ("/tree/main/some/UD-Q4_K_XL", Address(REPO, "UD-Q4_K_XL", "main")),
        ("/tree/main/MTP", Address(REPO, revision="main")),
        (
            "/blob/v1/Q8/a-00001-of-00002.gguf",
            Address(REPO, None, "v1", "Q8/a-00001-of-00002.gguf"),
        ),
        ("/resolve/main/a%20b.gguf?download=true", Address(REPO, None, "main", "a b.gguf")),
        ("/raw/main/A.GGUF", Address(REPO, None, "main", "A.GGUF")),
        ("/blob/main/README.md", Address(REPO, revision="main")),
        ("?show_file_info=a%2Fb.gguf", Address(REPO, file="a/b.gguf")),
        ("/tree/v1?show_file_info=b.gguf", Address(REPO, None, "v1", "b.gguf")),
    ],
)
def test_a_page_names_a_version_a_folder_or_a_file(page: str, expected: Address) -> None:
    assert parse(HUB + page) == expected
    assert parse(f"{HERE}/{REPO}{page}", HERE) == expected


@pytest.mark.parametrize("branch", ["feature/x", "feature%2Fx"])
def test_a_branch_may_have_slashes(branch: str) -> None:
    assert parse(f"{REPO}@{branch}") == Address(REPO, revision="feature/x")
    assert parse(f"{REPO}@{branch}:Q8_0") == Address(REPO, "Q8_0", "feature/x")


@pytest.mark.parametrize("text", ["a/b@c/d.gguf", "a/b@c/../d", "a/b@c//d", "a/b@c/d@e", "a/b@/c"])
def test_not_every_path_is_a_branch(text: str) -> None:
    assert parse(text) is None


def test_where_a_path_may_follow_a_branch_ends_at_the_first_slash() -> None:
    assert parse(f"{HUB}/tree/feature/x") == Address(REPO, revision="feature")
    assert parse(f"{HUB}/tree/feature%2Fx") == Address(REPO, revision="feature/x")


def test_hf_uris_name_a_version_and_a_file() -> None:
    assert parse(f"hf://{REPO}@v1/a/b.gguf") == Address(REPO, None, "v1", "a/b.gguf")
    assert parse(f"hf://models/{REPO}@refs/pr/7/b.gguf") == Address(
        REPO, None, "refs/pr/7", "b.gguf"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "qwen",
        "unsloth/",
        "/unsloth/model",
        "./a/b",
        "~/a/b",
        "a/b/c",
        "folder/model.gguf",
        "C:\\models\\a",
        "C:/models",
        "a/../b",
        "a/..",
        "a/b..c",
        "-a/b",
        "a/b.",
        "a/b:",
        "a/b:Q4/../x",
        "a/b:..",
        "a b/c",
        "ä/b",
        "a/b\x00",
        f"a/{'b' * 97}",
        "a/b" + "/" * 3000,
        "hf.co/unsloth",
        "https://huggingface.co",
        "https://huggingface.co/models?search=qwen",
        "https://huggingface.co/datasets/a/b",
        "https://huggingface.co/spaces/a/b",
        "https://huggingface.co/docs/hub",
        "datasets/a",
        "hf://datasets/a/b",
        "hf://spaces/a/b/app.py",
        "hf://",
        "https://example.com/a/b",
        "https://huggingface.co.example.com/a/b",
        "https://user:secret@huggingface.co/a/b",
        "https://huggingface.co:444/a/b",
        "https://[half/a/b",
        "https://huggingface.co:99999/a/b",
        "ftp://huggingface.co/a/b",
        f"{HUB}/resolve/main/../../../etc/x.gguf",
        f"{HUB}/resolve/main/..%2F..%2Fx.gguf",
        f"{HUB}/resolve/../x.gguf",
        f"{HUB}/resolve/main/C%3A%5Cx.gguf",
        "http://127.0.0.1:8000/other/a/b",
        "http://127.0.0.1:8001/hub/a/b",
    ],
)
def test_other_things_name_nothing(text: str) -> None:
    assert parse(text, HERE) is None


def test_a_repository_called_like_a_file_needs_its_whole_address() -> None:
    found = parse("https://huggingface.co/a/b.gguf")
    assert found == Address("a/b.gguf")
    assert parse("a/b.gguf") is None
    assert parse(str(found)) == found


@given(st.text())
def test_any_text_is_read_without_a_failure(text: str) -> None:
    assert parse(text, HERE) is None or "/" in text


_ODD = st.text(st.sampled_from("aZ0.-_/:@%?#~ \\[]gguf"), max_size=30)


@given(st.sampled_from(["", "hf:", "hf://", "https://hf.co/", f"{HERE}/", f"{HUB}/blob/"]), _ODD)
def test_what_is_understood_can_be_written_down(start: str, rest: str) -> None:
    found = parse(start + rest, HERE)
    if found:
        assert parse(str(found), HERE) == found
        assert found.file is None or is_safe_path(found.file)


_NAMES = st.from_regex(r"[A-Za-z0-9](?:[A-Za-z0-9_.]{0,20}[A-Za-z0-9])?", fullmatch=True)
_REPOS = st.builds("{}/{}".format, _NAMES, _NAMES)
_REVISIONS = st.none() | st.sampled_from(["main", "a/b", "refs/pr/3", "v1.0-rc", "ä#1"])
_FILES = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=40).map(
    lambda text: f"{text}.gguf"
)


@given(_REPOS, st.none() | st.sampled_from(["Q8_0", "ud-q4_k_xl", "i1-IQ2_M"]), _REVISIONS)
def test_models_keep_their_address(repo: str, quant: str | None, revision: str | None) -> None:
    if parse(f"hf://{repo}"):
        address = Address(repo, quant, revision)
        assert parse(str(address), HERE) == address


@given(_FILES, _REVISIONS)
def test_files_keep_their_address(file: str, revision: str | None) -> None:
    address = Address(REPO, revision=revision, file=file)
    assert parse(str(address), HERE) == (address if is_safe_path(file) else None)


@pytest.mark.parametrize("path", ["a.gguf", "a/b/c.gguf", "ä ö.gguf", ".gitattributes", "a" * 255])
def test_paths_that_any_system_can_have(path: str) -> None:
    assert is_safe_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../a",
        "a/../../b",
        "a/./b",
        "a//b",
        "a/",
        "a\\b",
        "C:/a",
        "a:stream",
        "a\nb",
        "a\x00",
        "a\x7f",
        "what?",
        "con",
        "NUL.gguf",
        "a/com1.tar.gz",
        "LPT³",
        "aux .gguf",
        "a.",
        "a /b",
        "a" * 256,
        "ä" * 128,
        "a/" * 600 + "b",
        "half\ud800",
    ],
)
def test_paths_that_none_may_have(path: str) -> None:
    assert not is_safe_path(path)
