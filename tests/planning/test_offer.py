"""A repository on the Hub is planned like the same files on disk."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gguf_files import (
    DEMO,
    DEMO_DFLASH,
    DEMO_MTP,
    DEMO_SMALL,
    write_demo_without_head,
    write_projector,
    write_target,
)
from hub_server import HubFile, HubServer, Repo
from hub_server.splitting import quantized
from machines import computer
from slipstream.cancel import CancelToken
from slipstream.drafters.choose import choose
from slipstream.drafters.kinds import MADE_FOR_A_TARGET, DrafterKind
from slipstream.errors import SlipstreamError
from slipstream.hub.address import Address
from slipstream.hub.connection import connect
from slipstream.planning.offer import Offer, read_offer
from slipstream.planning.plan import Plan, Wish, plan
from slipstream.planning.quantizations import Quantization, local_quantizations
from slipstream.planning.rows import Row

REPO = "owner/Slipstream-Demo-3M-GGUF"
NAME = "Slipstream-Demo-3M"
TYPES = ("draft-mtp", "draft-dflash")
Look = Callable[..., Offer]


@pytest.fixture(scope="module")
def hub() -> Iterator[HubServer]:
    with HubServer() as hub:
        yield hub


@pytest.fixture
def look(hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Look]:
    """Serve a folder as a repository, and look into it."""
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    hub.forget()

    def look(folder: Path, kinds: object = MADE_FOR_A_TARGET, **address: str) -> Offer:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        files = [HubFile(str(path.relative_to(folder)), path) for path in paths]
        hub.repos[REPO] = Repo(REPO, files)
        with connect() as connection:
            return read_offer(
                Address(REPO, **address),
                connection,
                computer(16),
                kinds,  # type: ignore[arg-type]
                CancelToken(),
            )

    yield look
    hub.repos.clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three quantizations of one model."""
    folder = tmp_path / "files"
    folder.mkdir()
    shutil.copy(DEMO_SMALL, folder)
    for label in ("F16", "Q4_0"):
        (folder / f"{NAME}-{label}.gguf").write_bytes(quantized(DEMO_SMALL, label))
    return folder


def planned(quantizations: list[Quantization]) -> dict[str, Plan]:
    wish = Wish(4096, choose=lambda one: choose(one.found, "auto", TYPES))
    plans = plan(quantizations, computer(16), wish).plans
    return {f"{one.quantization.name} {one.quantization.label}": one for one in plans}


def rows(offer: Offer) -> dict[str, Row]:
    return {row.files.path: row for row in offer.rows}


def same_as_on_disk(offer: Offer, folder: Path) -> None:
    """Totals agree; where only the size of a file is known, to a hundredth."""
    paths = sorted(folder.glob("*.gguf"))
    here, _ = local_quantizations(paths, CancelToken())
    afar, near = planned([row.quantization for row in offer.rows]), planned(list(here))
    assert afar.keys() == near.keys()
    for name, one in afar.items():
        mine, theirs = one.placement.need, near[name].placement.need
        exact = one.quantization.read
        assert mine.context == theirs.context
        assert mine.projector == theirs.projector
        assert mine.drafter == pytest.approx(theirs.drafter, rel=0 if exact else 0.05)
        assert mine.weights == pytest.approx(theirs.weights, rel=0 if exact else 0.02)
        assert one.setup.spec.kind == near[name].setup.spec.kind


def test_quantizations_are_planned_by_one_header_and_their_sizes(
    look: Look, folder: Path, hub: HubServer
) -> None:
    offer = look(folder)
    assert len(hub.asked("resolve")) == 1
    assert [row.quantization.read for row in offer.rows].count(True) == 1
    same_as_on_disk(offer, folder)


def test_two_models_in_one_repository_have_a_header_each(look: Look, folder: Path) -> None:
    shutil.copy(DEMO, folder)
    offer = look(folder)
    assert len(offer.rows) == 4
    same_as_on_disk(offer, folder)


def test_a_drafter_is_only_given_to_the_model_it_was_made_for(look: Look, tmp_path: Path) -> None:
    folder = tmp_path / "two"
    folder.mkdir()
    plain = write_demo_without_head(folder / f"{NAME}-Q8_0.gguf")
    shutil.copy(plain, folder / f"{NAME}-abliterated-Q8_0.gguf")
    shutil.copy(DEMO_DFLASH, folder)
    offer = look(folder)
    drafters = {path: row.drafter for path, row in rows(offer).items()}
    assert drafters[f"{NAME}-Q8_0.gguf"]
    assert drafters[f"{NAME}-abliterated-Q8_0.gguf"] is None
    same_as_on_disk(offer, folder)


def test_a_projector_is_counted_and_comes_along(look: Look, folder: Path) -> None:
    write_projector(folder / "mmproj-F16.gguf")
    offer = look(folder)
    same_as_on_disk(offer, folder)
    row = offer.rows[0]
    files = offer.order(row, None).items[0].files
    assert [file.path for file in files] == [row.files.path, "mmproj-F16.gguf"]


def test_a_lower_quantization_drafts_for_those_above_it(look: Look, folder: Path) -> None:
    offer = look(folder, [DrafterKind.SELF])
    drafters = {
        row.quantization.label: [str(one.files.quant) for one in row.drafters if one.files]
        for row in offer.rows
    }
    assert drafters == {"Q4_0": [], "Q8_0": ["Q4_0"], "F16": ["Q4_0", "Q8_0"]}


def test_one_bad_file_does_not_spoil_the_others(look: Look, folder: Path, hub: HubServer) -> None:
    (folder / f"{NAME}-Q4_K_M.gguf").write_bytes(b"<html>" * 300_000)
    offer = look(folder)
    assert f"{NAME}-Q4_K_M.gguf" not in rows(offer)
    assert [problem.code for problem in offer.problems] == ["not_a_model"]
    assert len(offer.rows) == 3


def test_a_file_far_too_small_for_its_label_is_left_out(look: Look, folder: Path) -> None:
    (folder / f"{NAME}-Q2_K.gguf").write_bytes(bytes(5000))
    offer = look(folder)
    assert [problem.code for problem in offer.problems] == ["damaged_file"]
    assert len(offer.rows) == 3


def test_names_that_are_all_wrong_do_not_cost_a_header_each(
    look: Look, tmp_path: Path, hub: HubServer
) -> None:
    folder = tmp_path / "wrong"
    folder.mkdir()
    for number in range(40):
        shutil.copy(DEMO_DFLASH, folder / f"Model-{number}-8B-Q8_0.gguf")
    with pytest.raises(SlipstreamError) as caught:
        look(folder)
    assert caught.value.code in {"only_drafters", "many_models"}
    assert len(hub.asked("resolve")) <= 8


def test_a_model_that_is_named_like_a_drafter_is_found_by_its_header(
    look: Look, tmp_path: Path
) -> None:
    folder = tmp_path / "swapped"
    folder.mkdir()
    shutil.copy(DEMO_DFLASH, folder / "Foo-Q8_0.gguf")
    shutil.copy(DEMO_SMALL, folder / "dflash-Foo-Q8_0.gguf")
    assert [row.files.path for row in look(folder).rows] == ["dflash-Foo-Q8_0.gguf"]
    (folder / "Foo-Q8_0.gguf").unlink()
    assert [row.files.path for row in look(folder).rows] == ["dflash-Foo-Q8_0.gguf"]


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("mtp-Slipstream-Demo-3M-Q8_0.gguf", "no_model"),
        ("nothing.gguf", "no_quantization"),
    ],
)
def test_files_that_are_no_models(look: Look, folder: Path, file: str, code: str) -> None:
    shutil.copy(DEMO_MTP, folder)
    with pytest.raises(SlipstreamError) as caught:
        look(folder, file=file)
    assert caught.value.code == code


def test_any_shard_means_its_set(look: Look, tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    names = [f"Big-Q8_0-0000{number}-of-00002.gguf" for number in (1, 2)]
    write_target(folder / names[0], keys={"split.count": 2}, layers=2)
    write_target(folder / names[1], keys={"split.count": 2}, layers=2)
    offer = look(folder, file=names[1])
    assert [row.files.path for row in offer.rows] == [names[0]]
