"""Which model runs: what the user opens stays theirs, and what does not work is told."""

import os
import shutil
import sys
import threading
import time
from pathlib import Path

import pytest

from chat_window import LONG, Start, Until, kill_engines, notice, page_text, say, send
from gguf_files import DEMO_DFLASH, write_demo_without_head, write_projector, write_target
from running_engine import guardians
from slipstream import paths
from slipstream.engine import launch
from slipstream.engine.model_records import save_settings
from slipstream.engine.model_settings import ModelSettings
from slipstream.machine.memory import Memory
from slipstream.settings import EMBEDDED
from slipstream.ui import models
from slipstream.ui.app import Running
from slipstream.ui.engine_control import Phase

DEEP_DEMO = "Slipstream-Demo-Deep-3M-Q8_0.gguf"


def ready(running: Running) -> bool:
    return running.control.phase is Phase.READY


def running_model(running: Running) -> Path | None:
    loaded = running.control.loaded
    return loaded.request.model if loaded is not None and ready(running) else None


def test_a_model_comes_back_with_its_chat_and_its_way_to_speculate(
    start: Start, until: Until, own_model: Path
) -> None:
    first = start()
    first.window.begin("")
    first.window.come_forward(str(own_model))
    until(lambda: running_model(first) == own_model)
    first.window.chat.speed.speculation_chosen.emit("dflash", 0)
    until(lambda: bool(notice(first)))  # it has no such drafter, so nothing changes
    first.window.chat.speed.speculation_chosen.emit("ngram", 5)
    until(lambda: ready(first))
    say(first, until, "Hello")
    first.window.close()
    first.end()
    again = start()
    again.window.begin("")
    until(lambda: ready(again))
    assert running_model(again) == own_model
    assert again.control.loaded is not None
    assert again.control.loaded.request.spec == "ngram"
    assert again.control.loaded.spec.draft_tokens == 5


def test_cancelling_a_change_while_a_reply_runs_goes_back_to_what_runs(
    demo: Running, until: Until
) -> None:
    send(demo, LONG)
    until(lambda: bool(demo.window.chat.transcript.current_text()))
    demo.window.chat.speed.speculation_chosen.emit("off", 0)
    demo.window.chat.header.cancel_wanted.emit()
    until(lambda: not demo.window.conversation.busy)
    until(lambda: ready(demo), 5)
    assert demo.window.chat.header.model_text.startswith(" Demo ▾")
    assert demo.window.chat.speed.choice == "auto"
    say(demo, until, "Hello")
    assert "MTP, 3 draft tokens" in page_text(demo).split("Hello")[-1]


def test_a_file_that_is_refused_does_not_stop_the_reply(
    demo: Running, until: Until, tmp_path: Path
) -> None:
    text = tmp_path / "notes.gguf"
    text.write_text("not a model")
    send(demo, LONG)
    until(lambda: bool(demo.window.chat.transcript.current_text()))
    demo.window.come_forward(str(text))
    until(lambda: "notes.gguf" in notice(demo))
    until(lambda: not demo.window.conversation.busy)
    assert "stopped" not in page_text(demo)
    assert "tok/s" in page_text(demo)
    assert ready(demo)


def test_after_a_model_that_the_engine_refuses_the_one_before_runs_again(
    demo_alone: Running, until: Until, tmp_path: Path
) -> None:
    demo = demo_alone
    refused = write_target(tmp_path / "Refused-1B-F32.gguf")
    send(demo, LONG)
    until(lambda: bool(demo.window.chat.transcript.current_text()))
    demo.window.come_forward(str(refused))
    until(lambda: bool(notice(demo)))
    assert "Refused-1B-F32.gguf" in notice(demo)
    assert notice(demo).endswith("Going back to Demo.")
    until(lambda: not demo.window.conversation.busy)
    say(demo, until, "Hello")
    assert ready(demo)
    assert demo.control.wanted.ref == models.DEMO
    assert "tok/s" in page_text(demo).split("Hello")[-1]
    assert notice(demo).endswith("Going back to Demo.")


def test_a_message_for_a_model_that_is_refused_is_answered_by_the_one_before(
    demo_alone: Running, until: Until, tmp_path: Path
) -> None:
    demo_alone.window.come_forward(str(write_target(tmp_path / "Refused-1B-F32.gguf")))
    say(demo_alone, until, "Hello")
    assert "tok/s" in page_text(demo_alone)


def test_going_back_is_tried_once(
    start: Start, until: Until, own_model: Path, tmp_path: Path
) -> None:
    running = start()
    running.window.begin(str(own_model))
    until(lambda: ready(running))
    failed: list[str] = []
    running.control.went_back.connect(lambda selection, _: failed.append(selection.ref))
    running.control.load_failed.connect(lambda selection, _: failed.append(selection.ref))
    own_model.unlink()
    refused = str(write_target(tmp_path / "Refused-1B-F32.gguf"))
    running.window.come_forward(refused)
    until(lambda: running.control.phase is Phase.FAILED)
    until(lambda: running.work.idle)
    assert failed == [refused, str(own_model)]
    shown = running.window.notices.notice
    assert shown is not None
    assert shown.button == "Back to Demo"


def test_cancelling_a_load_that_began_leaves_no_engine_and_a_send_loads_again(
    demo: Running, until: Until
) -> None:
    before = guardians()
    demo.window.chat.speed.speculation_chosen.emit("off", 0)
    until(lambda: any(each not in before for each in guardians()))
    demo.window.chat.header.cancel_wanted.emit()
    until(lambda: demo.control.phase is not Phase.LOADING, 10)
    say(demo, until, "Hello")
    assert ready(demo)
    assert "tok/s" in page_text(demo)


def test_an_engine_that_dies_while_idle_is_told_and_a_send_restarts_it(
    demo: Running, until: Until
) -> None:
    kill_engines()
    until(lambda: bool(notice(demo)), 5)
    assert demo.control.phase is Phase.FAILED
    assert "not running" in demo.window.chat.header.model_text
    shown = demo.window.notices.notice
    assert shown is not None
    assert shown.button == "Restart"
    assert "killed" in shown.text or "ended" in shown.text
    phases: list[Phase] = []
    demo.control.changed.connect(lambda: phases.append(demo.control.phase))
    say(demo, until, "Hello")
    assert Phase.LOADING in phases
    assert "tok/s" in page_text(demo)
    assert not notice(demo)


def test_models_in_the_users_folders_are_offered_and_open(
    demo: Running, until: Until, own_model: Path
) -> None:
    drafter = paths.resources() / "demo" / "dflash-Slipstream-Demo-3M-Q8_0.gguf"
    shutil.copy(drafter, own_model.parent)
    (own_model.parent / "notes.gguf").write_text("not a model")
    demo.preferences.set("model_folders", (str(own_model.parent), "/nowhere"))
    header = demo.window.chat.header
    until(lambda: "On this computer" in header.offered())
    assert header.offered() == ["Demo", "Demo small", "On this computer", "My Own 3M Q8_0"]
    header.model_chosen.emit(str(own_model))
    assert demo.window.chat.header.model_text.startswith(" My Own 3M Q8_0 · loading")
    until(lambda: running_model(demo) == own_model)
    assert header.model_text == " My Own 3M Q8_0 ▾"
    assert header.marked() == ["My Own 3M Q8_0"]
    until(lambda: "Opened before" in header.offered())
    demo.preferences.set("model_folders", ())
    until(lambda: "On this computer" not in header.offered())
    assert header.offered() == ["Demo", "Demo small", "Opened before", "My Own 3M Q8_0"]


def test_a_file_opened_before_that_is_gone_is_not_offered(
    start: Start, until: Until, own_model: Path
) -> None:
    first = start()
    first.window.begin(str(own_model))
    until(lambda: running_model(first) == own_model)
    first.window.close()
    first.end()
    own_model.unlink()
    again = start()
    again.window.begin("")
    until(lambda: again.work.idle)
    assert again.window.chat.header.offered() == ["Demo", "Demo small"]


def test_a_shard_is_named_as_its_set(tmp_path: Path) -> None:
    assert models.title(str(tmp_path / "Some-Model-7B-Q4_K_M-00001-of-00003.gguf")) == (
        "Some Model 7B Q4_K_M"
    )


def test_a_dead_network_drive_does_not_stop_the_window(
    start: Start, until: Until, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead = str(tmp_path / "dead")
    waited: set[threading.Thread] = set()
    whole = os.stat

    def stat(path: object, *args: object, **more: object) -> os.stat_result:
        if str(path).startswith(dead):
            waited.add(threading.current_thread())
            time.sleep(0.05)
        return whole(path, *args, **more)  # type: ignore[arg-type]

    first = start()
    first.window.state = first.window.state.with_opened(Path(dead, "a.gguf"))
    first.window.close()
    first.end()
    monkeypatch.setattr(os, "stat", stat)
    running = start()
    running.window.begin(str(Path(dead, "b.gguf")))
    until(lambda: bool(notice(running)))
    until(lambda: running.work.idle)
    assert waited
    assert threading.main_thread() not in waited


def test_a_drafter_that_does_not_work_is_told_and_what_runs_instead(
    demo: Running, until: Until, own_model: Path
) -> None:
    shipped = paths.resources() / "demo" / "dflash-Slipstream-Demo-3M-Q8_0.gguf"
    broken = shipped.read_bytes().replace(b"blk.1.attn_norm.weight", b"blk.1.attn_mron.weight")
    (own_model.parent / "dflash-My-Own-3M-Q8_0.gguf").write_bytes(broken)
    told: list[str] = []
    demo.window.news.noticed.connect(lambda each: told.append(each.text))
    demo.window.come_forward(str(own_model))
    until(lambda: running_model(demo) == own_model)
    demo.window.chat.speed.speculation_chosen.emit("dflash", 5)
    until(lambda: ready(demo))
    assert len(told) == 2
    assert told[0].startswith("It did not work with 5 draft tokens (")
    assert told[0].endswith("). Trying without a drafter.")
    assert told[1].startswith("Running without a drafter: ")
    assert "dflash-My-Own-3M-Q8_0.gguf" in told[1]


def test_an_engine_that_is_none_offers_the_one_that_is_built_in(
    demo_alone: Running, until: Until
) -> None:
    demo = demo_alone
    demo.preferences.set("engine", sys.executable)
    demo.window.notices.act()  # Reload now
    until(lambda: "does not answer as an engine should" in notice(demo))
    shown = demo.window.notices.notice
    assert shown is not None
    assert shown.button == "Use the built-in engine"
    demo.window.notices.act()
    until(lambda: ready(demo))
    assert demo.preferences.values.engine == EMBEDDED


def test_a_drafter_that_was_meant_for_the_model_and_is_damaged_is_told(
    demo: Running, until: Until, tmp_path: Path
) -> None:
    model = write_demo_without_head(tmp_path / "My-Model-F32.gguf")
    (tmp_path / "dflash-My-Model.gguf").write_bytes(DEMO_DFLASH.read_bytes()[:20_000])
    demo.window.come_forward(str(model))
    until(lambda: "dflash-My-Model.gguf is not used." in notice(demo))
    assert demo.control.phase is Phase.READY
    demo.window.notices.clear()
    demo.window.come_forward("demo")
    until(lambda: demo.window.chat.header.mode.text() == "MTP · 3 tokens")
    assert not notice(demo)


def test_why_a_load_failed_stays_beside_what_is_told_of_the_model_before(
    demo_alone: Running, until: Until, tmp_path: Path
) -> None:
    demo = demo_alone
    model = write_demo_without_head(tmp_path / "My-Model-F32.gguf")
    (tmp_path / "dflash-My-Model.gguf").write_bytes(DEMO_DFLASH.read_bytes()[:20_000])
    refused = write_target(tmp_path / "Refused-1B-F32.gguf")
    demo.window.come_forward(str(model))
    until(lambda: "dflash-My-Model.gguf is not used." in notice(demo))
    demo.window.come_forward(str(refused))
    until(lambda: "Going back to" in notice(demo) and ready(demo))
    until(lambda: demo.work.idle)
    assert "Refused-1B-F32.gguf" in notice(demo)
    assert "Going back to My Model F32. dflash-My-Model.gguf is not used." in notice(demo)


def test_a_model_that_is_too_large_offers_its_smaller_quantization(
    demo: Running, until: Until, own_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = paths.resources() / "demo" / DEEP_DEMO
    large = Path(shutil.copy(deep, own_model.with_name("My-Own-3M-F16.gguf")))
    monkeypatch.setattr(launch, "read_memory", lambda: Memory(12 << 20, 8 << 20))
    demo.window.come_forward(str(large))
    until(lambda: bool(notice(demo)))
    assert notice(demo).startswith("My-Own-3M-F16.gguf needs 18 MB of memory")
    shown = demo.window.notices.notice
    assert shown is not None
    assert shown.button == "Load Q8_0 instead"
    assert demo.control.holds()["CPU"] > 1 << 20
    assert DEEP_DEMO in (demo.control.command() or "")
    assert ready(demo), "what ran before still runs"
    monkeypatch.undo()
    demo.window.notices.act()
    until(lambda: running_model(demo) == own_model)
    assert not notice(demo)


def test_a_model_that_seems_too_large_can_be_loaded_anyway(
    demo: Running, until: Until, own_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "read_memory", lambda: Memory(2 << 20, 1 << 20))
    demo.window.come_forward(str(own_model))
    until(lambda: bool(notice(demo)))
    shown = demo.window.notices.notice
    assert shown is not None
    assert shown.button == "Load anyway"
    demo.window.notices.act()
    until(lambda: running_model(demo) == own_model)
    say(demo, until, "Hello")
    assert "tok/s" in page_text(demo)


def test_settings_of_a_model_that_break_it_can_be_left_aside(
    demo_alone: Running, until: Until, own_model: Path
) -> None:
    save_settings(own_model, ModelSettings(chat_template="{{ nonsense"))
    demo_alone.window.come_forward(str(own_model))
    until(lambda: bool(notice(demo_alone)))
    assert "chat template" in notice(demo_alone)
    assert notice(demo_alone).endswith("Going back to Demo.")
    shown = demo_alone.window.notices.notice
    assert shown is not None
    assert shown.button == "Load with default settings"
    until(lambda: ready(demo_alone))
    demo_alone.window.notices.act()
    until(lambda: running_model(demo_alone) == own_model)


def test_a_model_that_is_gone_leads_to_those_that_are_here(
    demo: Running, until: Until, tmp_path: Path
) -> None:
    demo.window.come_forward(str(tmp_path / "gone.gguf"))
    until(lambda: "There is no model at" in notice(demo))
    assert "It may have been moved or deleted" in notice(demo)
    demo.window.notices.act()
    assert demo.window.pages.models.overview.isVisible()


def test_help_for_a_load_is_not_offered_when_another_one_began(
    demo: Running, until: Until, own_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    demo.window.news.noticed.connect(lambda each: told.append(each.text))
    demo.control.load_failed.connect(lambda *_: demo.window.come_forward(str(own_model)))
    demo.window.come_forward(str(own_model.with_name("gone.gguf")))
    until(lambda: running_model(demo) == own_model)
    until(lambda: demo.work.idle)
    assert not told


def test_images_that_cannot_be_had_are_told(demo: Running, until: Until, own_model: Path) -> None:
    write_projector(own_model.with_name("mmproj-My-Own-3M.gguf"))
    demo.window.come_forward(str(own_model))
    until(lambda: running_model(demo) == own_model)
    assert notice(demo).startswith("Running without images: The projector mmproj-My-Own-3M.gguf")
