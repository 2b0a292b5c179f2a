"""Load a model and talk to it, on the real engine: what the window and the command line do."""

import os
import shlex
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from gguf import GGUFReader, GGUFWriter

from bad_engines import Posing
from gguf_files import (
    DEMO_SMALL,
    copy_keys,
    write_demo_without_head,
    write_dflash_of_another_target,
    write_file,
    write_projector,
)
from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters.attached import identity
from slipstream.drafters.choose import DRAFT_TOKENS
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecChoice, SpecConfig, Unfit
from slipstream.engine import client as client_module
from slipstream.engine import launch as launch_module
from slipstream.engine.dryrun import dry_run
from slipstream.engine.events import (
    EngineState,
    FellBack,
    Finished,
    LoadEvent,
    Piece,
    Reading,
    ReplyEvent,
    ReplyNumbers,
    Source,
    StateChanged,
)
from slipstream.engine.held import freed
from slipstream.engine.launch import command_of
from slipstream.engine.model_records import save_settings
from slipstream.engine.model_settings import ModelSettings
from slipstream.engine.remedies import RemedyKind, remedy_for
from slipstream.engine.requests import ChatMessage, Loaded, LoadRequest, ReplyOptions
from slipstream.engine.session import Session
from slipstream.engine.spec import Choice, EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.hub.library.uses import last_uses
from slipstream.machine.memory import Memory
from slipstream.paths import log_folder
from slipstream.planning.computer import Computer
from slipstream.planning.parts import HOST, Setup
from slipstream.planning.truth import recent
from slipstream.weights import cache as cache_module
from slipstream.weights.header import Header, read_header
from slipstream.weights.shards import read_model

STORY = [ChatMessage("user", "Tell me a story about a fox.")]
GREEDY = ReplyOptions(temperature=0.0, max_tokens=120)


@pytest.fixture
def session(embedded: EngineSpec) -> Iterator[Session]:
    # Two spinning threads crawl on a machine that has other things to do.
    one = Session(lambda: Choice(embedded, threads=1))
    yield one
    one.stop()


@pytest.fixture(scope="module")
def running(embedded: EngineSpec, demo: Path) -> Iterator[Session]:
    """With the demo loaded; for tests that leave it so."""
    one = Session(lambda: Choice(embedded, threads=1))
    load(one, demo)
    yield one
    one.stop()


def load(session: Session, model: Path, spec: SpecChoice = "auto") -> list[LoadEvent]:
    return list(session.load(LoadRequest(model, spec, context=1024), CancelToken()))


def reply(session: Session, messages: list[ChatMessage] = STORY) -> list[ReplyEvent]:
    return list(session.reply(messages, GREEDY, CancelToken()))


def text_of(events: list[ReplyEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, Piece))


def numbers_of(events: list[ReplyEvent]) -> ReplyNumbers:
    assert isinstance(events[-1], Finished)
    return events[-1].numbers


@dataclass(frozen=True)
class Story:
    """How a model was loaded, and everything the session told of its story."""

    loaded: Loaded
    loading: list[LoadEvent]
    told: list[ReplyEvent]


@pytest.fixture(scope="module")
def stories(embedded: EngineSpec, demo: Path) -> dict[SpecChoice, Story]:
    """The same story from the demo model, with every kind of drafter that it has and without."""
    session = Session(lambda: Choice(embedded, threads=1))
    stories: dict[SpecChoice, Story] = {}
    try:
        for spec in ("off", DrafterKind.MTP, DrafterKind.DFLASH, DrafterKind.NGRAM):
            loading = load(session, demo, spec)
            assert session.state is EngineState.READY
            assert session.loaded
            stories[spec] = Story(session.loaded, loading, reply(session))
    finally:
        session.stop()
    return stories


@pytest.mark.parametrize(("spec", "share"), [(DrafterKind.MTP, 0.7), (DrafterKind.DFLASH, 0.4)])
def test_a_drafter_supplies_much_of_a_story(
    stories: dict[SpecChoice, Story], spec: SpecChoice, share: float
) -> None:
    story = stories[spec]
    assert story.loaded.spec.kind is spec
    assert story.loaded.fallback is None
    assert story.loading[-1] == StateChanged(EngineState.READY)
    numbers = numbers_of(story.told)
    assert numbers.acceptance
    assert numbers.acceptance > share
    drafted = [p for p in story.told if isinstance(p, Piece) and p.source is Source.DRAFTER]
    assert len(drafted) == numbers.accepted
    assert sum(numbers.by_position) == pytest.approx(numbers.accepted / numbers.steps)
    assert text_of(story.told).startswith("Once upon a time")


def test_the_drafter_is_chosen_by_itself(running: Session) -> None:
    assert running.loaded
    assert running.loaded.spec.kind is DrafterKind.MTP
    assert running.loaded.fallback is None
    assert (numbers_of(reply(running)).acceptance or 0) > 0.7


def test_the_demo_says_the_same_on_this_engine_with_every_kind_and_without(
    stories: dict[SpecChoice, Story],
) -> None:
    assert len({text_of(story.told) for story in stories.values()}) == 1


def test_plain_decoding_makes_one_token_a_step(stories: dict[SpecChoice, Story]) -> None:
    plain = stories["off"]
    assert plain.loaded.spec == PLAIN
    numbers = numbers_of(plain.told)
    assert (numbers.drafted, numbers.acceptance, numbers.tokens_per_step) == (0, None, 1.0)


def test_a_conversation_continues(running: Session) -> None:
    first = reply(running)
    more = [*STORY, ChatMessage("assistant", text_of(first)), ChatMessage("user", "Hello")]
    second = numbers_of(reply(running, more))
    assert second.prompt_cached > 0


def test_a_drafter_that_the_engine_rejects_costs_the_drafter_not_the_chat(
    session: Session, demo: Path, tmp_path: Path
) -> None:
    """Its header is all right, so that only the engine can find out."""
    target = Path(shutil.copy(demo.with_name("Slipstream-Demo-3M-Q8_0.gguf"), tmp_path))
    drafter = demo.with_name("dflash-Slipstream-Demo-3M-Q8_0.gguf").read_bytes()
    broken = drafter.replace(b"blk.1.attn_norm.weight", b"blk.1.attn_mron.weight")
    assert broken != drafter
    (tmp_path / "dflash-Slipstream-Demo-3M-Q8_0.gguf").write_bytes(broken)
    events = load(session, target, DrafterKind.DFLASH)
    (fall,) = [event for event in events if isinstance(event, FellBack)]
    assert fall.now == PLAIN
    assert session.loaded
    assert session.loaded.fallback == fall.reason
    assert "dflash-Slipstream-Demo-3M-Q8_0.gguf" in fall.reason
    assert text_of(reply(session)).startswith("Once upon a time")


def test_the_drafter_of_another_target_is_not_taken(
    session: Session, demo: Path, tmp_path: Path
) -> None:
    target = Path(shutil.copy(demo, tmp_path))
    write_dflash_of_another_target(tmp_path / "dflash-Slipstream-Demo-3M-Q8_0.gguf")
    with pytest.raises(SlipstreamError) as raised:
        load(session, target, DrafterKind.DFLASH)
    assert raised.value.code == "no_drafter"


def test_a_drafter_that_was_meant_for_the_model_and_does_not_fit_is_named(
    session: Session, tmp_path: Path
) -> None:
    model = write_demo_without_head(tmp_path / "Slipstream-Demo-3M-F32.gguf")
    foreign = write_dflash_of_another_target(tmp_path / "dflash-Slipstream-Demo-3M.gguf")
    (told,) = [event for event in load(session, model) if isinstance(event, Unfit)]
    assert told.path == foreign
    assert told.reason == "Its hidden size is 512, this model's is 256."
    assert session.loaded
    assert session.loaded.spec == PLAIN

    with pytest.raises(SlipstreamError) as caught:
        load(session, model, DrafterKind.DFLASH)
    assert caught.value.message == f"{foreign.name} cannot draft for this model. {told.reason}"
    assert session.loaded, "what runs stays"


def test_stopping_a_reply_keeps_what_was_said(running: Session) -> None:
    cancel = CancelToken()
    told: list[ReplyEvent] = []
    for event in running.reply(STORY, GREEDY, cancel):
        told.append(event)
        if len(told) == 8:
            cancel.cancel()
    assert isinstance(told[-1], Finished)
    assert told[-1].finish == "cancelled"
    assert 0 < told[-1].numbers.tokens < 60
    assert text_of(reply(running)).startswith(text_of(told))


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_stopping_does_not_wait_for_an_engine_that_is_deep_in_a_prompt(running: Session) -> None:
    """A frozen engine stands for one that computes a batch of a very large prompt."""
    cancel = CancelToken()
    engine = _engine(running)
    started = time.monotonic()
    try:
        for event in running.reply(STORY, GREEDY, cancel):
            if isinstance(event, Reading):
                engine.suspend()
                started = time.monotonic()
                cancel.cancel()
            last = event
        waited = time.monotonic() - started
    finally:
        engine.resume()
    assert isinstance(last, Finished)
    assert last.finish == "cancelled"
    assert waited < 5  # the engine would have 10 seconds to answer a question
    assert text_of(reply(running)).startswith("Once upon a time")
    assert numbers_of(reply(running)).by_position


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_does_not_wait_for_the_counters_after_a_reply(
    running: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "_ANSWER", 60.0)
    assert running._client
    cancel = CancelToken()
    engine = _engine(running)
    engine.suspend()
    threading.Timer(0.2, cancel.cancel).start()
    started = time.monotonic()
    try:
        _, after = running._counters_around(running._client, cancel)
    finally:
        engine.resume()
    assert after is None
    assert time.monotonic() - started < 30
    assert text_of(reply(running))


def test_an_engine_that_is_killed_in_a_reply_is_named_and_can_be_started_again(
    session: Session, demo: Path
) -> None:
    load(session, demo)
    told: list[ReplyEvent] = []
    with pytest.raises(SlipstreamError) as raised:
        for event in session.reply(STORY, GREEDY, CancelToken()):
            told.append(event)
            if len(told) == 8:
                _engine(session).kill()
    assert raised.value.code == "engine_killed"
    assert text_of(told)
    load(session, demo)
    assert text_of(reply(session)).startswith(text_of(told))


def test_a_prompt_longer_than_the_context_is_refused_with_both_numbers(running: Session) -> None:
    with pytest.raises(SlipstreamError) as raised:
        reply(running, [ChatMessage("user", "fox " * 3000)])
    assert raised.value.code == "context_too_long"
    assert raised.value.facts["context"] == 1024
    assert text_of(reply(running))


def test_a_wrong_file_does_not_unload_what_runs(running: Session, tmp_path: Path) -> None:
    text = tmp_path / "notes.gguf"
    text.write_text("not a model")
    with pytest.raises(SlipstreamError) as raised:
        load(running, text)
    assert raised.value.code == "not_a_model"
    assert text_of(reply(running))


@pytest.mark.parametrize("moment", [EngineState.STARTING, EngineState.LOADING, EngineState.READY])
def test_cancelling_a_load_leaves_no_engine(
    session: Session, demo: Path, moment: EngineState
) -> None:
    cancel = CancelToken()
    states = []
    with pytest.raises(Cancelled):
        for event in session.load(LoadRequest(demo), cancel):
            assert isinstance(event, StateChanged)
            states.append(event.state)
            if event.state is moment:
                cancel.cancel()
    assert states[-1] is moment
    assert session.loaded is None
    assert session.state is EngineState.STOPPED


def test_without_a_model_there_is_a_clear_error(session: Session) -> None:
    with pytest.raises(SlipstreamError) as raised:
        reply(session)
    assert raised.value.code == "not_loaded"


def test_an_engine_that_lacks_a_kind_of_drafter_still_loads(
    embedded: EngineSpec, demo: Path
) -> None:
    old = replace(embedded, spec_types=("draft-simple", "draft-dflash"))
    session = Session(lambda: Choice(old, threads=1))
    try:
        load(session, demo, "auto")
        assert session.loaded
        assert session.loaded.spec.kind is DrafterKind.DFLASH
        assert session.loaded.fallback is None
        (fall,) = [e for e in load(session, demo, DrafterKind.MTP) if isinstance(e, FellBack)]
        assert (fall.code, fall.now) == ("engine_cannot", PLAIN)
        assert "MTP" in str(session.loaded.fallback)
    finally:
        session.stop()


def test_a_model_gets_no_more_context_than_it_was_trained_for(session: Session, demo: Path) -> None:
    list(session.load(LoadRequest(demo, "off", context=10_000_000), CancelToken()))
    assert session.loaded
    assert session.loaded.context == 4096


def test_the_user_chooses_threads_and_context(embedded: EngineSpec, demo: Path) -> None:
    session = Session(lambda: Choice(embedded, threads=1, context=2560))
    try:
        list(session.load(LoadRequest(demo, "off"), CancelToken()))
        assert session.loaded
        assert session.loaded.context == 2560
        words = _engine(session).cmdline()
        assert words[words.index("--threads") + 1] == "1"
    finally:
        session.stop()


def test_a_model_larger_than_memory_is_told_once_and_does_not_unload_what_runs(
    running: Session, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_module, "read_memory", lambda: Memory(8 << 20, 8 << 20))
    told: list[LoadEvent] = []
    with pytest.raises(SlipstreamError) as raised:
        told.extend(running.load(LoadRequest(demo), CancelToken()))
    assert raised.value.code == "model_too_large"
    assert not told or not any(isinstance(event, FellBack) for event in told)
    assert text_of(reply(running))


def test_a_drafter_that_makes_it_too_large_is_left_out(
    session: Session, demo: Path, dflash: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    just_enough = Memory(demo.stat().st_size + dflash.stat().st_size - 1000, 8 << 20)
    monkeypatch.setattr(launch_module, "read_memory", lambda: just_enough)
    falls = [e for e in load(session, demo, DrafterKind.DFLASH) if isinstance(e, FellBack)]
    assert [(fall.code, fall.now) for fall in falls] == [("model_too_large", PLAIN)]


def test_the_header_of_the_target_is_read_once(
    session: Session, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Path(shutil.copy(demo, tmp_path))
    read = Counter[Path]()

    def counted(path: Path, **options: Any) -> Header:
        read[path] += 1
        return read_header(path, **options)

    monkeypatch.setattr(cache_module, "read_header", counted)
    load(session, target)
    assert read == {target: 1}


def test_what_a_launch_takes_is_kept_beside_the_prediction(
    session: Session, embedded: EngineSpec, demo: Path
) -> None:
    load(session, demo, DrafterKind.MTP)
    assert session.loaded
    (formula,) = recent(9)
    assert (formula.model, formula.quantization) == ("Slipstream-Demo-Deep-3M", "Q8_0")
    assert (formula.context, formula.spec, formula.backends) == (1024, "mtp", {HOST: "CPU"})
    assert formula.predicted.method == "formula"
    assert formula.loaded.target[HOST].weights > 16 << 20
    assert formula.loaded.drafter[HOST].context > 0
    setup = Setup(1024, session.loaded.spec, batch=512)
    said = dry_run(embedded, read_model(demo), setup, CancelToken())
    load(session, demo, DrafterKind.MTP)
    asked = recent(9)[0]
    assert asked.predicted.method == "dry-run"
    for planned, told in (
        (asked.predicted.breakdown.target[HOST], said.target[HOST]),
        (asked.predicted.breakdown.drafter[HOST], said.drafter[HOST]),
    ):
        assert (planned.context, planned.compute) == (told.context, told.compute)
    # The tensor table tells the weights to the byte, the head's with the drafter.
    assert asked.predicted.breakdown.drafter[HOST].weights == 841_216
    assert asked.comparable(HOST)
    assert -0.3 < asked.shortfall(HOST) <= 0


def test_the_models_own_settings_go_before_the_apps_and_a_request_before_them(
    session: Session, demo: Path
) -> None:
    save_settings(demo, ModelSettings(context=768, spec="off", batch=96, micro_batch=64))
    list(session.load(LoadRequest(demo), CancelToken()))
    assert session.loaded
    assert (session.loaded.context, session.loaded.spec) == (768, PLAIN)
    words = _engine(session).cmdline()
    assert words[words.index("--batch-size") + 1] == "96"
    assert words[words.index("--ubatch-size") + 1] == "64"
    list(session.load(LoadRequest(demo, DrafterKind.NGRAM, 7, 512), CancelToken()))
    assert (session.loaded.context, session.loaded.spec.kind) == (512, DrafterKind.NGRAM)
    assert session.loaded.spec.draft_tokens == 7
    list(session.load(LoadRequest(demo, own_settings=False, context=600), CancelToken()))
    assert (session.loaded.context, session.loaded.spec.kind) == (600, DrafterKind.MTP)
    assert last_uses()[identity(demo)] == pytest.approx(time.time(), abs=60)


def test_the_models_own_draft_tokens_are_for_its_own_way_to_speculate(
    session: Session, demo: Path
) -> None:
    save_settings(demo, ModelSettings(spec=DrafterKind.MTP, draft_tokens=2))
    load(session, demo)
    assert session.loaded
    assert session.loaded.spec == SpecConfig(DrafterKind.MTP, None, 2)
    load(session, demo, DrafterKind.NGRAM)
    assert session.loaded.spec.draft_tokens == DRAFT_TOKENS[DrafterKind.NGRAM]


def test_sampling_follows_the_models_settings_from_the_next_reply_on(running: Session) -> None:
    assert running.loaded
    model = running.loaded.request.model
    story = text_of(reply(running))
    open_ended = ReplyOptions()
    save_settings(model, ModelSettings(temperature=0.0, max_tokens=5))
    told = list(running.reply(STORY, open_ended, CancelToken()))
    assert numbers_of(told).tokens == 5
    assert story.startswith(text_of(told))
    short = list(running.reply(STORY, replace(open_ended, max_tokens=3), CancelToken()))
    assert numbers_of(short).tokens == 3
    save_settings(model, ModelSettings(preset="creative", top_k=1, max_tokens=40))
    told = list(running.reply(STORY, open_ended, CancelToken()))
    assert story.startswith(text_of(told)), "of one candidate, any temperature takes it"


def test_extra_arguments_are_checked_while_the_old_model_still_runs(
    running: Session, demo: Path
) -> None:
    save_settings(demo, ModelSettings(extra="--host 0.0.0.0"))
    with pytest.raises(SlipstreamError) as raised:
        load(running, demo)
    assert raised.value.code == "extra_refused"
    assert running.state is EngineState.READY


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("--device NOPE", 'error while handling argument "--device": invalid device: NOPE'),
        ("--chat-template-kwargs {bad", "Expecting property name"),
        ("--threads-batch abc", "invalid literal for int() with base 10: 'abc'"),
        ("--reasoning-budget -1 extra words", "invalid argument: extra"),
    ],
)
def test_extra_arguments_that_the_engine_refuses_are_told_at_once_in_its_words(
    session: Session, demo: Path, extra: str, words: str
) -> None:
    save_settings(demo, ModelSettings(extra=extra))
    told: list[LoadEvent] = []
    with pytest.raises(SlipstreamError) as raised:
        told.extend(session.load(LoadRequest(demo, context=1024), CancelToken()))
    assert raised.value.code == "extra_refused"
    assert raised.value.message.startswith("The engine refuses the extra arguments: ")
    assert words in raised.value.message
    assert not [event for event in told if isinstance(event, FellBack)]
    assert session.state is EngineState.STOPPED


def test_two_settings_that_exclude_each_other_do_not_unload_what_runs(
    running: Session, demo: Path
) -> None:
    save_settings(demo, ModelSettings(kv_type="q4_0", flash_attention="off"))
    with pytest.raises(SlipstreamError) as raised:
        load(running, demo)
    assert raised.value.code == "setting_conflict"
    assert running.state is EngineState.READY


SHORT_OF_MEMORY = """
context = int(sys.argv[sys.argv.index("--ctx-size") + 1])
if context > 8192:
    print("E ggml_aligned_malloc: insufficient memory (attempted to allocate 3072.00 MB)")
    sys.exit(1)
if context > {enough}:
    os.abort()
os.execv({python!r}, [{python!r}, *{rest!r}, *sys.argv[1:]])
"""


@pytest.mark.skipif(os.name == "nt", reason="a POSIX script poses as the engine")
def test_a_crash_after_lack_of_memory_leads_to_less_context(
    embedded: EngineSpec, posing_as: Posing, tmp_path: Path
) -> None:
    def short(enough: int) -> Session:
        python, *rest = embedded.command
        body = SHORT_OF_MEMORY.format(enough=enough, python=python, rest=rest)
        return Session(lambda: Choice(posing_as(body), threads=1))

    request = LoadRequest(_with_longer_context(tmp_path / "Long-3M-Q8_0.gguf"), context=16384)
    session = short(4096)
    try:
        falls = [
            event for event in session.load(request, CancelToken()) if isinstance(event, FellBack)
        ]
        assert {fall.code for fall in falls} == {"not_enough_memory"}
        assert [fall.context for fall in falls][-2:] == [8192, 4096]
        assert session.loaded
        assert session.loaded.context == 4096
    finally:
        session.stop()
    with pytest.raises(SlipstreamError) as raised:
        list(short(0).load(request, CancelToken()))
    assert raised.value.code == "not_enough_memory"
    assert "shorter context" in raised.value.action
    remedy = remedy_for(raised.value, request)
    assert remedy
    assert (remedy.kind, remedy.request.context) == (RemedyKind.SMALLER_CONTEXT, 2048)


def test_extra_arguments_reach_the_engine(session: Session, demo: Path) -> None:
    save_settings(demo, ModelSettings(extra="--no-warmup"))
    load(session, demo, "off")
    assert _engine(session).cmdline()[-1] == "--no-warmup"


@pytest.mark.skipif(sys.platform == "win32", reason="quoting of a POSIX shell")
def test_the_command_that_is_shown_is_the_one_that_runs(session: Session, demo: Path) -> None:
    choice = session._choose_engine()
    request = LoadRequest(demo, DrafterKind.MTP, 2, 1024)
    promised = shlex.split(command_of(request, choice))
    list(session.load(request, CancelToken()))
    shown = session.command()
    assert shown
    said = shlex.split(shown)
    assert said[1:] == _engine(session).cmdline()[1:]
    port = said.index("--port") + 1
    assert promised[:port] + promised[port + 1 :] == said[:port] + said[port + 1 :]
    session.stop()
    assert session.command() is None


def test_a_projector_that_the_engine_refuses_costs_the_images_not_the_chat(
    session: Session, tmp_path: Path
) -> None:
    target = Path(shutil.copy(DEMO_SMALL, tmp_path))
    projector = write_projector(tmp_path / "mmproj-Slipstream-Demo-3M.gguf")
    events = load(session, target)
    (fall,) = [event for event in events if isinstance(event, FellBack)]
    assert (fall.code, fall.without_images) == ("projector_unfit", True)
    assert projector.name in fall.reason
    assert session.loaded
    assert session.loaded.projector is None
    assert session.loaded.spec.kind is DrafterKind.MTP, "the drafter has no part in it"
    save_settings(target, ModelSettings(use_projector=False))
    assert not any(isinstance(event, FellBack) for event in load(session, target))


def test_load_anyway_asks_nobody_about_memory(
    session: Session, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_module, "read_memory", lambda: Memory(8 << 20, 8 << 20))
    list(session.load(LoadRequest(demo, context=1024, anyway=True), CancelToken()))
    assert session.loaded
    assert session.loaded.spec.kind is DrafterKind.MTP


def test_a_session_knows_what_unloading_gives_back(session: Session, demo: Path) -> None:
    assert session.holds() == {}
    list(session.load(LoadRequest(demo, context=4096), CancelToken()))
    held = session.holds()
    engine = _engine(session).memory_info().rss
    (outcome,) = recent(1)
    buffers = outcome.loaded.target[HOST]
    assert held.keys() == {HOST}
    assert buffers.context < held[HOST] < engine
    computer = Computer(Memory(1 << 40, 1 << 30))
    assert freed(computer, held).memory.free == (1 << 30) + held[HOST]
    session.stop()
    assert session.holds() == {}


def test_memory_is_judged_as_it_is_after_the_unload(
    running: Session, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_module, "read_memory", lambda: Memory(8 << 20, 1 << 20))
    with pytest.raises(SlipstreamError) as raised:
        load(running, demo)
    free = raised.value.facts["free"]
    assert isinstance(free, int)
    assert free > 1 << 20
    assert running.state is EngineState.READY


def test_prompts_and_replies_stay_out_of_the_log(session: Session, demo: Path) -> None:
    load(session, demo)
    said = text_of(reply(session, [ChatMessage("user", "Tell me of a zanzibarian fox.")]))
    session.stop()
    log = (log_folder() / "engine.log").read_text()
    assert "verbosity = 4" in log
    assert "zanzibarian" not in log
    assert said[:20] not in log


def _with_longer_context(path: Path) -> Path:
    """The small demo, as if it were trained for 16,384 tokens."""
    demo = GGUFReader(DEMO_SMALL)
    architecture = str(demo.fields["general.architecture"].contents())
    writer = GGUFWriter(path, architecture)
    copy_keys(demo, writer, {f"{architecture}.context_length": 16384})
    for tensor in demo.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    write_file(writer)
    return path


def _engine(session: Session) -> psutil.Process:
    assert session._process
    assert session._process._child
    (engine,) = psutil.Process(session._process._child.pid).children()
    return engine
