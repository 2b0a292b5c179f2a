"""Ready-made repositories: the demo's files laid out as people lay out theirs on the Hub.

Every GGUF named after the demo is a real one and runs, if not said otherwise.
"""

import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from gguf_files import (
    DEMO,
    DEMO_DFLASH,
    DEMO_MTP,
    DEMO_SMALL,
    write_demo_without_head,
    write_imatrix,
    write_projector,
)
from hub_server.contents import Made
from hub_server.repos import GgufFacts, HubFile, Repo
from hub_server.server import USER
from hub_server.splitting import quantized, shards

BASE = "slipstream-demo/Slipstream-Demo-3M"
NAME = "Slipstream-Demo-3M"
FACTS = GgufFacts(total=3_757_378, architecture="qwen35", context_length=4096)
_MIB = 1 << 20


def base_model() -> Repo:
    """What the others were made from: safetensors only, so nothing here can run it."""
    files = [HubFile("config.json", b'{"model_type": "qwen3_5"}\n')]
    files.append(HubFile("model.safetensors", Made(7 * _MIB, 1)))
    return Repo(BASE, files, licence="apache-2.0", card="# Demo", likes=40, downloads=900)


def embedded() -> Repo:
    """One quantization; the head is inside."""
    return _repo("slipstream-demo/Slipstream-Demo-Deep-3M-GGUF", HubFile(DEMO.name, DEMO))


def quantizations() -> Repo:
    """Three quantizations with the head inside, a DFlash drafter at the root, an imatrix."""
    return _repo(
        f"slipstream-demo/{NAME}-GGUF",
        HubFile(f"{NAME}-F16.gguf", quantized(DEMO_SMALL, "F16")),
        HubFile(f"{NAME}-Q4_0.gguf", quantized(DEMO_SMALL, "Q4_0")),
        HubFile(DEMO_SMALL.name, DEMO_SMALL),
        HubFile(DEMO_DFLASH.name, DEMO_DFLASH),
        HubFile("imatrix_demo.gguf", _written(write_imatrix)),
    )


def root_mtp() -> Repo:
    """A target without a head, and ``mtp-...`` beside it."""
    return _repo(f"root-mtp/{NAME}-GGUF", _headless(), HubFile(DEMO_MTP.name, DEMO_MTP))


def mtp_folder() -> Repo:
    """The drafter in ``MTP/``, a projector (its header only), and a preset that asks for more."""
    preset = b"[*]\nmodel = /etc/passwd\nctx-size = 99999999\n"
    return _repo(
        f"mtp-folder/{NAME}-GGUF",
        _headless(),
        HubFile(f"MTP/{NAME}-Q8_0-MTP.gguf", DEMO_MTP),
        HubFile("mmproj-F16.gguf", _written(write_projector)),
        HubFile("preset.ini", preset),
    )


def drafter_folder() -> Repo:
    """The drafter in a folder of its kind."""
    return _repo(
        f"drafter-folder/{NAME}-GGUF",
        _headless(),
        HubFile(f"dflash/{DEMO_DFLASH.name}", DEMO_DFLASH),
    )


def sisters() -> tuple[Repo, Repo]:
    """A target alone, and its drafter alone in the repository ``...-MTP-GGUF``."""
    return (
        _repo(f"sisters/{NAME}-GGUF", _headless()),
        _repo(f"sisters/{NAME}-MTP-GGUF", HubFile(f"{NAME}-MTP-Q8_0.gguf", DEMO_MTP)),
    )


def drafter_only() -> Repo:
    """Nothing that answers by itself."""
    file = HubFile(f"{NAME}-DFlash-Q8_0.gguf", DEMO_DFLASH)
    return _repo(f"drafters/{NAME}-DFlash-GGUF", file)


def sharded(missing: tuple[int, ...] = ()) -> Repo:
    """A target in six files in a folder, its drafter in the root.

    Args:
        missing: numbers of shards that the repository does not have.
    """
    parts = shards(DEMO_SMALL, 12)
    files = [
        HubFile(f"Q8_0/{NAME}-Q8_0-{number:05}-of-{len(parts):05}.gguf", part)
        for number, part in enumerate(parts, 1)
        if number not in missing
    ]
    return _repo(f"sharded/{NAME}-GGUF", *files, HubFile(DEMO_DFLASH.name, DEMO_DFLASH))


def many_shards(count: int = 1148) -> Repo:
    """A set whose tree has more than one page; the files are noise."""
    files = [
        HubFile(f"Huge-Q4_K_M-{number:05}-of-{count:05}.gguf", Made(2000, number))
        for number in range(1, count + 1)
    ]
    return Repo("sharded/Huge-GGUF", files)


def gated() -> Repo:
    """Its files are for people who accepted its conditions; ``USER`` has."""
    repo = _repo(f"gated/{NAME}-GGUF", HubFile(DEMO_SMALL.name, DEMO_SMALL))
    repo.gated, repo.allowed = "manual", {USER}
    return repo


def private() -> Repo:
    """Only ``USER`` knows of it."""
    repo = _repo(f"private/{NAME}-GGUF", HubFile(DEMO_SMALL.name, DEMO_SMALL))
    repo.private, repo.allowed = True, {USER}
    return repo


def renamed() -> Repo:
    """What ``embedded`` was called before."""
    return Repo("slipstream-demo/Old-Name-GGUF", renamed_to=embedded().id)


def large(size: int = 1 << 30) -> Repo:
    """A model that runs, in a file as large as one likes: noise follows the tensors."""
    file = HubFile("Slipstream-Demo-Large-Q8_0.gguf", Made(size, 7, DEMO))
    return _repo("slipstream-demo/Slipstream-Demo-Large-GGUF", file)


def odd_paths() -> Repo:
    """A tree with names that no file here may have, besides a good one."""
    paths = (
        "../outside-Q8_0.gguf", "folder/../../outside-Q8_0.gguf", "/etc/outside-Q8_0.gguf",
        "C:\\outside-Q8_0.gguf", "..\\outside-Q8_0.gguf", "con.gguf", "nul\0-Q8_0.gguf",
        "line\nbreak-Q8_0.gguf", "escape\x1b[31m-Q8_0.gguf", "turned\u202e-Q8_0.gguf",
        f"{'long' * 75}-Q8_0.gguf", "a//b-Q8_0.gguf", "./dot-Q8_0.gguf", "trailing. /x-Q8_0.gguf",
        "percent%2e%2e%2f-Q8_0.gguf", "question?#-Q8_0.gguf", "Grüße 模型-Q8_0.gguf",
    )  # fmt: skip
    files = [HubFile(path, Made(1000, number)) for number, path in enumerate(paths)]
    return _repo("odd/Paths-GGUF", HubFile(DEMO_SMALL.name, DEMO_SMALL), *files)


def demo_hub() -> dict[str, Repo]:
    """Everything above but what is hostile, for trying things by hand."""
    repos = [
        base_model(), embedded(), quantizations(), root_mtp(), mtp_folder(), drafter_folder(),
        *sisters(), drafter_only(), sharded(), gated(), private(), renamed(), large(),
    ]  # fmt: skip
    for number, repo in enumerate(repos):
        repo.trending = len(repos) - number
        repo.downloads = repo.downloads or 1000 * (number + 1)
    return {repo.id: repo for repo in repos}


def repos_in(folder: Path) -> dict[str, Repo]:
    """A repository for every ``owner/name/`` in a folder, with the files below it."""
    found: dict[str, Repo] = {}
    for home in sorted(path for path in folder.glob("*/*") if path.is_dir()):
        name = f"{home.parent.name}/{home.name}"
        paths = sorted(path for path in home.rglob("*") if path.is_file())
        files = [HubFile(path.relative_to(home).as_posix(), path) for path in paths]
        found[name] = Repo(name, files)
    return found


def _repo(name: str, *files: HubFile) -> Repo:
    return Repo(
        name,
        list(files),
        base_models=(BASE,),
        licence="apache-2.0",
        gguf=FACTS,
        card=f"# {name}\n\nIt shows how things work, and knows nothing.",
    )


def _headless() -> HubFile:
    return HubFile(f"{NAME}-Q8_0.gguf", _written(write_demo_without_head))


@lru_cache(maxsize=8)
def _written(write: Callable[[Path], Path]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return write(Path(folder, "file.gguf")).read_bytes()
