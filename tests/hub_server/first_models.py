"""The repositories that are suggested first, with the demo's files in them."""

from collections.abc import Iterable

from gguf_files import DEMO, DEMO_MTP, DEMO_SMALL
from hub_server.layouts import mtp_folder
from hub_server.repos import GgufFacts, HubFile, Repo

QWEN = "unsloth/Qwen3.5-9B-MTP-GGUF"
GEMMA = "unsloth/gemma-4-E4B-it-GGUF"
LLAMA = "bartowski/Llama-3.2-3B-Instruct-GGUF"


def first_models() -> list[Repo]:
    """With the head inside; with a drafter and a projector beside it; with neither."""
    files = {file.path: file for file in mtp_folder().files if file.path.endswith(".gguf")}
    target = files["Slipstream-Demo-3M-Q8_0.gguf"]
    return [
        Repo(QWEN, [HubFile("Qwen3.5-9B-Q8_0.gguf", DEMO)]),
        Repo(GEMMA, list(files.values())),
        Repo(LLAMA, [target]),
    ]


def for_any_computer(names: Iterable[str]) -> list[Repo]:
    """A repository of each name, with a model that fits everywhere."""
    return [
        Repo(name, [HubFile(f"{name.partition('/')[2].removesuffix('-GGUF')}-Q8_0.gguf", DEMO)])
        for name in names
    ]


def others(*names: str, drafter: str = "", billions: float = 3) -> list[Repo]:
    """Repositories that nobody knows, the most downloaded first.

    Args:
        names: ``owner/name`` of each.
        drafter: the one that has a drafter besides.
        billions: parameters that the Hub tells of each.
    """
    made = []
    for number, name in enumerate(names):
        files = [HubFile("Slipstream-Demo-3M-Q8_0.gguf", DEMO_SMALL)]
        if name == drafter:
            files.append(HubFile("mtp-Slipstream-Demo-3M-Q8_0.gguf", DEMO_MTP))
        facts = GgufFacts(total=round(billions * 1e9))
        made.append(Repo(name, files, downloads=1000 - number, gguf=facts))
    return made
