"""What a computer can run in one sentence, and the models that are suggested to begin with."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from downloading import get
from hub_server import HubFile, HubServer, Made
from hub_server.first_models import GEMMA, LLAMA, QWEN, first_models, others
from machines import GIB, apple, card, computer
from slipstream.cancel import Cancelled, CancelToken
from slipstream.engine.about import about
from slipstream.engine.advice import Desk
from slipstream.engine.computer import Survey
from slipstream.engine.first_models import (
    MOST_LOOKS,
    Looking,
    Suggestion,
    read_table,
    suggestions,
    trusted,
)
from slipstream.engine.spec import Choice, EngineSpec
from slipstream.errors import SlipstreamError
from slipstream.hub.connection import connect
from slipstream.machine.devices import Device
from slipstream.machine.memory import Memory
from slipstream.paths import resources
from slipstream.planning.computer import Computer


def gib(number: float) -> int:
    return round(number * GIB)


def named(name: str, total: float, free: float, *, unified: bool = False) -> Device:
    return Device(name, name, "CUDA", gib(total), gib(free), unified)


def sentence(total: float, free: float, *devices: Device) -> str:
    return about(Computer(Memory(gib(total), gib(free)), devices), devices)


# --- this computer in one sentence


def test_without_a_card_small_models_are_comfortable() -> None:
    assert sentence(15.5, 12) == (
        "16 GB of RAM, no GPU that helps: small models up to about 8B will be comfortable, "
        "larger ones up to about 14B fit and are slower."
    )


def test_a_card_runs_models_as_a_whole() -> None:
    assert sentence(62.7, 55, named("NVIDIA GeForce RTX 4090", 23.99, 22.6)) == (
        "RTX 4090 with 24 GB and 64 GB of RAM: models up to about 27B run fully on the GPU, "
        "larger ones up to about 70B in part and more slowly."
    )


def test_a_small_computer_is_promised_little() -> None:
    assert sentence(1.9, 1.7) == (
        "2 GB of RAM, no GPU that helps: enough for the demo and the smallest models."
    )


def test_memory_that_other_programs_hold_is_not_promised() -> None:
    assert sentence(15.5, 3) == (
        "16 GB of RAM, no GPU that helps: small models up to about 2B will be comfortable, "
        "and more once other programs are closed."
    )


def test_a_mac_shares_its_memory() -> None:
    assert sentence(16, 9, named("Apple M2", 10.7, 10.7, unified=True)) == (
        "16 GB of memory, shared with the Apple M2: models up to about 8B run fully on the GPU."
    )


def test_several_cards_are_counted_together() -> None:
    twins = [named("NVIDIA GeForce RTX 3090", 24, 23) for _ in range(2)]
    assert sentence(64, 50, *twins).startswith("2 × RTX 3090 with 48 GB together and 64 GB of RAM:")
    pair = twins[0], named("NVIDIA GeForce RTX 3060", 12, 11)
    assert sentence(64, 50, *pair).startswith("RTX 3090 and RTX 3060 with 36 GB together")


def test_a_card_that_the_engine_cannot_use_is_named() -> None:
    idle = replace(named("NVIDIA GeForce RTX 4090", 24, 23), usable=False)
    memory = Memory(gib(32), gib(25))
    assert about(Computer(memory), [idle]).startswith(
        "32 GB of RAM, and the engine cannot use the RTX 4090: small models"
    )


def test_a_card_too_small_for_any_model_is_no_help() -> None:
    assert "no GPU that helps" in sentence(32, 25, named("GT 1030", 2, 1.9))


def test_unknown_memory_is_said_to_be_unknown() -> None:
    assert sentence(0, 0).startswith("How much memory is free is not known")
    assert sentence(0, 0, named("H200", 140, 139)).startswith("H200 with 140 GB: models up to")


def promised(text: str) -> int:
    """The largest model that a sentence speaks of, in billions of parameters."""
    return max((int(number) for number in re.findall(r"(\d+)B\b", text)), default=0)


_memory = st.floats(0.1, 600)


@given(total=_memory, free=_memory, less=_memory, cards=st.lists(st.floats(0.1, 100), max_size=3))
def test_less_memory_never_promises_more(
    total: float, free: float, less: float, cards: list[float]
) -> None:
    there = [card(number, amount) for number, amount in enumerate(cards)]
    free, less = sorted((min(free, total), min(less, total)), reverse=True)
    assert promised(sentence(total, less, *there)) <= promised(sentence(total, free, *there))
    assert promised(sentence(total, free, *there[:-1])) <= promised(sentence(total, free, *there))


@given(free=_memory, device=_memory)
def test_what_shares_main_memory_promises_no_more_than_that_holds(
    free: float, device: float
) -> None:
    shared = promised(sentence(free, free, apple(device)))
    assert shared <= promised(sentence(free, free, card(0, free)))


# --- models to begin with


@pytest.fixture(scope="module")
def served() -> Iterator[HubServer]:
    with HubServer() as hub:
        yield hub


@pytest.fixture
def hub(served: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.setenv("HF_ENDPOINT", served.endpoint)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    served.forget()
    served.repos |= {repo.id: repo for repo in first_models()}
    yield served
    served.repos.clear()


@pytest.fixture
def look(embedded: EngineSpec) -> "Look":
    return Look(embedded)


class Look:
    """Asks for suggestions on a computer, with an engine that is not asked about memory."""

    def __init__(self, engine: EngineSpec) -> None:
        broken = SlipstreamError("no_engine", "It does not answer.", action="Choose another.")
        self.engine = replace(engine, problem=broken)

    def all(self, there: Computer) -> list[Looking | Suggestion]:
        survey = Survey(there.memory, there.devices, ())
        desk = Desk(Choice(self.engine), survey, there, there.devices)
        with connect() as connection:
            return list(suggestions(desk, connection, CancelToken()))

    def found(self, there: Computer) -> dict[str, Suggestion]:
        given = (one for one in self.all(there) if isinstance(one, Suggestion))
        return {one.offer.listing.repo: one for one in given}


def looked_at(given: list[Looking | Suggestion]) -> list[str]:
    return [one.repo for one in given if isinstance(one, Looking)]


def test_the_table_holds_known_repositories_the_largest_first() -> None:
    sizes = [one.parameters for one in trusted()]
    assert sizes == sorted(sizes, reverse=True)
    assert len({one.repo for one in trusted()}) == len(trusted())
    assert all(one.active <= one.parameters for one in trusted())
    assert min(sizes) < 1e9 < 70e9 < max(sizes)
    assert trusted() == read_table(resources() / "first_models.json")


def test_a_table_with_something_else_than_repositories_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    file.write_text('{"models": [{"repo": "../elsewhere", "billions": 1}]}')
    with pytest.raises(ValueError, match="elsewhere"):
        read_table(file)


def test_models_that_fit_are_suggested_with_their_drafters(hub: HubServer, look: Look) -> None:
    found = look.found(computer(12))
    assert list(found) == [QWEN, GEMMA, LLAMA]
    assert found[QWEN].sentence == "Fits in main memory, with the MTP head."
    assert found[GEMMA].sentence == ("Fits in main memory, with its MTP drafter. It reads images.")
    assert found[LLAMA].sentence == "Fits in main memory, without a drafter."
    assert found[QWEN].name == "Qwen3.5 9B"


def test_the_order_brings_drafter_and_projector_and_tells_their_bytes(
    hub: HubServer, look: Look
) -> None:
    gemma = look.found(computer(12))[GEMMA]
    (item,) = gemma.order.items
    files = {file.path: file.size for file in hub.repos[GEMMA].files}
    assert {file.path for file in item.files} == set(files)
    assert gemma.download == sum(files.values())
    assert gemma.path is None


def test_a_card_gets_what_lies_on_it_as_a_whole(hub: HubServer, look: Look) -> None:
    found = look.found(computer(4, 12.0))
    assert found[QWEN].sentence == "Fits fully on your GPU, with the MTP head."


def test_a_model_that_is_here_already_needs_no_download(hub: HubServer, look: Look) -> None:
    qwen = hub.repos.pop(QWEN)
    kept, hub.repos = hub.repos, {QWEN: qwen}
    get(hub)
    hub.repos |= kept
    found = look.found(computer(12))[QWEN]
    assert found.download == 0
    assert found.path is not None
    assert found.path.is_file()


def test_what_is_missing_or_broken_is_passed_over(hub: HubServer, look: Look) -> None:
    del hub.repos[GEMMA]
    hub.repos[QWEN].files = [HubFile("Qwen3.5-9B-Q8_0.gguf", Made(5000))]
    hub.repos |= {repo.id: repo for repo in others("someone/Other-3B-GGUF")}
    found = look.found(computer(12))
    assert list(found) == [LLAMA, "someone/Other-3B-GGUF"]


def test_the_hub_is_searched_where_the_table_does_not_help(hub: HubServer, look: Look) -> None:
    hub.repos.clear()
    names = ["one/First-3B-GGUF", "two/Drafted-3B-GGUF", "three/Third-3B-GGUF"]
    hub.repos |= {repo.id: repo for repo in others(*names, drafter=names[1])}
    too_large = others("four/Fourth-300B-GGUF", billions=300)[0]
    hub.repos[too_large.id] = too_large
    found = look.found(computer(12))
    assert list(found) == [names[1], names[0], names[2]]


def test_few_repositories_are_looked_into(hub: HubServer, look: Look) -> None:
    hub.repos.clear()
    made = others(*(f"owner/{letter * 3}-3B-GGUF" for letter in "abcdefghijklm"))
    for repo in made:
        repo.files = [HubFile("model-Q8_0.gguf", Made(5000))]
    hub.repos |= {repo.id: repo for repo in made}
    given = look.all(computer(12))
    assert len(looked_at(given)) == len(given) == MOST_LOOKS
    assert len(hub.requests) <= 6 * MOST_LOOKS


def test_a_tiny_computer_is_suggested_nothing(hub: HubServer, look: Look) -> None:
    assert look.all(computer(1)) == []
    assert hub.requests == []


def test_without_the_hub_that_is_said_at_once(
    hub: HubServer, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(SlipstreamError) as caught:
        look.all(computer(12))
    assert caught.value.code == "offline"


def test_looking_can_be_cancelled(hub: HubServer, look: Look) -> None:
    there = computer(12)
    desk = Desk(Choice(look.engine), Survey(there.memory, (), ()), there, ())
    cancel = CancelToken()
    with connect() as connection, pytest.raises(Cancelled):
        for _ in suggestions(desk, connection, cancel):
            cancel.cancel()
