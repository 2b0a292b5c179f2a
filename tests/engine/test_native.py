"""The same against a llama-server that was built from source."""

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from real_loads import loaded
from recorded import assert_same
from slipstream.cancel import CancelToken
from slipstream.drafters.kinds import PLAIN, DrafterKind, SpecChoice, SpecConfig
from slipstream.engine.config import LaunchConfig
from slipstream.engine.dryrun import dry_run
from slipstream.engine.events import EngineState, Finished, Piece, Source, StateChanged
from slipstream.engine.process import EngineProcess, free_port
from slipstream.engine.requests import ChatMessage, LoadRequest, ReplyOptions
from slipstream.engine.session import Session
from slipstream.engine.spec import Choice, EngineSpec, learn, read_hardware
from slipstream.errors import SlipstreamError
from slipstream.planning.parts import HOST, Setup, Share
from slipstream.weights.shards import read_model

PATH = os.environ.get("SLIPSTREAM_TEST_LLAMA_SERVER", "")
pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not PATH, reason="SLIPSTREAM_TEST_LLAMA_SERVER is not set"),
]


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> EngineSpec:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLIPSTREAM_HOME", str(tmp_path_factory.mktemp("home")))
        return learn("llama-server", Path(PATH))


@pytest.fixture
def with_card(native: EngineSpec) -> Iterator[EngineSpec]:
    """The engine with a device, imitated by a server of llama.cpp's own on loopback."""
    address = f"127.0.0.1:{free_port()}"
    server = Path(PATH).with_name("ggml-rpc-server")
    if not server.is_file():
        pytest.skip("there is no ggml-rpc-server")
    with subprocess.Popen(
        [server, "--port", address.rpartition(":")[2]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        restore_signals=False,  # SIGPIPE stays ignored: a dry run leaves in the middle of an answer
    ) as card:
        wait_for(address)
        yield replace(native, command=(*native.command, "--rpc", address))
        card.kill()


def wait_for(address: str) -> None:
    host, _, port = address.rpartition(":")
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection((host, int(port)), 1.0):
            return
        time.sleep(0.05)
    raise AssertionError("the imitated device does not answer")


def test_it_tells_what_it_can_do(native: EngineSpec, embedded: EngineSpec) -> None:
    assert native.ok, native.problem
    assert native.build
    assert native.spec_types == embedded.spec_types
    assert "--draft-max" not in native.flags
    assert "CPU" in read_hardware(native).backends


def test_every_flag_of_the_embedded_engine_but_one_is_one_of_its_own(
    native: EngineSpec, embedded: EngineSpec
) -> None:
    assert embedded.flags - {"--dry-run"} <= native.flags


@pytest.mark.parametrize("kind", [None, DrafterKind.MTP, DrafterKind.DFLASH, DrafterKind.NGRAM])
def test_it_loads_with_progress_and_stops(
    native: EngineSpec, demo: Path, dflash: Path, kind: DrafterKind | None
) -> None:
    spec = SpecConfig(kind, dflash if kind is DrafterKind.DFLASH else None, 3 if kind else 0)
    told: list[StateChanged] = []
    process = EngineProcess(native, LaunchConfig(demo, 1024, spec, threads=1))
    told.extend(process.start(CancelToken()))
    process.stop()
    assert EngineState.READY in {change.state for change in told}
    assert any(change.progress is not None for change in told)
    assert process.failure() is None


@pytest.mark.parametrize(
    ("spec", "share"),
    [(DrafterKind.MTP, 0.7), (DrafterKind.DFLASH, 0.4), (DrafterKind.NGRAM, 0.0), ("off", None)],
)
def test_one_talks_through_it_as_through_the_built_in_one(
    native: EngineSpec, demo: Path, spec: SpecChoice, share: float | None
) -> None:
    session = Session(lambda: Choice(native, threads=1))
    try:
        list(session.load(LoadRequest(demo, spec, context=1024), CancelToken()))
        assert session.loaded
        assert session.loaded.fallback is None
        story = [ChatMessage("user", "Tell me a story about a fox.")]
        options = ReplyOptions(temperature=0.0, max_tokens=120)
        *told, end = session.reply(story, options, CancelToken())
    finally:
        session.stop()
    assert isinstance(end, Finished)
    pieces = [event for event in told if isinstance(event, Piece)]
    assert "".join(piece.text for piece in pieces).startswith("Once upon a time")
    assert len(pieces) == end.numbers.tokens
    drafted = sum(piece.source is Source.DRAFTER for piece in pieces)
    assert drafted == end.numbers.accepted
    if share is None:
        assert end.numbers.acceptance is None
    elif share:
        assert end.numbers.acceptance
        assert end.numbers.acceptance > share


def test_its_failures_have_the_same_names(
    native: EngineSpec, demo: Path, dflash: Path, half_a_model: Path
) -> None:
    launch = LaunchConfig(demo, 1024, threads=1)
    mismatch = replace(launch, spec=SpecConfig(DrafterKind.EAGLE3, dflash, 3))
    for config, code in (
        (replace(launch, model=half_a_model), "damaged_file"),
        (replace(launch, model=dflash), "not_a_model"),
        (mismatch, "drafter_mismatch"),
    ):
        with pytest.raises(SlipstreamError) as raised:
            list(EngineProcess(native, config).start(CancelToken()))
        assert raised.value.code == code


@pytest.mark.parametrize("spec", [PLAIN, SpecConfig(DrafterKind.MTP, None, 3)])
def test_it_takes_as_much_as_it_said(native: EngineSpec, demo: Path, spec: SpecConfig) -> None:
    said = dry_run(native, read_model(demo), Setup(2048, spec), CancelToken())
    took = loaded(native, LaunchConfig(demo, 2048, spec, threads=1))
    assert said.target.keys() == took.target.keys() == {HOST}
    assert said.drafter.keys() == took.drafter.keys()
    assert_same(said.target[HOST], took.target[HOST])
    for id, share in said.drafter.items():
        assert_same(share, took.drafter[id])


@pytest.mark.parametrize("layers", [0, 13, 99])
@pytest.mark.parametrize("spec", [PLAIN, SpecConfig(DrafterKind.MTP, None, 3)])
def test_a_device_takes_as_much_as_it_said(
    with_card: EngineSpec, demo: Path, spec: SpecConfig, layers: int
) -> None:
    said = dry_run(with_card, read_model(demo), Setup(2048, spec), CancelToken(), gpu_layers=layers)
    config = LaunchConfig(demo, 2048, spec, threads=1, gpu_layers=layers)
    took = loaded(with_card, config)
    assert {HOST, "RPC0"} == set(said.target)
    for where in said.target:
        assert_same(said.target[where], took.target.get(where, Share()))
    for where in said.drafter:
        assert_same(said.drafter[where], took.drafter.get(where, Share()))
    assert (said.target["RPC0"].weights > 0) is (layers > 0)
