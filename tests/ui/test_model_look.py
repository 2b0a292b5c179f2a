"""One model is looked at in the background: what fails, what waits, and what is kept of it."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from chat_window import choose, notice
from hub_server import HubServer
from hub_server.layouts import quantizations
from local_stores import own_stores
from models_page import Until, opened, shown
from slipstream.cancel import Cancelled, CancelToken
from slipstream.engine import advice
from slipstream.engine.picture import Knobs
from slipstream.errors import SlipstreamError
from slipstream.hub.address import Address
from slipstream.ui.app import Running
from slipstream.ui.picker.drawing import Drawing
from slipstream.ui.picker.found import seen
from slipstream.ui.picker.model_look import Model, ModelLook, Stage
from slipstream.ui.picker.page import ModelsPage
from slipstream.ui.work import Work
from slipstream.words import Tone

REPO = quantizations().id


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    folder = tmp_path / "computer"
    folder.mkdir()
    own_stores(folder, monkeypatch)
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    with HubServer(quantizations()) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.endpoint)
        yield server


@pytest.fixture
def page(demo: Running) -> ModelsPage:
    return opened(demo)


def test_a_knob_that_cannot_be_drawn_says_so_and_goes_back(
    demo: Running, page: ModelsPage, until: Until
) -> None:
    shown(page, until, REPO)
    before = page.view.knobs.knobs
    page.view.knobs.turned.emit(replace(before, kv_type="q1_unheard_of"))
    until(lambda: bool(notice(demo)))
    until(lambda: page.view.knobs.knobs == before)
    assert page.model.stage is Stage.SHOWN
    choose(page.view.knobs.kv_type, "q8_0")
    until(lambda: page.model.picture is not None and page.model.picture.knobs.kv_type == "q8_0")


def test_a_second_look_that_fails_says_why_and_what_is_shown_stays(
    demo: Running, page: ModelsPage, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown(page, until, REPO)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    page.model.again()
    until(lambda: "cannot be reached" in notice(demo))
    assert page.view.banner.headline.isVisible()
    assert not page.model.looking_further


def test_a_knob_waits_for_none_of_the_questions_that_the_engine_is_asked(
    page: ModelsPage, until: Until
) -> None:
    shown(page, until, REPO)
    asked, end = threading.Semaphore(0), CancelToken()

    def ask_for_ever() -> None:
        def question(token: CancelToken) -> None:
            asked.release()
            token.wait(60)
            token.raise_if_cancelled()

        with suppress(Cancelled):
            page.model._drawing.ask(question, end)

    threads = [threading.Thread(target=ask_for_ever, daemon=True) for _ in range(3)]
    for each in threads:
        each.start()
    assert asked.acquire(timeout=10)
    time.sleep(0.1)  # the others wait for their turn
    choose(page.view.knobs.kv_type, "q8_0")
    until(lambda: page.model.picture is not None and page.model.picture.knobs.kv_type == "q8_0", 10)
    end.cancel()
    for each in threads:
        each.join()


def test_no_question_of_the_engine_comes_before_a_knob_that_was_turned() -> None:
    drawing = Drawing()
    asked = threading.Event()

    def question(_token: CancelToken) -> None:
        asked.set()

    with drawing._hurry():
        thread = threading.Thread(target=drawing.ask, args=(question, CancelToken()), daemon=True)
        thread.start()
        assert not asked.wait(0.2)
    assert asked.wait(10)


def test_what_the_hub_asks_to_wait_for_one_model_is_not_told_of_the_next(
    qapp: QApplication, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Hub's answer for the first one comes when the second one is looked at."""
    answers, told = threading.Event(), threading.Event()

    def look_up(model: Address, *rest: object) -> None:
        waiting: Callable[[float], None] = rest[3]  # type: ignore[assignment]
        if model.repo == "first/Model":
            assert answers.wait(10)
            waiting(30)
            told.set()
        threading.Event().wait(1)
        raise SlipstreamError("offline", "The Hub cannot be reached.", action="Try again.")

    monkeypatch.setattr(advice, "look_up", look_up)
    work = Work()
    look = ModelLook(work, lambda _: Knobs(4096), dict)
    look.look(Model(Address("first/Model")))
    until(lambda: bool(work._threads) and look.stage is Stage.LOOKING)
    time.sleep(0.5)
    look.look(Model(Address("second/Model")))
    answers.set()
    until(told.is_set)
    assert look.stage is Stage.LOOKING
    assert look.waiting == 0
    work.stop(5)


def test_pictures_of_a_model_are_not_kept_without_end(page: ModelsPage, until: Until) -> None:
    shown(page, until, REPO)
    picture = page.model.picture
    assert picture is not None
    for context in range(1000, 2000):
        page.model._keep(replace(picture, knobs=replace(picture.knobs, context=context)))
    assert len(page.model._pictures) < 200


def test_the_list_tells_of_a_model_as_it_would_be_loaded(page: ModelsPage, until: Until) -> None:
    shown(page, until, REPO)
    remembered, picture = page.finder._seen[REPO], page.model.picture
    assert picture is not None
    assert remembered.fits
    assert remembered.verdict
    knobs = replace(picture.knobs, context=2048)
    lines = tuple(replace(one, verdict="Too large", tone=Tone.BAD) for one in picture.lines)
    page.model._show(replace(picture, knobs=knobs, lines=lines))
    assert page.finder._seen[REPO] == remembered


def test_what_is_only_estimated_is_no_verdict(page: ModelsPage, until: Until) -> None:
    shown(page, until, REPO)
    assert page.model.picture is not None
    known = seen(replace(page.model.picture, exact=False))
    assert known.drafters
    assert not known.verdict
    assert not known.fits


def test_what_helps_is_what_helps_with_a_download(page: ModelsPage, until: Until) -> None:
    def ways(code: str, **facts: str | int) -> list[str]:
        error = SlipstreamError(code, "It did not work.", facts=facts, action="Do something.")
        return [words for words, _ in page._ways.of(error)]

    with_token = ["Enter a token", "Open its page", "Try again"]
    assert ways("bad_token", http_status=401) == with_token
    assert ways("forbidden", http_status=403) == with_token
    assert ways("repo_not_found", http_status=401) == with_token
    assert ways("repo_not_found", http_status=404) == ["Try again"]
    accepted = ways("gated", http_status=403, page="https://hub.example/a/b")
    assert accepted == ["Open its page", "Enter a token", "Try again"]
    assert ways("offline") == ["Try again"]
