from hypothesis import given
from hypothesis import strategies as st

from slipstream.engine.metrics import SpecCounters, parse_metrics

counts = st.integers(min_value=0, max_value=999_999)
TEXT = """\
# HELP llamacpp:tokens_predicted_total Number of generation tokens processed
# TYPE llamacpp:tokens_predicted_total counter
llamacpp:tokens_predicted_total 72
# HELP llamacpp:spec_decode_num_draft_tokens_total Speculative: Total draft tokens generated
# TYPE llamacpp:spec_decode_num_draft_tokens_total counter
llamacpp:spec_decode_num_draft_tokens_total {drafted}
llamacpp:spec_decode_num_accepted_tokens_total {accepted}
llamacpp:spec_decode_num_drafts_total {drafts}
# TYPE llamacpp:predicted_tokens_seconds gauge
llamacpp:predicted_tokens_seconds 28.5
{positions}"""


def printed(counters: SpecCounters) -> str:
    name = "llamacpp:spec_decode_num_accepted_tokens_per_pos_total"
    lines = [f'{name}{{position="{i}"}} {n}\n' for i, n in enumerate(counters.by_position)]
    return TEXT.format(
        drafted=counters.drafted,
        accepted=counters.accepted,
        drafts=counters.drafts,
        positions="".join(lines),
    )


counters = st.builds(SpecCounters, counts, counts, counts, st.lists(counts, max_size=20).map(tuple))


@given(counters)
def test_reads_the_counters_of_the_engine(wanted: SpecCounters) -> None:
    assert parse_metrics(printed(wanted)) == wanted


def test_large_counters_are_printed_as_powers_of_ten() -> None:
    text = TEXT.format(drafted="1.23457e+06", accepted=5, drafts=4, positions="")
    assert parse_metrics(text) == SpecCounters(4, 1_234_570, 5)


def test_an_engine_that_does_not_count_speculation_has_no_counters() -> None:
    assert parse_metrics("llamacpp:tokens_predicted_total 72\n") is None
    assert parse_metrics("") is None


def test_difference_to_an_engine_that_had_drafted_nothing_yet() -> None:
    fresh = SpecCounters(0, 0, 0)
    after = SpecCounters(19, 57, 53, (19, 18, 16))
    assert after.since(fresh) == after


def test_difference_counts_only_what_was_added() -> None:
    before = SpecCounters(19, 57, 53, (19, 18, 16))
    after = SpecCounters(21, 63, 54, (20, 18, 16))
    assert after.since(before) == SpecCounters(2, 6, 1, (1, 0, 0))


def test_an_engine_whose_counters_shrink_is_no_bug() -> None:
    before, after = SpecCounters(5, 15, 9, (5, 3, 1)), SpecCounters(6, 16, 10, (6,))
    assert after.since(before).by_position == (1,)
