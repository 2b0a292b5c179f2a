"""Whatever an engine sends, it becomes chunks or an error with a name."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipstream.engine.chunks import Chunk, chat_chunk, completion_chunk
from slipstream.engine.client import _chunk
from slipstream.engine.wire import Json, refused, understood
from slipstream.errors import SlipstreamError

READERS = [chat_chunk, completion_chunk]

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def object_of(*names: str, inside: st.SearchStrategy[Any] = anything) -> st.SearchStrategy[Any]:
    """Objects with the names that engines use, and anything as their values."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(names, inside)) | anything


counts = st.integers(-3, 9) | st.floats() | anything
errors = object_of("message", "code", "type") | st.builds(
    lambda told: {"type": "exceed_context_size_error", **told},
    st.fixed_dictionaries({}, optional={"n_prompt_tokens": counts, "n_ctx": counts}),
)
deltas = object_of("content", "reasoning_content", inside=scalars)
choices = st.fixed_dictionaries({}, optional={"delta": deltas, "finish_reason": scalars}) | anything
timings = object_of(
    *("cache_n", "prompt_n", "prompt_ms", "predicted_n", "predicted_ms"),
    *("draft_n", "draft_n_accepted"),
    inside=counts,
)
events = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(choices, max_size=2) | anything,
        "timings": timings,
        "prompt_progress": object_of("processed", "total", inside=counts),
        "error": errors,
        "content": scalars,
        "stop": scalars,
        "stop_type": scalars,
    },
)


def understand(read: Callable[[Json], Chunk], data: str) -> Chunk | SlipstreamError:
    try:
        return understood(partial(_chunk, read), data)
    except SlipstreamError as error:
        assert_can_be_told(error)
        return error


def assert_can_be_told(error: SlipstreamError) -> None:
    assert error.code in ("not_an_engine", "engine_refused", "context_too_long")
    assert error.message.endswith(".") or ": " in error.message
    assert all(value is None or isinstance(value, str | int) for value in error.facts.values())
    json.dumps(error.to_json()).encode()


@pytest.mark.parametrize("read", READERS)
@given(event=events | anything)
def test_any_json_as_an_event_is_a_chunk_or_an_error(
    read: Callable[[Json], Chunk], event: object
) -> None:
    match understand(read, json.dumps(event)):
        case Chunk(text=text, reasoning=reasoning, finish=finish, timings=told):
            f"{text}{reasoning}{finish}".encode()  # can be stored
            assert told is None or 0 <= told.accepted <= told.drafted


@pytest.mark.parametrize("read", READERS)
@given(data=st.text())
def test_any_text_as_an_event_is_a_chunk_or_an_error(
    read: Callable[[Json], Chunk], data: str
) -> None:
    understand(read, data)


@given(st.integers(300, 599), st.fixed_dictionaries({"error": errors}) | anything)
def test_any_json_as_the_body_of_an_error_is_an_error(http_status: int, body: object) -> None:
    error = refused(http_status, json.dumps(body))
    assert error.code in ("engine_refused", "context_too_long")
    assert_can_be_told(error)


@pytest.mark.parametrize(
    ("event", "code"),
    [
        ({"error": "nope"}, "engine_refused"),
        ({"error": {"type": "exceed_context_size_error"}}, "engine_refused"),
        (
            {
                "error": {
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": "x",
                    "n_ctx": None,
                }
            },
            "engine_refused",
        ),
        ({"choices": [{"delta": {"content": 5}}]}, "not_an_engine"),
        ({"choices": [{"finish_reason": 7}]}, "not_an_engine"),
        ({"choices": "x"}, "not_an_engine"),
        ({"choices": [7]}, "not_an_engine"),
        ({"timings": {"predicted_n": "many", "prompt_n": None}}, "not_an_engine"),
        ({"prompt_progress": {"processed": "x", "total": 0}}, "not_an_engine"),
    ],
)
def test_odd_events_have_their_names(event: object, code: str) -> None:
    error = understand(chat_chunk, json.dumps(event))
    assert isinstance(error, SlipstreamError)
    assert error.code == code


@pytest.mark.parametrize(
    "data",
    ["[" * 100_000, '{"choices":' * 100_000, "9" * 5000, '{"content":' + "1e999}", ""],
    ids=["deep", "deep objects", "long number", "infinite", "empty"],
)
def test_json_that_no_program_can_read_is_named(data: str) -> None:
    assert isinstance(understand(completion_chunk, data), SlipstreamError)
    assert refused(500, data).code == "engine_refused"


def test_null_in_the_place_of_an_error_is_none() -> None:
    event = {"error": None, "choices": [{"delta": {"content": "a"}}]}
    assert understand(chat_chunk, json.dumps(event)) == Chunk("a")


def test_half_a_surrogate_pair_becomes_a_character_that_can_be_stored() -> None:
    chunk = understand(chat_chunk, r'{"choices":[{"delta":{"content":"\ud800 x"}}]}')
    assert chunk == Chunk("? x")


@pytest.mark.parametrize("body", ["nope", '{"error":"nope"}', '{"error":{"message":"nope"}}'])
def test_the_engine_s_words_are_told(body: str) -> None:
    error = refused(400, body)
    assert error.message == "The engine refused the request: nope"
    assert error.facts == {"engine_message": "nope", "http_status": 400}


def test_without_words_a_refusal_is_a_sentence_all_the_same() -> None:
    error = refused(500, '{"error":null}')
    assert error.message == "The engine refused the request."
    assert error.facts["http_status"] == 500
