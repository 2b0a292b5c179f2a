import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import headers
from slipstream.drafters.lineage import (
    ModelName,
    Place,
    also_made_for,
    made_for,
    name_of,
    other_name,
    own_name,
    place_of,
)
from slipstream.weights.header import Header

LISTINGS = Path(__file__).parents[1] / "hub" / "repo_listings.json"

SAME_MODEL = {
    "DeepSeek V4 Flash 0731": [
        "bartowski/DeepSeek-V4-Flash-0731-GGUF",
        "bullerwins/DeepSeek-V4-Flash-0731-GGUF",
        "ggml-org/DeepSeek-V4-Flash-0731-GGUF",
        "unsloth/DeepSeek-V4-Flash-0731-GGUF",
    ],
    "Gemma 4 12B it": [
        "ggml-org/gemma-4-12B-it-GGUF",
        "sjakek/gemma4-12b-mtp-assistant",
        "unsloth/gemma-4-12b-it-GGUF",
    ],
    "Gemma 4 26B A4B it": [
        "RachidAR/gemma-4-26B-A4B-it-qat-assistant-q4_0-gguf",
        "ggml-org/gemma-4-26B-A4B-it-GGUF",
        "google/gemma-4-26B-A4B-it-qat-q4_0-gguf",
        "unsloth/gemma-4-26B-A4B-it-GGUF",
    ],
    "Gemma 4 31B it": [
        "bartowski/google_gemma-4-31B-it-GGUF",
        "google/gemma-4-31B-it-qat-q4_0-gguf",
        "unsloth/gemma-4-31B-it-GGUF",
        "williamliao/gemma-4-31B-it-EAGLE3-Speculator-GGUF",
    ],
    "Gemma 4 E2B it": [
        "cafkafk/gemma-4-E2B-it-assistant-GGUF-noimatrix",
        "unsloth/gemma-4-E2B-it-GGUF",
    ],
    "gpt-oss 120b": ["ggml-org/gpt-oss-120b-GGUF", "unsloth/gpt-oss-120b-GGUF"],
    "gpt-oss 20b": ["ggml-org/gpt-oss-20b-GGUF", "unsloth/gpt-oss-20b-GGUF"],
    "Qwen3.6 27B": [
        "AtomicChat/Qwen3.6-27B-UDT-MTP-GGUF",
        "Lucebox/Qwen3.6-27B-DFlash-GGUF",
        "bartowski/Qwen_Qwen3.6-27B-GGUF",
        "ggml-org/Qwen3.6-27B-GGUF",
        "lmstudio-community/Qwen3.6-27B-GGUF",
        "ubergarm/Qwen3.6-27B-GGUF",
        "unsloth/Qwen3.6-27B-MTP-GGUF",
    ],
    "Qwen3.6 35B A3B": [
        "bartowski/Qwen_Qwen3.6-35B-A3B-GGUF",
        "ggml-org/Qwen3.6-35B-A3B-GGUF",
        "unsloth/Qwen3.6-35B-A3B-MTP-GGUF",
    ],
    "Qwen3.8 27B": ["unsloth/Qwen3.8-27B-GGUF", "z-lab/Qwen3.8-27B-DFlash2-GGUF"],
}
"""The repositories of the listings that hold the same model; each other one holds another.

``antirez/deepseek-v4-gguf`` is another one only by its name, in which the quantization of every
part stands: drafters for it are offered, not taken.
"""
MODEL = {repo: model for model, repos in SAME_MODEL.items() for repo in repos}


def file(path: str, name: str | None = None, **keys: str) -> Header:
    header = headers.header(path=Path(path))
    full = {f"general.{key.replace('__', '.')}": value for key, value in keys.items()}
    return headers.replaced(header, {**full, **({"general.name": name} if name else {})})


def same(one: ModelName | None, other: ModelName | None) -> bool:
    return one is not None and other is not None and one.same_model(other)


def listed(part: str) -> list[tuple[str, str]]:
    """The first files of the targets or drafters of every listing, with their repositories."""
    listings = json.loads(LISTINGS.read_text(encoding="utf-8"))
    return [
        (one["repo"], path)
        for one in listings
        for group in one["expected"].get(part, ())
        for path in (group["files"] if part == "drafters" else group["files"][:1])
        if path.endswith(".gguf")
    ]


@cache
def named_targets() -> dict[tuple[str, str], ModelName | None]:
    return {(repo, path): own_name(file(path), Place(repo)) for repo, path in listed("targets")}


@pytest.mark.parametrize(("repo", "path"), listed("drafters"))
def test_every_listed_drafter_matches_its_model_and_no_other(repo: str, path: str) -> None:
    drafter = made_for(file(path), Place(repo))
    targets = named_targets()
    assert {key for key, name in targets.items() if same(drafter, name)} == {
        key for key in targets if MODEL.get(key[0], key[0]) == MODEL.get(repo, repo)
    }


def test_the_listings_hold_many_pairs() -> None:
    assert len(listed("drafters")) > 50
    assert len(listed("targets")) > 150


@pytest.mark.parametrize(
    ("target", "drafter"),
    [
        ("Qwen3.8-27B-Q4_K_M.gguf", "mtp-Qwen3.6-27B-Q8_0.gguf"),
        ("Qwen3.8-27B-antislop.i1-Q2_K.gguf", "mtp-Qwen3.8-27B-Q8_0.gguf"),
        ("Qwen3.8-27B-Q4_K_M.gguf", "mtp-Qwen3.8-27B-antislop-Q8_0.gguf"),
        ("DeepSeek-V4-Flash-Q4_K_M.gguf", "dspark-DeepSeek-V4-Flash-0731-Q8_0.gguf"),
        ("gemma-4-12B-Q8_0.gguf", "gemma-4-12B-it-assistant-Q8_0.gguf"),
        ("Llama-3.3-70B-Q8_0.gguf", "eagle3-Llama-3.3-70B-Instruct-Q8_0.gguf"),
        ("gpt-oss-20b-heretic-MXFP4.gguf", "eagle3-gpt-oss-20b-BF16.gguf"),
        ("Huihui-Qwen3.8-27B-abliterated-Q8_0.gguf", "dflash-Qwen3.8-27B-Q8_0.gguf"),
        ("Qwen3.6-27B-Omnimerge-v4-F16.gguf", "dflash-Qwen3.6-27B-BF16.gguf"),
        ("Qwen3.6-35B-A3B-Q8_0.gguf", "dflash-Qwen3.6-27B-BF16.gguf"),
        ("Qwen3.8-27B-Assistant-Q8_0.gguf", "dflash-Qwen3.8-27B-Q8_0.gguf"),
        ("Qwen3.8-27B-Q8_0.gguf", "dflash-Qwen3.8-27B-Assistant-Q8_0.gguf"),
        ("Llama-3-8B-Draft-Q8_0.gguf", "eagle3-Llama-3-8B-Q8_0.gguf"),
        ("Foo-Nvidia-8B-Q8_0.gguf", "mtp-Foo-8B-Q8_0.gguf"),
        ("GLM-5-4-9B-Q8_0.gguf", "mtp-GLM-4-5-9B-Q8_0.gguf"),
        ("Command-R+-Q8_0.gguf", "mtp-Command-R-Q8_0.gguf"),
    ],
)
def test_a_word_more_or_another_version_is_another_model(target: str, drafter: str) -> None:
    assert not same(own_name(file(target)), made_for(file(drafter)))


@pytest.mark.parametrize(
    ("target", "drafter"),
    [
        ("Step-3.7-flash-IQ4_XS-00001-of-00003.gguf", "Step3.7-flash-mtp-BF16.gguf"),
        ("google_gemma-4-31B-it-Q4_K_M.gguf", "gemma-4-31B-it-MTP-Q8_0.gguf"),
        ("gemma-4-31B_q4_0-it.gguf", "mtp-gemma-4-31B-it-Q4_0.gguf"),
        ("Qwen_Qwen3.6-27B-Q6_K_L.gguf", "dflash-Qwen3.6-27B-Q8_0.gguf"),
        ("zai-org_GLM-4.6V-Q8_0.gguf", "glm4.6v-eagle3-Q8_0.gguf"),
        ("GLM-4-5-9B-Q8_0.gguf", "mtp-zai-org_GLM-4-5-9B-Q8_0.gguf"),
        ("Command-R+-Q8_0.gguf", "mtp-command-r-plus-Q8_0.gguf"),
        ("Qwen3.8-27B-Assistant-Q8_0.gguf", "mtp-Qwen3.8-27B-Assistant.gguf"),
        ("Llama-3-8B-Q8_0.gguf", "Llama-3-8B-draft-Q8_0.gguf"),
        ("DeepSeek-V4-Flash-0731-MXFP4_MOE-BF16.gguf", "DeepSeek-V4-Flash-0731-DSpark.gguf"),
    ],
)
def test_spelling_makers_and_quantizations_do_not_matter(target: str, drafter: str) -> None:
    assert same(own_name(file(target)), made_for(file(drafter)))


def test_a_fine_tune_that_kept_its_base_s_name_inside_goes_by_its_file_s_name() -> None:
    base = made_for(file("mtp-Qwen3.8-27B-Q8_0.gguf"))
    assert not same(own_name(file("Poet-27B-Q4_K_M.gguf", "Qwen3.8 27B")), base)
    assert not same(own_name(file("Qwen3.8-27B-Q4_K_M.gguf", "Qwen3.8 27B antislop")), base)
    repository = Place("somebody/Qwen3.8-27B-antislop-GGUF")
    assert not same(own_name(file("Qwen3.8-27B-Q4_K_M.gguf"), repository), base)


def test_a_file_without_a_name_takes_that_of_its_header_or_its_repository() -> None:
    glimmer = own_name(file("Muse-Glimmer-30B-Q4_K_M.gguf"))
    repository = Place("unsloth/Muse-Glimmer-30B-GGUF")
    assert same(glimmer, made_for(file("dflash-kquant.gguf", "model"), repository))
    assert same(glimmer, made_for(file("drafter.gguf", "Muse Glimmer 30B DFlash"), Place()))
    assert made_for(file("eagle3.gguf", "model"), Place("somebody/drafters")) is None


def test_a_file_s_own_name_wins_over_that_of_its_repository() -> None:
    drafter = made_for(file("dflash-Qwen3.6-27B-Q8_0.gguf"), Place("somebody/Qwen3.8-27B-DFlash"))
    assert same(drafter, own_name(file("Qwen3.6-27B-Q8_0.gguf")))


def test_what_a_drafter_was_made_for_may_be_told_by_its_base() -> None:
    target = own_name(file("Qwen3.8-27B-Q8_0.gguf"))
    named = file("speculator-v2.gguf", base_model__0__name="Qwen3.8 27B")
    assert same(target, made_for(named, Place("somebody/speculators")))
    carded = Place("somebody/drafters", bases=("Qwen/Qwen3.8-27B",))
    assert same(target, made_for(file("dflash.gguf"), carded))
    of_a_drafter = Place("somebody/drafters", bases=("z-lab/Qwen3.8-27B-DFlash2",))
    assert made_for(file("dflash.gguf"), of_a_drafter) is None


def test_a_drafter_made_for_several_models_without_a_name_of_its_own_says_none() -> None:
    several = Place("somebody/drafters", bases=("Qwen/Qwen3.6-27B", "Qwen/Qwen3.8-27B"))
    assert made_for(file("dflash.gguf"), several) is None
    named = made_for(file("dflash-Qwen3.8-27B.gguf"), several)
    assert same(named, own_name(file("Qwen3.8-27B-Q8_0.gguf")))
    twice = Place("somebody/drafters", bases=("Qwen/Qwen3.8-27B", "me/Qwen3.8-27B-FP8"))
    assert same(named, made_for(file("dflash.gguf"), twice))


def test_a_repository_may_name_another_model_than_its_file() -> None:
    tune = Place("Fine/MyTune-GGUF")
    other = other_name(file("Base-8B-Q8_0.gguf"), tune)
    assert other is not None
    assert other.text == "Fine/MyTune-GGUF"
    assert other_name(file("Base-8B-Q8_0.gguf"), Place("org/Base-8B-MTP-GGUF")) is None
    assert other_name(file("Base-8B-Q8_0.gguf"), Place("org/Base-GGUF")) is None
    assert other_name(file("Base-8B-Q8_0.gguf"), Place("org/Base-8B-Tune-GGUF")) is None


def test_few_of_the_listed_targets_have_another_name_than_their_repository() -> None:
    others = {repo for repo, path in listed("targets") if other_name(file(path), Place(repo))}
    assert others == {
        "Thireus/DeepSeek-R1-0528-THIREUS-BF16-SPECIAL_SPLIT",
        "synthetic/llamacpp-vendors",
    }


def test_a_drafter_may_have_been_made_for_several_models() -> None:
    both = {"base_model__0__name": "Demo", "base_model__1__name": "Demo Deep"}
    drafter = file("dflash-Demo-3M.gguf", **both)
    deep, poet = name_of("Demo-Deep-3M-Q8_0.gguf"), name_of("Demo-Deep-3M-Poet.gguf")
    assert deep is not None
    assert poet is not None
    assert also_made_for(drafter, deep, "3M")
    assert not also_made_for(drafter, deep, "27B")
    assert not also_made_for(drafter, poet, "3M")
    assert not also_made_for(file("dflash-Poet-3M.gguf", **both), deep, "3M")
    assert not also_made_for(
        file("dflash-Demo-3M.gguf", **{**both, "base_model__0__name": ""}), deep, "3M"
    )


def test_a_head_belongs_to_the_fine_tune_and_not_to_what_that_was_made_from() -> None:
    head = file("mtp-Poet-27B.gguf", base_model__0__name="Qwen3.8 27B")
    assert same(made_for(head, head=True), own_name(file("Poet-27B-Q8_0.gguf")))
    assert made_for(file("mtp.gguf", base_model__0__name="Qwen3.8 27B"), head=True) is None


def test_training_for_low_precision_is_the_same_model_told_apart() -> None:
    qat, plain = name_of("google/gemma-4-31B-it-qat-q4_0-gguf"), name_of("gemma-4-31B-it-GGUF")
    assert same(qat, plain)
    assert qat is not None
    assert plain is not None
    assert (qat.qat, plain.qat) == (True, False)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (
            "/c/hub/models--unsloth--Qwen3.8-27B-GGUF/snapshots/0a1b/MTP/mtp.gguf",
            Place(repository="unsloth/Qwen3.8-27B-GGUF"),
        ),
        ("/models/Qwen3.8-27B-GGUF/dspark/a.gguf", Place(folder="Qwen3.8-27B-GGUF")),
        ("/models/Qwen3.8-27B-GGUF/UD-Q4_K_XL/a.gguf", Place(folder="Qwen3.8-27B-GGUF")),
    ],
)
def test_where_a_file_on_this_computer_lies(path: str, place: Place) -> None:
    assert place_of(Path(path)) == place


def test_two_nameless_files_in_one_folder_are_not_of_one_model() -> None:
    assert own_name(file("/home/me/Downloads 2/model.gguf")) is None
    named = own_name(file("/home/me/Muse-Glimmer-30B-GGUF/model.gguf"))
    assert same(named, name_of("Muse Glimmer 30B"))


@pytest.mark.parametrize("text", ["", "model", "mtp-model-Q8_0.gguf", "v2", "3.6", "a" * 40])
def test_some_names_name_no_model(text: str) -> None:
    assert name_of(text) is None


WORDS = st.from_regex(r"[a-z]{3,8}", fullmatch=True).filter(lambda word: name_of(word) is not None)


@given(WORDS, st.integers(1, 400), WORDS)
def test_every_further_word_makes_another_model(model: str, size: int, word: str) -> None:
    base, tuned = name_of(f"{model}-{size}b"), name_of(f"{model}-{size}b-{word}")
    assert same(base, tuned) == (word == model)


@given(st.text(max_size=60))
def test_any_text_is_a_name_or_none(text: str) -> None:
    name = name_of(text)
    assert name is None or same(name, name_of(text.upper())) or text.upper().lower() != text.lower()
