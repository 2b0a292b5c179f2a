"""The models the selector offers, and what the user can choose among them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipstream.cancel import CancelToken
from slipstream.drafters.kinds import SpecChoice
from slipstream.engine.requests import LoadRequest
from slipstream.errors import SlipstreamError
from slipstream.hub.library.models import Library, LocalModel
from slipstream.hub.reference import DEMOS, resolve
from slipstream.paths import printable
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
        context: tokens; None is as the settings say.
        anyway: it is loaded also where memory seems too small.
        own_settings: the model's own settings count.
    """

    ref: str = ""
    spec: SpecChoice = "auto"
    draft_tokens: int = 0
    context: int | None = None
    anyway: bool = False
    own_settings: bool = True

    def request(self) -> LoadRequest:
        """What to load; looks at the disk. Raises: SlipstreamError, if there is no such file."""
        return LoadRequest(
            resolve(self.ref),
            self.spec,
            self.draft_tokens or None,
            self.context,
            anyway=self.anyway,
            own_settings=self.own_settings,
        )

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
    """The user's own models: the files opened before, and all that are on this computer."""

    recent: tuple[Choice, ...] = ()
    here: tuple[Choice, ...] = ()


def demos() -> tuple[Choice, ...]:
    """The models that come with the app."""
    return (
        Choice(DEMO, title(DEMO), tr("3 million parameters, deep: drafting pays")),
        Choice(DEMO_SMALL, title(DEMO_SMALL), tr("3 million parameters, shallow: the fastest")),
    )


def still_there(recent: Sequence[str], cancel: CancelToken) -> Iterator[tuple[Choice, ...]]:
    """Look at the disk: which of the files opened before are there. Raises: Cancelled."""
    there = []
    for each in recent:
        cancel.raise_if_cancelled()
        if Path(each).is_file():
            there.append(_choice(Path(each)))
    yield tuple(there)


def choices_of(library: Library) -> tuple[Choice, ...]:
    """The models of this computer that can be loaded."""
    return tuple(
        Choice(str(one.path), _with_quant(one), str(one.path))
        for one in library.models
        if not one.missing and not one.parts and not one.problem
    )


def _with_quant(one: LocalModel) -> str:
    quant = one.quant if one.quant and one.quant not in one.name else ""
    return f"{printable(one.name)} {quant}".strip()


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


def _choice(file: Path) -> Choice:
    try:
        name = display_name(file, read_model(file))
    except SlipstreamError:
        name = title(str(file))
    return Choice(str(file), name, str(file))
