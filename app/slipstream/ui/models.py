"""The models the selector offers, and what the user can choose among them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipstream.cancel import CancelToken
from slipstream.drafters.kinds import DrafterKind, SpecChoice
from slipstream.engine.requests import LoadRequest
from slipstream.errors import SlipstreamError
from slipstream.hub.folders import models_in
from slipstream.hub.reference import DEMOS, resolve
from slipstream.ui.i18n import tr
from slipstream.weights.names import display_name, model_stem, quantization_at
from slipstream.weights.shards import read_model

DEMO = "demo"
DEMO_SMALL = "demo-small"


@dataclass(frozen=True)
class Selection:
    """A model and how it is to speculate.

    Attributes:
        ref: "demo", "demo-small" or a path; empty for no model.
        spec: how it is to speculate.
        draft_tokens: most draft tokens per step; 0 is the kind's own number.
    """

    ref: str = ""
    spec: SpecChoice = "auto"
    draft_tokens: int = 0

    def request(self) -> LoadRequest:
        """What to load; looks at the disk. Raises: SlipstreamError, if there is no such file."""
        return LoadRequest(resolve(self.ref), self.spec, self.draft_tokens or None)

    def values(self) -> dict[str, Any]:
        """The same as a chat keeps it."""
        return {
            "model": self.ref or None,
            "speculation": str(self.spec),
            "draft_tokens": self.draft_tokens,
        }


@dataclass(frozen=True)
class Choice:
    """One model to choose.

    Attributes:
        ref: what it is opened by: "demo", "demo-small" or a path.
        title: its name for people.
        detail: one sentence about it.
    """

    ref: str
    title: str
    detail: str = ""


@dataclass(frozen=True)
class Offer:
    """The user's own models: the files opened before, and what lies in the user's folders."""

    recent: tuple[Choice, ...] = ()
    folders: tuple[Choice, ...] = ()


def demos() -> tuple[Choice, ...]:
    """The models that come with the app."""
    return (
        Choice(DEMO, title(DEMO), tr("3 million parameters, deep: drafting pays")),
        Choice(DEMO_SMALL, title(DEMO_SMALL), tr("3 million parameters, shallow: the fastest")),
    )


def find(recent: Sequence[str], folders: Sequence[str], cancel: CancelToken) -> Iterator[Offer]:
    """Look at the disk: first which of the files opened before are there, then into the folders.

    Raises: Cancelled.
    """
    there = tuple(_choice(Path(each)) for each in recent if Path(each).is_file())
    cancel.raise_if_cancelled()
    yield Offer(there)
    found: list[Choice] = []
    for folder in folders:
        for file in models_in(Path(folder)):
            cancel.raise_if_cancelled()
            found.append(_choice(file))
        yield Offer(there, tuple(found))


def title(ref: str) -> str:
    """The name of a model for people, as far as its reference alone tells."""
    names = {DEMO: tr("Demo"), DEMO_SMALL: tr("Demo small")}
    if ref in names:
        return names[ref]
    path = Path(ref)
    words = model_stem(path.name).replace("-", " ").replace("_", " ").split()
    label = quantization_at(path)
    return " ".join([*words, *([label] if label else [])]) or path.name


def is_demo(ref: str) -> bool:
    """Whether it is one of the models that come with the app."""
    return ref in DEMOS


def spec_choice(word: str) -> SpecChoice:
    """The choice a word stands for; what is not known is "auto"."""
    if word == "off":
        return "off"
    try:
        return DrafterKind(word)
    except ValueError:
        return "auto"


def _choice(file: Path) -> Choice:
    try:
        name = display_name(file, read_model(file))
    except SlipstreamError:
        name = title(str(file))
    return Choice(str(file), name, str(file))
