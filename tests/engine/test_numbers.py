import pytest

from slipstream.engine.attribution import Attributor, Tally
from slipstream.engine.chunks import Chunk, Timings
from slipstream.engine.metrics import SpecCounters
from slipstream.engine.numbers import Numbers

SENT = 100.0


def reply(steps: list[int], step_seconds: float) -> tuple[Numbers, list[float]]:
    """A reply whose steps yield so many tokens each; and speed_now after each token."""
    numbers, attributor, speeds = Numbers(SENT), Attributor(), []
    told = Timings(prompt_cached=40, prompt_read=60, prompt_ms=500)
    predicted = drafted = accepted = 0
    for index, tokens in enumerate(steps):
        if index:
            drafted, accepted = drafted + 3, accepted + tokens - 1
        for _ in range(tokens):
            predicted += 1
            ms = 0.001 + index * step_seconds * 1000
            told = Timings(40, 60, 500, predicted, ms, drafted, accepted)
            chunk = Chunk("x", timings=told)
            attributor.feed(chunk)
            arrived = SENT + 0.7 + index * step_seconds
            numbers.update(chunk, attributor.tally, arrived)
            speeds.append(numbers.snapshot().speed_now)
    return numbers, speeds


def test_mean_speed_leaves_out_the_first_token_which_the_prompt_made() -> None:
    numbers, _ = reply([1, 4, 4, 2], step_seconds=0.5)
    assert numbers.snapshot().tokens == 11
    assert numbers.snapshot().tokens_per_second == pytest.approx(10 / 1.5, rel=1e-4)


def test_a_reply_of_one_token_has_no_speed() -> None:
    numbers, _ = reply([1], step_seconds=0.5)
    assert numbers.snapshot().tokens_per_second == 0.0
    assert numbers.snapshot().speed_now == 0.0


def test_first_token_is_measured_from_sending_the_request() -> None:
    numbers, _ = reply([1, 4], step_seconds=0.5)
    assert numbers.snapshot().first_token == pytest.approx(0.7)


def test_prompt_numbers_count_cached_tokens_but_speed_leaves_them_out() -> None:
    told = reply([1, 4], step_seconds=0.5)[0].snapshot()
    assert (told.prompt_tokens, told.prompt_cached) == (100, 40)
    assert told.prompt_per_second == pytest.approx(120)


def test_prompt_speed_is_known_while_the_prompt_is_read() -> None:
    numbers = Numbers(SENT)
    reading = Chunk(timings=Timings(prompt_read=512, prompt_ms=1000), progress=(512, 2048))
    numbers.update(reading, Tally(), SENT + 1)
    assert numbers.snapshot().prompt_per_second == pytest.approx(512)
    assert (numbers.snapshot().tokens, numbers.snapshot().first_token) == (0, 0.0)


def test_bursts_of_a_step_do_not_make_the_speed_jump() -> None:
    _, speeds = reply([1] + [4] * 50, step_seconds=0.1)
    settled = speeds[9:]
    assert min(settled) == pytest.approx(40, rel=0.01)
    assert max(settled) == pytest.approx(40, rel=0.01)


def test_the_speed_shown_before_a_second_has_passed_uses_what_is_there() -> None:
    _, speeds = reply([1, 4, 4], step_seconds=0.1)
    assert speeds[-1] == pytest.approx(40, rel=0.01)


def test_speed_now_follows_a_change_within_about_a_second() -> None:
    numbers, attributor = Numbers(SENT), Attributor()
    ms = 0.0
    for token in range(1, 101):
        ms += 20 if token <= 50 else 100
        chunk = Chunk("x", timings=Timings(predicted=token, predicted_ms=ms))
        attributor.feed(chunk)
        numbers.update(chunk, attributor.tally, SENT + ms / 1000)
        if token == 50:
            assert numbers.snapshot().speed_now == pytest.approx(50, rel=0.05)
        if token == 65:
            assert numbers.snapshot().speed_now == pytest.approx(10, rel=0.1)
    assert numbers.snapshot().tokens_per_second == pytest.approx(99 / (ms / 1000))


def test_a_slow_model_has_a_speed_although_a_step_takes_longer_than_the_window() -> None:
    _, speeds = reply([1, 2, 2, 2, 2], step_seconds=4)
    assert speeds[-1] == pytest.approx(0.5, rel=0.01)


def test_drafting_is_reported_as_counted() -> None:
    told = reply([1, 4, 2, 1], step_seconds=0.1)[0].snapshot()
    assert (told.drafted, told.accepted, told.steps) == (9, 4, 3)
    assert told.acceptance == pytest.approx(4 / 9)
    assert told.tokens_per_step == pytest.approx(7 / 3)
    assert told.by_position == pytest.approx((2 / 3, 1 / 3, 1 / 3))


def test_positions_become_exact_when_the_engine_counted_just_this_reply() -> None:
    numbers, _ = reply([1, 4, 2, 1], step_seconds=0.1)
    before = SpecCounters(10, 30, 20, (8, 7, 5))
    after = SpecCounters(13, 39, 24, (10, 8, 6))
    assert numbers.finish(before, after).by_position == pytest.approx((2 / 3, 1 / 3, 1 / 3))
    longer = SpecCounters(14, 39, 24, (11, 8, 5))
    assert numbers.finish(before, longer).by_position == pytest.approx((3 / 4, 1 / 4, 0))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, SpecCounters(3, 9, 4, (2, 1, 1))),
        (SpecCounters(0, 0, 0), None),
        (SpecCounters(0, 0, 0), SpecCounters(9, 27, 4, (1, 1, 2))),
    ],
    ids=["no counters before", "no counters after", "another request ran as well"],
)
def test_live_positions_stay_where_the_counters_tell_nothing_of_this_reply(
    before: SpecCounters | None, after: SpecCounters | None
) -> None:
    numbers, _ = reply([1, 4, 2, 1], step_seconds=0.1)
    assert numbers.finish(before, after) == numbers.snapshot()


def test_a_server_without_counters_is_timed_by_our_clock() -> None:
    numbers, attributor = Numbers(SENT), Attributor()
    for index in range(41):
        chunk = Chunk("word ")
        attributor.feed(chunk)
        numbers.update(chunk, attributor.tally, SENT + 0.5 + index * 0.05)
    told = numbers.snapshot()
    assert (told.tokens, told.steps, told.drafted) == (41, 0, 0)
    assert told.first_token == pytest.approx(0.5)
    assert told.tokens_per_second == pytest.approx(20)
    assert told.speed_now == pytest.approx(20)
    assert (told.tokens_per_step, told.acceptance) == (None, None)
