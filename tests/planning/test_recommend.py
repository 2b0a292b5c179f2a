"""Which quantization is recommended: good ones that are quick here, never the biggest as such."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machines import computer
from slipstream.planning.placement import Fit
from slipstream.planning.recommend import (
    QUICK_ANYWHERE,
    Option,
    loses_quality,
    most_parameters,
    recommend,
)
from slipstream.weights.names import bits

GB = 10**9
# A model of 27B, as it is published; sizes in GB.
SIZES = {
    "IQ2_XXS": 8.5, "Q2_K": 10.2, "UD-Q2_K_XL": 10.9, "IQ3_M": 12.5, "Q3_K_M": 13.3, "IQ4_XS": 15.0,
    "MXFP4_MOE": 15.4, "Q4_0": 15.5, "Q4_K_S": 15.7, "Q4_K_M": 16.5, "UD-Q4_K_XL": 16.8,
    "i1-Q4_K_M": 16.6, "Q5_K_S": 18.7, "Q5_K_M": 19.2, "Q6_K": 22.1, "UD-Q6_K_XL": 25.0,
    "Q8_0": 28.6, "UD-Q8_K_XL": 31.0, "BF16": 53.8, "F16": 53.8, "F32": 107.5,
}  # fmt: skip
GOOD = {label for label in SIZES if "Q4_K" in label or "Q5_K" in label or "Q6_K" in label}


def options(
    ram: float, gpu: float = 0, scale: float = 1.0, downloaded: str = "", *labels: str
) -> list[Option]:
    """Of a model that is ``scale`` times as large, on a computer with so many GB."""
    made = []
    for label in labels or SIZES:
        size = SIZES[label] * scale
        fit = Fit.NONE
        if size <= ram:
            fit = Fit.CPU
        if gpu and size <= ram + gpu:
            fit = Fit.PARTIAL
        if size <= gpu:
            fit = Fit.GPU
        made.append(Option(label, round(size * GB), fit, label == downloaded))
    return made


def recommended(
    ram: float, gpu: float = 0, scale: float = 1.0, downloaded: str = "", *labels: str
) -> str | None:
    these = options(ram, gpu, scale, downloaded, *labels)
    best = recommend(these)
    return None if best is None else these[best].label


@pytest.mark.parametrize(
    ("gpu", "label"),
    [(17, "UD-Q4_K_XL"), (19, "Q5_K_S"), (24, "Q6_K"), (28, "UD-Q6_K_XL"), (200, "UD-Q6_K_XL")],
)
def test_the_largest_good_one_that_lies_on_the_gpu_as_a_whole(gpu: float, label: str) -> None:
    assert recommended(64, gpu) == label


def test_more_bits_than_six_are_never_recommended_where_there_are_fewer() -> None:
    assert recommended(500, 500) in GOOD
    assert recommended(500, 500, 1.0, "Q8_0") in GOOD


def test_in_main_memory_hardly_more_than_the_smallest_good_one_as_every_byte_costs_time() -> None:
    assert recommended(64) == "Q4_K_S"  # 4 % more than MXFP4_MOE; Q4_K_M is 8 % more
    assert recommended(64, 0, 1.0, "", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0") == "Q4_K_M"


def test_in_main_memory_the_largest_good_one_that_is_quick_on_any_processor() -> None:
    # A model of 4B: up to 4 GiB of weights are quick.
    best = recommended(64, 0, 4 / 27)
    assert best == "UD-Q6_K_XL"
    assert SIZES[best] * 4 / 27 * GB <= QUICK_ANYWHERE
    assert recommended(64, 0, 7 / 27) == "Q4_K_M"
    assert recommended(3, 0, 4 / 27) == "Q5_K_M"


def test_the_larger_of_the_one_on_the_gpu_and_the_quick_one() -> None:
    # A small card holds only the smaller ones; the larger one is quick without it.
    assert recommended(64, 2.6, 4 / 27) == "UD-Q6_K_XL"


def test_a_card_that_holds_none_of_the_good_ones_as_a_whole() -> None:
    assert recommended(64, 12) == "Q4_K_S"


def test_below_four_bits_only_if_nothing_better_fits() -> None:
    assert recommended(15.8) == "Q4_K_S"
    assert recommended(15.2) == "IQ4_XS"
    assert recommended(14) == "Q3_K_M"
    assert recommended(9) == "IQ2_XXS"
    assert recommended(8) is None
    assert recommended(0, 14) == "Q3_K_M"


def test_without_a_good_one_the_others_are_chosen_among() -> None:
    assert recommended(64, 0, 1.0, "", "Q2_K", "Q8_0", "F16") == "Q8_0"
    assert recommended(20, 0, 1.0, "", "Q2_K", "Q8_0", "F16") == "Q2_K"
    assert recommended(64, 60, 1.0, "", "Q2_K", "Q8_0", "F16") == "Q8_0"
    assert recommended(64, 60, 1.0, "", "Q2_K", "F16") == "F16"
    assert recommended(64, 48, 1.0, "", "IQ4_XS", "Q4_0", "Q8_0", "BF16") == "Q4_0"


def test_what_is_downloaded_is_preferred_but_not_if_it_is_larger_or_worse() -> None:
    assert recommended(64, 24, 1.0, "Q4_K_M") == "Q4_K_M"
    assert recommended(64, 17, 1.0, "Q6_K") == "UD-Q4_K_XL"
    assert recommended(64, 24, 1.0, "Q3_K_M") == "Q6_K"
    assert recommended(64, 24, 1.0, "Q8_0") == "Q6_K"


def test_of_nothing_nothing_is_recommended() -> None:
    assert recommend([]) is None
    assert recommend([Option("Q4_K_M", GB, Fit.NONE)]) is None


def test_a_file_without_a_label_can_be_recommended() -> None:
    assert recommend([Option("my-model-2B", GB, Fit.CPU)]) == 0


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("Q4_K_M", 4), ("UD-Q2_K_XL", 2), ("i1-IQ1_S", 1), ("i1-Q6_K", 6), ("IQ4_NL", 4),
        ("BF16", 16), ("F32", 32), ("Q8_0", 8), ("MXFP4_MOE", 4), ("NVFP4", 4), ("TQ1_0", 1),
        ("smol-IQ3_KT", 3), ("Q4_0_4_4", 4),
    ],
)  # fmt: skip
def test_bits_by_the_label(label: str, number: int) -> None:
    assert bits(label) == number
    assert loses_quality(label) is (number < 4)


@pytest.mark.parametrize("name", ["", "model", "Qwen3-8B", "Slipstream-Demo-Deep-3M", "gpt-2"])
def test_numbers_in_a_name_that_is_no_label_are_not_bits(name: str) -> None:
    assert bits(name) is None
    assert not loses_quality(name)


def test_how_large_a_model_may_be_goes_by_the_fastest_memory_that_holds_one() -> None:
    assert 20e9 < most_parameters(computer(16)) < 30e9
    assert 35e9 < most_parameters(computer(64, 24)) < 45e9
    assert most_parameters(computer(64, 2)) >= most_parameters(computer(64))
    assert most_parameters(computer(0)) == 0


lists = st.lists(st.sampled_from([*SIZES]), unique=True, max_size=8).map(sorted)


@settings(max_examples=50)
@given(
    lists,
    st.floats(0, 130),
    st.floats(0, 130),
    st.floats(0, 40),
    st.floats(0, 40),
    st.sampled_from([0.02, 0.15, 1.0]),
    st.sampled_from(["", *SIZES]),
)
def test_more_memory_never_leads_to_a_smaller_one(
    labels: list[str],
    ram: float,
    gpu: float,
    more_ram: float,
    more_gpu: float,
    scale: float,
    downloaded: str,
) -> None:
    if not labels:
        return
    before, after = (
        options(ram + one, gpu + other, scale, downloaded, *labels)
        for one, other in ((0.0, 0.0), (more_ram, more_gpu))
    )
    small, large = recommend(before), recommend(after)
    if small is not None:
        assert large is not None
        assert after[large].weights >= before[small].weights
        assert before[small].fit is not Fit.NONE


@settings(max_examples=50)
@given(lists, st.floats(0, 130), st.floats(0, 130), st.sampled_from([*SIZES]))
def test_what_is_downloaded_never_leads_to_a_larger_one(
    labels: list[str], ram: float, gpu: float, downloaded: str
) -> None:
    if not labels:
        return
    plain, here = (options(ram, gpu, 1.0, name, *labels) for name in ("", downloaded))
    best, preferred = recommend(plain), recommend(here)
    assert (best is None) is (preferred is None)
    if best is not None and preferred is not None:
        assert here[preferred].weights <= plain[best].weights
        assert here[preferred].fit is not Fit.NONE
        assert not loses_quality(here[preferred].label) or loses_quality(plain[best].label)
