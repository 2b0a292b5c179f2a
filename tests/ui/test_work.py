"""Background work: values arrive on the window's thread, in order, in batches."""

import threading
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QApplication

from slipstream.cancel import Cancelled, CancelToken
from slipstream.errors import SlipstreamError
from slipstream.ui.work import Work

Until = Callable[..., None]


class Recorder:
    """What a job delivered, and in which thread."""

    def __init__(self) -> None:
        self.batches: list[list[object]] = []
        self.errors: list[BaseException] = []
        self.done = 0
        self.threads: set[threading.Thread] = set()

    def on_values(self, values: list[object]) -> None:
        self.threads.add(threading.current_thread())
        self.batches.append(values)

    def on_done(self) -> None:
        self.done += 1

    def on_error(self, error: BaseException) -> None:
        self.errors.append(error)

    @property
    def values(self) -> list[object]:
        return [value for batch in self.batches for value in batch]


@pytest.fixture
def work(qapp: QApplication) -> Iterator[Work]:
    made = Work()
    yield made
    made.stop(5)


def start(work: Work, steps: Callable[[CancelToken], Iterator[object]]) -> Recorder:
    seen = Recorder()
    work.start(steps, on_values=seen.on_values, on_done=seen.on_done, on_error=seen.on_error)
    return seen


def test_every_value_arrives_in_order_on_the_windows_thread(work: Work, until: Until) -> None:
    seen = start(work, lambda _cancel: iter(range(20_000)))
    until(lambda: seen.done == 1)
    assert seen.values == list(range(20_000))
    assert seen.threads == {threading.main_thread()}


def test_a_fast_stream_arrives_in_few_batches(work: Work, until: Until) -> None:
    seen = start(work, lambda _cancel: iter(range(20_000)))
    until(lambda: seen.done == 1)
    assert len(seen.batches) < 50


def test_values_before_an_error_are_not_lost(work: Work, until: Until) -> None:
    def steps(_cancel: CancelToken) -> Iterator[object]:
        yield "first"
        raise SlipstreamError("broken", "It broke.", action="Try again.")

    seen = start(work, steps)
    until(lambda: bool(seen.errors))
    assert seen.values == ["first"]
    assert isinstance(seen.errors[0], SlipstreamError)
    assert seen.done == 0


def test_a_bug_before_the_first_value_is_delivered_and_logged_with_its_place(
    work: Work, until: Until, caplog: pytest.LogCaptureFixture
) -> None:
    def steps(_cancel: CancelToken) -> Iterator[object]:
        raise ValueError("at once")

    seen = start(work, steps)
    until(lambda: bool(seen.errors))
    assert str(seen.errors[0]) == "at once"
    assert "Traceback" in caplog.text
    assert "in steps" in caplog.text


@pytest.mark.parametrize(
    "ending", [Cancelled(), SlipstreamError("broken", "It broke.", action="Try again.")]
)
def test_what_is_no_bug_is_not_logged(
    work: Work, until: Until, caplog: pytest.LogCaptureFixture, ending: Exception
) -> None:
    def steps(_cancel: CancelToken) -> Iterator[object]:
        raise ending

    seen = start(work, steps)
    until(lambda: bool(seen.errors or seen.done))
    assert not caplog.records


def test_cancelled_work_ends_as_done(work: Work, until: Until) -> None:
    def steps(cancel: CancelToken) -> Iterator[object]:
        while True:
            cancel.wait(0.01)
            cancel.raise_if_cancelled()
            yield 1

    seen = Recorder()
    job = work.start(steps, on_values=seen.on_values, on_done=seen.on_done, on_error=seen.on_error)
    until(lambda: bool(seen.batches))
    job.cancel()
    until(lambda: seen.done == 1)
    assert not seen.errors


def test_nothing_ticks_while_nothing_runs(work: Work, until: Until) -> None:
    seen = start(work, lambda _cancel: iter([1]))
    until(lambda: seen.done == 1)
    assert work.idle
    assert not work.ticking


def test_a_failing_receiver_does_not_stop_the_work(
    work: Work, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[BaseException] = []
    monkeypatch.setattr("sys.excepthook", lambda _kind, error, _trace: reported.append(error))
    seen = Recorder()

    def fail(values: list[object]) -> None:
        seen.on_values(values)
        raise RuntimeError("a bug in the window")

    work.start(
        lambda _cancel: iter([1]), on_values=fail, on_done=seen.on_done, on_error=seen.on_error
    )
    until(lambda: bool(reported))
    until(lambda: work.idle)
    assert seen.values == [1]
    assert seen.done == 1


def test_stopping_waits_for_the_threads(work: Work) -> None:
    ended = threading.Event()

    def steps(cancel: CancelToken) -> Iterator[object]:
        cancel.wait(30)
        ended.set()
        yield None

    start(work, steps)
    work.stop(5)
    assert ended.is_set()
