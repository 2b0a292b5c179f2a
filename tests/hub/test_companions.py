from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx2
import pytest

import headers
from gguf_files import (
    DEMO_DFLASH,
    DEMO_MTP,
    DEMO_SMALL,
    TOKENS,
    write_dflash,
    write_mtp,
    write_projector,
    write_target,
)
from hub_server import Content, HubFile, HubServer, Repo
from hub_server.layouts import (
    BASE,
    NAME,
    drafter_folder,
    drafter_only,
    embedded,
    mtp_folder,
    quantizations,
    root_mtp,
    sisters,
)
from slipstream.cancel import Cancelled, CancelToken
from slipstream.drafters.kinds import DrafterKind
from slipstream.drafters.lineage import name_of
from slipstream.hub import kin
from slipstream.hub.candidates import Source
from slipstream.hub.companions import Companions, find_companions, find_projector
from slipstream.hub.connection import Connection
from slipstream.hub.files import Listing
from slipstream.hub.headers import read_set
from slipstream.hub.listing import read_listing
from slipstream.hub.repository import FileSet, Repository, sort_files
from slipstream.weights.header import Header

HEADLESS: Content = mtp_folder().files[0].content


class Hub:
    """A test Hub, and what somebody does who wants a model of it."""

    def __init__(self, server: HubServer, connection: Connection) -> None:
        self.server = server
        self.connection = connection
        self.cancel = CancelToken()

    def add(self, *repos: Repo) -> None:
        self.server.repos.update({repo.id: repo for repo in repos})

    def open(self, repo: str, file: str | None = None) -> tuple[Repository, FileSet, Header]:
        listing = read_listing(repo, self.connection, self.cancel)
        repository = sort_files(listing)
        target = next(one for one in repository.targets if file in (None, one.path))
        return repository, target, read_set(listing, target, self.connection, self.cancel)

    def companions(self, repo: str, file: str | None = None, **options: object) -> Companions:
        opened = self.open(repo, file)
        self.after_opening()
        return find_companions(*opened, self.connection, self.cancel, **options)  # type: ignore[arg-type]

    def after_opening(self) -> None:
        """Something that happens between looking at a model and looking for its drafters."""

    @property
    def files_read(self) -> set[str]:
        return {request.path for request in self.server.asked("/resolve/")}

    @property
    def repos_asked(self) -> list[str]:
        paths = (urlsplit(request.path).path for request in self.server.asked("/api/models/"))
        names = (unquote(path).removeprefix("/api/models/").split("/") for path in paths)
        return list(dict.fromkeys("/".join(name[:2]) for name in names))


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setenv("SLIPSTREAM_HOME", str(tmp_path / "home"))
    with HubServer() as server, httpx2.Client(timeout=5, trust_env=False) as client:
        yield Hub(server, Connection(server.endpoint, client, None))


def repo(name: str, files: Mapping[str, Content], **options: object) -> Repo:
    made = [HubFile(path, content) for path, content in files.items()]
    return Repo(name, made, **options)  # type: ignore[arg-type]


def chosen(found: Companions) -> tuple[DrafterKind, Source, str | None]:
    best = found.chosen
    assert best is not None, found
    return best.kind, best.source, best.files.path if best.files else None


def test_a_head_inside_is_enough_and_nothing_more_is_read(hub: Hub) -> None:
    hub.add(embedded())
    found = hub.companions(embedded().id)
    assert chosen(found) == (DrafterKind.MTP, Source.INSIDE, None)
    assert found.chosen is not None
    assert found.chosen.bytes == 0
    assert len(hub.files_read) == 1


@pytest.mark.parametrize(
    ("layout", "kind", "path"),
    [
        (root_mtp(), DrafterKind.MTP, DEMO_MTP.name),
        (mtp_folder(), DrafterKind.MTP, f"MTP/{NAME}-Q8_0-MTP.gguf"),
        (drafter_folder(), DrafterKind.DFLASH, f"dflash/{DEMO_DFLASH.name}"),
    ],
    ids=lambda value: value.id if isinstance(value, Repo) else None,
)
def test_a_drafter_in_the_repository_takes_one_listing_and_two_headers(
    hub: Hub, layout: Repo, kind: DrafterKind, path: str
) -> None:
    hub.add(layout)
    found = hub.companions(layout.id)
    assert chosen(found) == (kind, Source.SAME, path)
    assert len(hub.files_read) == 2
    assert hub.repos_asked == [layout.id]
    assert found.chosen is not None
    assert found.chosen.bytes == next(file.size for file in layout.files if file.path == path)
    assert found.chosen.header is not None
    assert not found.problems


def test_a_sister_repository_has_the_drafter(hub: Hub) -> None:
    target, sister = sisters()
    hub.add(target, sister)
    found = hub.companions(target.id)
    assert chosen(found) == (DrafterKind.MTP, Source.SISTER, f"{NAME}-MTP-Q8_0.gguf")
    assert found.chosen is not None
    assert found.chosen.repo == sister.id
    assert hub.repos_asked == [target.id, sister.id]
    assert len(hub.files_read) == 2


def test_a_repository_made_from_the_same_model_is_found_by_a_search(hub: Hub) -> None:
    target, _ = sisters()
    hub.add(target, drafter_only(), repo("poet/Poet-GGUF", {"Poet-Q8_0.gguf": DEMO_SMALL}))
    found = hub.companions(target.id)
    assert chosen(found) == (DrafterKind.DFLASH, Source.SEARCH, f"{NAME}-DFlash-Q8_0.gguf")


def test_the_table_of_known_drafters_is_looked_at_before_the_search(
    hub: Hub, tmp_path: Path
) -> None:
    target = write_target(tmp_path / "target.gguf", name="Qwen3.8 27B")
    drafter = write_dflash(tmp_path / "dflash.gguf", name="Qwen3.8 27B DFlash2")
    hub.add(
        repo("somebody/Qwen3.8-27B-GGUF", {"Qwen3.8-27B-Q4_K_M.gguf": target}),
        repo("z-lab/Qwen3.8-27B-DFlash2-GGUF", {"Qwen3.8-27B-DFlash2-Q8_0.gguf": drafter}),
    )
    found = hub.companions("somebody/Qwen3.8-27B-GGUF")
    path = "Qwen3.8-27B-DFlash2-Q8_0.gguf"
    assert chosen(found) == (DrafterKind.DFLASH, Source.KNOWN, path)


def test_a_file_without_a_name_takes_its_repository_s(hub: Hub, tmp_path: Path) -> None:
    target = write_target(tmp_path / "target.gguf", "muse-glimmer", name="Muse Glimmer 30B")
    drafter = write_dflash(tmp_path / "dflash.gguf", name="model")
    files = {"Muse-Glimmer-30B-Q4_K_M.gguf": target, "dflash-kquant.gguf": drafter}
    hub.add(repo("unsloth/Muse-Glimmer-30B-GGUF", files))
    found = hub.companions("unsloth/Muse-Glimmer-30B-GGUF")
    assert chosen(found) == (DrafterKind.DFLASH, Source.SAME, "dflash-kquant.gguf")


def test_a_drafter_of_the_same_shape_for_another_model_is_offered_not_taken(
    hub: Hub, tmp_path: Path
) -> None:
    target = write_target(tmp_path / "target.gguf", "qwen35", name="Qwen3.8 27B")
    drafter = write_mtp(tmp_path / "mtp.gguf", name="Qwen3.6 27B")
    files = {"Qwen3.8-27B-Q8_0.gguf": target, "mtp-Qwen3.6-27B-Q8_0.gguf": drafter}
    hub.add(repo("somebody/Qwen3.8-27B-GGUF", files))
    found = hub.companions("somebody/Qwen3.8-27B-GGUF")
    assert found.chosen is None
    (one,) = (each for each in found.drafters if each.fits)
    assert "another model (mtp-Qwen3.6-27B" in one.reason


def test_the_base_s_drafter_is_not_looked_at_for_a_fine_tune(hub: Hub) -> None:
    tuned = repo(
        "poet/Slipstream-Demo-3M-Poet-GGUF",
        {"Slipstream-Demo-3M-Poet-Q8_0.gguf": HEADLESS},
        base_models=(BASE,),
        relation="finetune",
    )
    hub.add(tuned, *sisters(), drafter_only())
    found = hub.companions(tuned.id)
    assert found.drafters == ()
    assert len(hub.files_read) == 1


def test_what_cannot_draft_is_told_and_the_next_one_is_taken(hub: Hub, tmp_path: Path) -> None:
    wide = write_mtp(tmp_path / "mtp.gguf", width=32, name=NAME)
    files = {
        f"{NAME}-Q8_0.gguf": HEADLESS,
        f"mtp-{NAME}-Q8_0.gguf": wide,
        f"dflash-{NAME}-Q8_0.gguf": DEMO_DFLASH,
        f"eagle3-{NAME}-Q8_0.gguf": b"I am a text",
    }
    hub.add(repo(f"some/{NAME}-GGUF", files))
    found = hub.companions(f"some/{NAME}-GGUF", everything=True)
    assert chosen(found)[0] is DrafterKind.DFLASH
    reasons = {one.kind: one.reason for one in found.unfit}
    assert "hidden size is 32" in reasons[DrafterKind.MTP]
    assert "not a GGUF file" in reasons[DrafterKind.EAGLE3]


def test_a_set_with_a_hole_is_not_read(hub: Hub) -> None:
    files = {f"{NAME}-Q8_0.gguf": HEADLESS, f"mtp-{NAME}-BF16-00001-of-00002.gguf": DEMO_MTP}
    hub.add(repo(f"some/{NAME}-GGUF", files))
    found = hub.companions(f"some/{NAME}-GGUF")
    assert found.chosen is None
    assert found.unfit[0].reason == "It is incomplete: its repository lacks 1 of its files."
    assert len(hub.files_read) == 1


def test_everything_shows_one_of_each_kind_and_place(hub: Hub) -> None:
    hub.add(quantizations(), drafter_only())
    found = hub.companions(quantizations().id, everything=True)
    shown = [(one.kind, one.source) for one in found.drafters]
    assert shown == [
        (DrafterKind.MTP, Source.INSIDE),
        (DrafterKind.DFLASH, Source.SAME),
        (DrafterKind.DFLASH, Source.SEARCH),
    ]
    assert all(one.proven for one in found.drafters)


def test_a_kind_that_was_asked_for_is_looked_for_alone(hub: Hub) -> None:
    hub.add(quantizations())
    found = hub.companions(quantizations().id, kinds={DrafterKind.DFLASH})
    assert chosen(found) == (DrafterKind.DFLASH, Source.SAME, DEMO_DFLASH.name)


def test_a_lower_quantization_needs_no_further_header(hub: Hub, tmp_path: Path) -> None:
    sizes = {"BF16": 900, "Q8_0": 500, "Q4_K_M": 300, "IQ2_M": 200, "F16": 800}
    models = {
        f"Poet-9B-{label}.gguf": write_target(tmp_path / label, name="Poet 9B", padding=padding)
        for label, padding in sizes.items()
    }
    hub.add(repo("poet/Poet-9B-GGUF", models))
    found = hub.companions(
        "poet/Poet-9B-GGUF", "Poet-9B-BF16.gguf", kinds={DrafterKind.SELF}, everything=True
    )
    paths = [one.files.path for one in found.drafters if one.files]
    assert paths == ["Poet-9B-Q4_K_M.gguf", "Poet-9B-Q8_0.gguf", "Poet-9B-IQ2_M.gguf"]
    assert len(hub.files_read) == 1
    assert not any(one.longest_draft for one in found.drafters)


def test_a_smaller_model_is_only_looked_at_when_asked_for(hub: Hub, tmp_path: Path) -> None:
    large = write_target(tmp_path / "large.gguf", name="Large", padding=400)
    small = write_target(tmp_path / "small.gguf", name="Small", layers=2)
    hub.add(repo("some/Pair-GGUF", {"Large-9B-Q8_0.gguf": large, "Small-1B-Q8_0.gguf": small}))
    asked = hub.companions("some/Pair-GGUF", "Large-9B-Q8_0.gguf", kinds={DrafterKind.DRAFT})
    assert chosen(asked) == (DrafterKind.DRAFT, Source.SAME, "Small-1B-Q8_0.gguf")
    assert hub.companions("some/Pair-GGUF", "Large-9B-Q8_0.gguf").drafters == ()


def test_tokens_are_fetched_only_when_the_headers_leave_them_open(hub: Hub, tmp_path: Path) -> None:
    target = write_target(tmp_path / "target.gguf", name="Model 9B")
    renamed = (*TOKENS[:-1], "<tool>")
    drafter = write_dflash(tmp_path / "dflash.gguf", name="Model 9B", tokens=renamed)
    files = {"Model-Nine-9B-Q8_0.gguf": target, "dflash-Model-Nine-9B.gguf": drafter}
    hub.add(repo("some/Model-Nine-9B-GGUF", files))
    found = hub.companions("some/Model-Nine-9B-GGUF")
    assert [one.reason for one in found.drafters if one.fits] == [
        "1 of its tokens are not those of this model."
    ]


def test_a_hub_that_ends_in_the_middle_is_a_problem_and_no_failure(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, sister = sisters()
    hub.add(target, sister)
    monkeypatch.setattr(hub, "after_opening", hub.server.stop)
    found = hub.companions(target.id)
    assert found.drafters == ()
    assert [problem.code for problem in found.problems] == ["offline"]


def test_a_sister_that_cannot_be_read_leaves_the_others(hub: Hub) -> None:
    target, sister = sisters()
    hub.add(target, sister, drafter_only())
    sister.gated = "manual"
    found = hub.companions(target.id)
    assert chosen(found)[1] is Source.SEARCH
    assert [problem.code for problem in found.problems] == ["gated"]


def test_nobody_is_asked_for_a_model_that_no_drafter_is_known_for(hub: Hub, tmp_path: Path) -> None:
    target = write_target(tmp_path / "target.gguf", "brandnew", name="Poet 9B")
    hub.add(repo("poet/Poet-9B-GGUF", {"Poet-9B-Q8_0.gguf": target}))
    assert hub.companions("poet/Poet-9B-GGUF").drafters == ()
    assert hub.repos_asked == ["poet/Poet-9B-GGUF"]


def test_an_ordinary_model_without_drafters_costs_few_questions(hub: Hub, tmp_path: Path) -> None:
    target = write_target(tmp_path / "target.gguf", name="Poet 9B")
    hub.add(repo("poet/Poet-9B-GGUF", {"Poet-9B-Q8_0.gguf": target}, base_models=("poet/Poet-9B",)))
    found = hub.companions("poet/Poet-9B-GGUF")
    assert (found.drafters, found.problems) == ((), ())
    assert len(hub.repos_asked) <= 5
    assert len(hub.server.asked("/api/models?")) == 1
    assert len(hub.files_read) == 1


def test_looking_can_be_cancelled(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.add(root_mtp())
    monkeypatch.setattr(hub, "after_opening", hub.cancel.cancel)
    with pytest.raises(Cancelled):
        hub.companions(root_mtp().id)


def test_names_of_sisters_come_from_the_repository_and_its_base() -> None:
    listing = Listing("bartowski/Qwen_Qwen3.6-27B-GGUF", "0", (), base_models=("Qwen/Qwen3.6-27B",))
    model = name_of("Qwen3.6-27B")
    assert model is not None
    names = kin.sisters(listing, model)
    assert "bartowski/Qwen_Qwen3.6-27B-MTP-GGUF" in names
    assert "ggml-org/Qwen3.6-27B-GGUF" in names
    assert listing.repo not in names
    tuned = name_of("Qwen3.6-27B-Poet")
    assert tuned is not None
    assert "ggml-org/Qwen3.6-27B-GGUF" not in kin.sisters(
        Listing("a/Qwen3.6-27B-Poet-GGUF", "0", (), base_models=("Qwen/Qwen3.6-27B",)), tuned
    )


def test_the_projector_goes_by_name_and_by_its_header_if_that_is_read(
    hub: Hub, tmp_path: Path
) -> None:
    projector = write_projector(tmp_path / "mmproj.gguf")
    files = {
        f"{NAME}-Q8_0.gguf": DEMO_SMALL,
        f"mmproj-{NAME}-F16.gguf": projector,
        "mmproj-Other-9B-Q8_0.gguf": projector,
    }
    hub.add(repo(f"some/{NAME}-GGUF", files))
    repository, _, header = hub.open(f"some/{NAME}-GGUF")
    by_name = find_projector(repository, header)
    assert by_name is not None
    assert by_name.path == f"mmproj-{NAME}-F16.gguf"

    def read(width: int) -> Callable[[FileSet], Header]:
        return lambda _: headers.header("clip", {"vision.projection_dim": width})

    assert find_projector(repository, header, read(header.hidden_size)) == by_name
    assert find_projector(repository, header, read(1)) is None
