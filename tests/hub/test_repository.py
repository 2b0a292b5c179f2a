import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gguf_files import (
    write_dflash,
    write_gemma4_assistant,
    write_gguf,
    write_imatrix,
    write_mtp,
    write_projector,
    write_target,
)
from headers import any_header
from slipstream.drafters.kinds import DrafterKind
from slipstream.hub.files import Listing, RepoFile
from slipstream.hub.repository import FileSet, Repository, pick, sort_files, with_header
from slipstream.weights.header import read_header

GB = 10**9
LISTINGS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("repo_listings.json").read_text(encoding="utf-8")
)
NEED_A_HEADER = {
    "DFlash-Qwen3.5-27B-Uncensored.Q4_K_M.gguf": None,
    "DFlash-Qwen3.5-27B-Uncensored.Q8_0.gguf": None,
    "Qwen3.6-27B-MTP-IQ4_KS.gguf": None,
    "Qwen3.6-27B-UDT-Q6_K_MTP.gguf": None,
    "Step3.7-flash-mtp-BF16.gguf": DrafterKind.MTP,
    "Step3.7-flash-mtp-Q8_0.gguf": DrafterKind.MTP,
    "model-mtp-BF16.gguf": DrafterKind.MTP,
    "model-mtp-Q8_0.gguf": DrafterKind.MTP,
    "model-MTP-BF16.gguf": DrafterKind.MTP,
}
"""Files of the listings whose names are those of models and of drafters, and what they are."""

# Layouts as people make them: what each file is ("T" target, "D" drafter, "P" projector, "O" other;
# then its kind or quantization, "-" for none), its path, and its size in GB where that matters.
LAYOUTS = {
    "everything in a folder of its own": """
        T Q4_K_M Q4_K_M/Foo-8B-Q4_K_M.gguf
        T Q8_0 Q8_0/Foo-8B-Q8_0.gguf
        D mtp MTP/Foo-8B-Q8_0.gguf
        D dspark dspark/Foo-8B-Q8_0.gguf
        D eagle3 eagle3/Foo-8B-F16.gguf
        P F16 mmproj/Foo-8B-F16.gguf
        O - imatrix/Foo-8B.gguf""",
    "the folder names the quantization": """
        T UD-Q2_K_XL UD-Q2_K_XL/Foo-00001-of-00002.gguf
        T UD-Q2_K_XL UD-Q2_K_XL/Foo-00002-of-00002.gguf
        T BF16 Foo-BF16/model.gguf""",
    "drafters in folders of their quantizations": """
        T Q4_K_M Foo-Q4_K_M.gguf
        D mtp MTP/Q8_0/Foo-Q8_0.gguf
        D mtp MTP/BF16/Foo-BF16-00001-of-00002.gguf
        D mtp MTP/BF16/Foo-BF16-00002-of-00002.gguf""",
    "a head of the size of the model's is the model": """
        T Q4_K_M Foo-27B-Q4_K_M.gguf 16.5
        T Q4_K_M Foo-27B-MTP-Q4_K_M.gguf 16.9
        T Q8_0 Foo-27B-MTP-Q8_0.gguf 29
        D mtp Foo-27B-MTP-BF16.gguf 5.9""",
    "every model has its head inside": """
        T Q4_K_M Foo-27B-MTP-Q4_K_M.gguf 16.9
        T Q8_0 Foo-27B-MTP-Q8_0.gguf 29
        P BF16 mmproj-BF16.gguf""",
    "every model has its head inside, sizes not known": """
        T Q4_K_M foo-27b-mtp-q4_k_m.gguf
        T Q8_0 foo-27b-mtp-q8_0.gguf""",
    "heads without their model": """
        D mtp Foo-27B-MTP-Q8_0.gguf 3.2
        D mtp Foo-27B-MTP-Q4_0.gguf 1.4""",
    "a head that is larger than a coarse target": """
        T IQ1_S Foo-27B-IQ1_S.gguf 6.1
        D mtp Foo-27B-MTP-BF16.gguf 6.2""",
    "a model whose name begins like a drafter's": """
        T IQ3_M DFlash-Foo-27B.i1-IQ3_M.gguf
        T Q4_K_M DFlash-Foo-27B.i1-Q4_K_M.gguf""",
    "a drafter named like that": """
        D dflash DFlash-Foo-27B-Q8_0.gguf 1.9""",
    "a drafter named like that beside its model": """
        T Q8_0 Foo-27B-Q8_0.gguf
        D dflash DFlash-Foo-27B-Q8_0.gguf""",
    "a whole model with the prefix of a tool": """
        T Q4_K_M dflash-tuned-27b-q4_k_m.gguf 16.5
        T Q8_0 dflash-tuned-27b-q8_0.gguf 28.6""",
    "two whole models that are called drafters": """
        T Q4_K_M Foo-27B-MTP-Q4_K_M.gguf 16.9
        D dflash DFlash-Foo-27B-Q4_K_M.gguf 16.5
        D dflash dflash-foo-27b-q8_0.gguf 28.6""",
    "only drafters": """
        D eagle3 EAGLE3-Foo-8B-BF16.gguf
        D dspark Foo-8B-DSpark-Q8_0.gguf
        D dflash foo_8b_dflash2_q8_0.gguf
        O - README.md""",
    "an assistant of gemma and one for people": """
        T Q4_K_M gemma-4-12B-it-Q4_K_M.gguf
        D mtp gemma-4-12B-it-assistant-Q8_0.gguf
        T Q4_K_M helpful-assistant-7B-Q4_K_M.gguf""",
    "a fine-tuned gemma that is called an assistant": """
        T Q4_K_M gemma-4-12B-poet-assistant-Q4_K_M.gguf
        T Q8_0 gemma-4-12B-poet-assistant-Q8_0.gguf""",
    "a model made with an importance matrix": """
        T Q4_0 Foo-450M-imatrix-Q4_0.gguf
        T IQ2_M Foo-450M-IQ2_M-imatrix.gguf
        O - Foo-450M-imatrix.gguf
        O - Foo-450M-BF16-imatrix.gguf
        O - imatrix.dat
        O - Foo-450M.imatrix""",
    "letters of the other case": """
        T Q4_K_M FOO-8B-Q4_K_M.GGUF
        T Q8_0 foo-8b-q8_0.Gguf
        D mtp mtp-foo-8b-q8_0.GGUF
        P F16 MMPROJ-foo-F16.GGUF""",
    "upper and lower case are two sets": """
        T Q8_0 Foo-Q8_0-00001-of-00002.gguf
        T Q8_0 foo-Q8_0-00002-of-00002.gguf""",
    "one name in two folders": """
        T Q4_K_M old/Foo-Q4_K_M.gguf
        T Q4_K_M new/Foo-Q4_K_M.gguf
        P F16 old/mmproj-F16.gguf
        P F16 new/mmproj-F16.gguf""",
    "safetensors alone": """
        O - model-00001-of-00002.safetensors
        O - model-00002-of-00002.safetensors
        O - config.json
        O - tokenizer.json""",
    "drafters that were not converted": """
        T Q8_0 Foo-Q8_0.gguf
        O - dflash/model.safetensors
        O - eagle3-foo.pt""",
    "a preset is a file like others": """
        O - preset.ini
        T Q8_0 Foo-Q8_0.gguf
        O - Foo-Q8_0.gguf.sha256
        O - Foo.ggml""",
    "adapters": """
        T F16 Foo-8B-F16.gguf
        O - Foo-8B-lora.gguf
        O - lora/style-F16.gguf
        T Q4_K_M Foo-8B-LoRA-merged-Q4_K_M.gguf""",
    "a model that is called an adapter": """
        T Q4_K_M Foo-8B-LoRA-Q4_K_M.gguf 4.9
        T Q8_0 Foo-8B-LoRA-Q8_0.gguf 8.5
        O - Foo-8B-extra-LoRA-F16.gguf 0.3""",
    "speech": """
        T Q8_0 LFM2-Audio-1.5B-Q8_0.gguf
        P Q8_0 mmproj-LFM2-Audio-1.5B-Q8_0.gguf
        O - tokenizer-LFM2-Audio-1.5B-Q8_0.gguf
        O - audiodecoder-LFM2-Audio-1.5B-Q8_0.gguf
        O - vocoder-LFM2-Audio-1.5B-Q8_0.gguf""",
    "names without a quantization": """
        T - Jan-v2-VL-high.gguf
        T - Foo-kquant-17gb.gguf
        D eagle3 eagle3.gguf
        D dflash dflash-kquant.gguf
        P - mmproj.gguf""",
    "two models in one repository": """
        T Q4_K_M Foo-8B-Q4_K_M.gguf
        T Q4_K_M Bar-27B-Q4_K_M.gguf
        D eagle3 eagle3-Bar-27B-Q8_0.gguf
        D mtp mtp-Foo-8B-Q8_0.gguf""",
    "a quantization of the middle and full precision": """
        T Q4_0 gemma-4-31B_q4_0-it.gguf
        T F16 qwen2.5-7b-instruct-fp16-00001-of-00002.gguf
        T F16 qwen2.5-7b-instruct-fp16-00002-of-00002.gguf
        T MXFP4_MOE Foo-MXFP4_MOE-BF16.gguf""",
    "odd names": """
        T Q8_0 Foo Bar (v2) Q8_0.gguf
        T Q4_K_M モデル-Q4_K_M.gguf
        T - .gguf
        D mtp mtp-ü-Q8_0.gguf
        O - gguf
        O - .gitattributes""",
    "an MTP head in its folder beside a root that has none": """
        T UD-Q4_K_XL Foo-31B-it-UD-Q4_K_XL.gguf
        D mtp mtp-Foo-31B-it.gguf
        D mtp MTP/Foo-31B-it-Q8_0-MTP.gguf
        D mtp MTP/Foo-31B-it-MTP-F16.gguf
        P BF16 mmproj-BF16.gguf""",
    "nothing": "",
}


def listing(sizes: Mapping[str, float], repo: str = "owner/name") -> Listing:
    files = (RepoFile(path, round(size), None, "0" * 40) for path, size in sizes.items())
    return Listing(repo, "0" * 40, tuple(files))


def repository(*paths: str) -> Repository:
    return sort_files(listing(dict.fromkeys(paths, 0)))


def paths(one: FileSet) -> list[str]:
    return [file.path for file in one.files]


def every_set(of: Repository) -> list[FileSet]:
    return [*of.targets, *of.drafters, *of.projectors]


def places(of: Repository) -> dict[str, str]:
    """What each file is, as LAYOUTS says it."""
    return {
        **{path: f"T {one.quant or '-'}" for one in of.targets for path in paths(one)},
        **{path: f"D {one.kind}" for one in of.drafters for path in paths(one)},
        **{path: f"P {one.quant or '-'}" for one in of.projectors for path in paths(one)},
        **{file.path: "O -" for file in of.others},
    }


@pytest.mark.parametrize("real", LISTINGS, ids=lambda real: str(real["repo"]))
@pytest.mark.parametrize("size", [0, 1000])
def test_every_known_repository(real: dict[str, Any], size: int) -> None:
    known = real.get("sizes", {})
    found = sort_files(listing({path: known.get(path, size) for path in real["files"]}))
    expected = real["expected"]
    # Drafters that are not in GGUF format are of no use here.
    drafters = [one for one in expected["drafters"] if not one.get("needs_conversion")]
    rest = [one for one in expected["drafters"] if one not in drafters]

    assert sorted((one.quant or "", paths(one)) for one in found.targets) == sorted(
        (one["quant"] or "", one["files"]) for one in expected["targets"]
    )
    assert sorted((str(one.kind), *paths(one)) for one in found.drafters) == sorted(
        (one["kind"], path) for one in drafters for path in one["files"]
    )
    assert sorted(one.path for one in found.projectors) == sorted(expected["mmproj"])
    assert sorted(file.path for file in found.others) == sorted(
        [*expected["other"], *(path for one in rest for path in one["files"])]
    )
    for target in expected["targets"]:
        (one,) = (one for one in found.targets if paths(one) == target["files"])
        refused = target.get("ik_llama_only") or one.quant in real.get("unsupported_quants", ())
        assert bool(one.missing) is target.get("incomplete", False)
        assert (one.problem is not None) is bool(refused)


def test_only_these_of_the_known_files_need_a_header() -> None:
    found = (sort_files(listing(dict.fromkeys(real["files"], 0))) for real in LISTINGS)
    doubtful = {one.path: one.kind for each in found for one in every_set(each) if one.ambiguous}
    assert doubtful == NEED_A_HEADER


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_as_people_make_them(layout: str) -> None:
    lines = [line.split(" ", 2) for line in LAYOUTS[layout].replace("        ", "").split("\n")[1:]]
    expected, sizes = {}, {}
    for what, label, rest in lines:
        path, _, size = rest.rpartition(" ")
        known = size.replace(".", "").isdigit()
        path = path if known else rest
        sizes[path] = float(size) * GB if known else 0
        expected[path] = f"{what} {label}"
    assert places(sort_files(listing(sizes))) == expected


def test_targets_come_by_size_drafters_and_projectors_by_what_is_best() -> None:
    sizes = {
        "Foo-27B-Q8_0.gguf": 28, "Foo-27B-UD-IQ2_M.gguf": 10, "Foo-27B-Q4_K_M.gguf": 16,
        "mtp-Foo-27B-BF16.gguf": 6, "mtp-Foo-27B-Q4_0.gguf": 1.4, "mtp-Foo-27B-Q8_0.gguf": 3,
        "mtp-Foo-27B-F16.gguf": 6, "eagle3-Foo-27B-F16.gguf": 1, "dflash-Foo-27B-IQ4_KS.gguf": 1,
        "dflash-Foo-27B-BF16.gguf": 2, "dspark-Foo-27B-Q8_0-00001-of-00002.gguf": 3,
        "dspark-Foo-27B-BF16.gguf": 5, "mmproj-F32.gguf": 2, "mmproj-Q8_0.gguf": 0.5,
        "mmproj-F16.gguf": 1, "mmproj-BF16.gguf": 1, "mmproj-Q2_K.gguf": 0.2,
    }  # fmt: skip
    found = sort_files(listing({path: size * GB for path, size in sizes.items()}))
    assert [one.quant for one in found.targets] == ["UD-IQ2_M", "Q4_K_M", "Q8_0"]
    assert [(str(one.kind), one.quant) for one in found.drafters] == [
        ("mtp", "Q8_0"), ("mtp", "Q4_0"), ("mtp", "BF16"), ("mtp", "F16"),
        ("dspark", "BF16"), ("dspark", "Q8_0"), ("dflash", "BF16"), ("dflash", "IQ4_KS"),
        ("eagle3", "F16"),
    ]  # fmt: skip
    assert [one.quant for one in found.projectors] == ["Q8_0", "F16", "BF16", "F32", "Q2_K"]


def test_the_size_of_a_set_is_that_of_all_its_files() -> None:
    (one,) = sort_files(
        listing({"a-Q8_0-00002-of-00002.gguf": 2 * GB, "a-Q8_0-00001-of-00002.gguf": 10})
    ).targets
    assert one.bytes == 2 * GB + 10
    assert one.path == "a-Q8_0-00001-of-00002.gguf"
    assert not one.missing


def test_a_set_of_1148_files_with_holes_names_what_is_missing() -> None:
    names = [f"R1-SPECIAL_TENSOR-{n:05}-of-01148.gguf" for n in range(1, 1149)]
    (whole,) = repository(*names).targets
    assert paths(whole) == names
    (one,) = repository(*names[1:500], *names[501:]).targets
    assert one.missing == (names[0], names[500])
    assert one.path == names[1]


def test_files_of_one_folder_make_a_set_and_those_of_two_do_not() -> None:
    here, there = (f"{folder}/a-Q8_0-0000{n}-of-00002.gguf" for n, folder in ((1, "x"), (2, "y")))
    assert [(one.path, len(one.missing)) for one in repository(here, there).targets] == [
        (here, 1),
        (there, 1),
    ]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("Q4_K_M", ["Foo.i1-Q4_K_M.gguf"]),
        ("i1-q4_k_m", ["Foo.i1-Q4_K_M.gguf"]),
        ("UD-Q4_K_M", ["Foo-UD-Q4_K_M.gguf"]),
        ("Q6_K", ["Foo-UD-Q6_K.gguf"]),
        ("Q8_0", ["Foo-Q8_0.gguf", "old/Foo-Q8_0.gguf"]),
        ("old/Foo-Q8_0", ["old/Foo-Q8_0.gguf"]),
        ("foo-kquant.gguf", ["Foo-kquant.gguf"]),
        ("Q5_K_M", []),
        ("", []),
        ("../Foo-Q8_0.gguf", []),
    ],
)
def test_what_a_person_asks_for_is_found(asked: str, found: list[str]) -> None:
    targets = repository(
        "Foo.i1-Q4_K_M.gguf", "Foo-UD-Q4_K_M.gguf", "Foo-UD-Q6_K.gguf", "Foo-Q8_0.gguf",
        "old/Foo-Q8_0.gguf", "Foo-kquant.gguf",
    ).targets  # fmt: skip
    assert [one.path for one in pick(targets, asked)] == found


def test_the_header_confirms_a_model_that_is_named_like_a_drafter(tmp_path: Path) -> None:
    names = ["DFlash-Foo.Q4_K_M.gguf", "DFlash-Foo.Q8_0.gguf", "DFlash-Foo.mmproj-f16.gguf"]
    before = repository(*names)
    after = with_header(before, before.targets[0], read_header(write_target(tmp_path / "a")))
    assert places(after) == places(before)
    assert not any(one.ambiguous for one in after.targets)
    assert [one.embedded_mtp for one in after.targets] == [False, None]


def test_the_header_makes_a_drafter_of_what_seemed_a_model(tmp_path: Path) -> None:
    before = repository("DFlash-Foo-Q4_K_M.gguf", "DFlash-Foo-Q8_0.gguf", "README.md")
    after = with_header(before, before.targets[0], read_header(write_dflash(tmp_path / "a")))
    assert not after.targets
    assert [(one.kind, one.quant) for one in after.drafters] == [
        (DrafterKind.DFLASH, "Q8_0"),
        (DrafterKind.DFLASH, "Q4_K_M"),
    ]
    assert not any(one.ambiguous for one in after.drafters)


@pytest.mark.parametrize("path", NEED_A_HEADER)
def test_headers_put_doubtful_files_on_either_side(tmp_path: Path, path: str) -> None:
    (real,) = (real["files"] for real in LISTINGS if path in real["files"])
    before = repository(*real)
    (one,) = (one for one in every_set(before) if one.path == path)
    model = read_header(write_target(tmp_path / "model", "qwen35", mtp=1))
    head = read_header(write_mtp(tmp_path / "head"))

    as_model = with_header(before, one, model)
    (found,) = (one for one in as_model.targets if one.path == path)
    assert (found.kind, found.embedded_mtp, found.ambiguous) == (None, True, False)

    as_head = with_header(as_model, found, head)
    (found,) = (one for one in as_head.drafters if one.path == path)
    assert (found.kind, found.embedded_mtp, found.ambiguous) == (DrafterKind.MTP, None, False)
    assert sorted(places(as_head)) == sorted(real)


def test_a_header_moves_its_own_file_alone_where_names_left_no_doubt(tmp_path: Path) -> None:
    before = repository("Foo-Q4_K_M.gguf", "Foo-F16.gguf", "mtp-Foo-Q8_0.gguf", "odd.gguf")
    (projector,) = pick(before.targets, "F16")
    found = with_header(before, projector, read_header(write_projector(tmp_path / "a")))
    found = with_header(found, found.drafters[0], read_header(write_target(tmp_path / "b")))
    (odd,) = pick(found.targets, "odd")
    found = with_header(found, odd, read_header(write_imatrix(tmp_path / "c")))
    assert places(found) == {
        "Foo-Q4_K_M.gguf": "T Q4_K_M",
        "mtp-Foo-Q8_0.gguf": "T Q8_0",
        "Foo-F16.gguf": "P F16",
        "odd.gguf": "O -",
    }


def test_a_file_among_the_others_can_turn_out_to_be_a_model(tmp_path: Path) -> None:
    before = repository("Foo-imatrix.gguf")
    one = FileSet(None, before.others)
    keys = {"general.file_type": 15}
    header = read_header(write_target(tmp_path / "Foo-imatrix.gguf", keys=keys))
    after = with_header(before, one, header)
    assert [one.quant for one in after.targets] == ["Q4_K_M"]
    assert not after.others


def test_an_assistant_is_known_by_its_header(tmp_path: Path) -> None:
    before = repository("gemma-4-12B-poet-assistant-Q8_0.gguf")
    header = read_header(write_gemma4_assistant(tmp_path / "a"))
    after = with_header(before, before.targets[0], header)
    assert [one.kind for one in after.drafters] == [DrafterKind.MTP]


def test_what_only_forks_run_is_known_by_the_header(tmp_path: Path) -> None:
    before = repository("dflash-draft-3.6-q8_0.gguf", "Foo-Q4_X.gguf", "mtp-Foo-Q8_0.gguf")
    fork = read_header(write_gguf(tmp_path / "a", "dflash-draft", {}, {"fc.weight": (8, 8)}))
    (drafter,) = pick(before.drafters, "dflash-draft-3.6-q8_0")
    after = with_header(before, drafter, fork)
    assert [(one.kind, one.problem is None) for one in after.drafters] == [
        (DrafterKind.MTP, True),
        (DrafterKind.DFLASH, False),
    ]
    # What runs after all is no longer marked.
    assert after.targets[0].problem
    after = with_header(after, after.targets[0], read_header(write_target(tmp_path / "b")))
    assert after.targets[0].problem is None


def test_the_first_file_of_a_set_cannot_tell_whether_a_head_is_in_the_others(
    tmp_path: Path,
) -> None:
    before = repository("a-IQ4_KS-00001-of-00002.gguf", "a-IQ4_KS-00002-of-00002.gguf")
    count = {"split.count": 2, "split.tensors.count": 99}
    keys = {**count, "qwen35.nextn_predict_layers": 1}
    unknown = read_header(write_target(tmp_path / "a", "qwen35", keys=keys))
    without = read_header(write_target(tmp_path / "b", "qwen35", keys=count))
    head_first = read_header(write_mtp_of_a_set(tmp_path / "c", keys))

    after = with_header(before, before.targets[0], unknown)
    assert after.targets[0].embedded_mtp is None
    assert after.targets[0].problem, "the label of a fork holds until all tensors are known"
    assert with_header(before, before.targets[0], without).targets[0].embedded_mtp is False
    assert with_header(before, before.targets[0], head_first) == before


def write_mtp_of_a_set(path: Path, keys: Mapping[str, int]) -> Path:
    tensors = {"blk.4.nextn.eh_proj.weight": (32, 16), "token_embd.weight": (16, 8)}
    return write_gguf(path, "qwen35", {**keys, "qwen35.block_count": 5}, tensors)


_WORDS = (
    *("Foo", "Qwen3.6", "27B", "8B", "it", "MTP", "mtp", "DFlash", "dflash", "dspark", "eagle3"),
    *("assistant", "gemma-4", "imatrix", "mmproj", "lora", "Q4_K_M", "Q8_0", "BF16", "IQ4_KS"),
    *("UD-Q4_K_XL", "i1-Q4_K_M", "00001-of-00003", "00002-of-00003", "split", "", " ", "ü", ".."),
)
_names = st.builds(
    lambda words, separator, suffix: separator.join(words) + suffix,
    st.lists(st.sampled_from(_WORDS), min_size=1, max_size=5),
    st.sampled_from(["-", "_", "."]),
    st.sampled_from([".gguf", ".gguf", ".gguf", ".GGUF", ".safetensors", ""]),
)
_folders = st.sampled_from(["", "", "MTP/", "dspark/", "Q4_K_M/", "MTP/Q8_0/", "x/y/", "/", "../"])
_paths = st.one_of(st.builds(str.__add__, _folders, _names), st.text(min_size=1, max_size=40))
_listings = st.dictionaries(_paths, st.one_of(st.just(0), st.integers(0, 10**14)), max_size=12)


@given(_listings)
def test_every_file_is_in_exactly_one_place(sizes: dict[str, int]) -> None:
    found = sort_files(listing(sizes))
    placed = [path for one in every_set(found) for path in paths(one)]
    assert sorted([*placed, *(file.path for file in found.others)]) == sorted(sizes)
    assert all((one.kind is not None) is (one in found.drafters) for one in every_set(found))
    assert {one.path for one in every_set(found) if one.missing}.isdisjoint(
        path for one in every_set(found) for path in one.missing
    )


@given(_listings)
def test_no_drafter_by_prefix_or_folder_is_a_target_beside_others(sizes: dict[str, int]) -> None:
    targets = sort_files(listing(sizes)).targets
    marked = [one for one in targets if _is_marked(PurePosixPath(one.path))]
    assert not marked or len(marked) == len(targets)


def _is_marked(path: PurePosixPath) -> bool:
    prefix = re.match(r"(?i)(?:mtp|dflash2?|dspark|eagle3)[-_.\s]", path.name)
    return prefix is not None or path.parent.name in ("MTP", "dspark")


@settings(max_examples=40)
@given(_listings, st.data())
def test_a_header_never_loses_a_file(sizes: dict[str, int], data: st.DataObject) -> None:
    found = sort_files(listing(sizes))
    if sets := every_set(found):
        one = data.draw(st.sampled_from(sets))
        header = data.draw(any_header())
        after = with_header(found, one, header)
        assert sorted(places(after)) == sorted(places(found))
        assert len(every_set(after)) == len(every_set(found))
