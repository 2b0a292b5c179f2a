"""The models the selector offers: the demos that come with the app, and files opened before."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from slipstream.hub.reference import DEMOS, resolve
from slipstream.ui.i18n import tr
from slipstream.ui.wording import file_title

DEMO = "demo"
DEMO_SMALL = "demo-small"


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


def choices(recent: Iterable[str]) -> list[Choice]:
    """The demos, then the files opened before that are still there."""
    demos = [
        Choice(DEMO, title(DEMO), tr("3 million parameters, deep: drafting pays")),
        Choice(DEMO_SMALL, title(DEMO_SMALL), tr("3 million parameters, shallow: the fastest")),
    ]
    files = [Choice(each, title(each), each) for each in recent if Path(each).is_file()]
    return demos + files


def title(ref: str) -> str:
    """The name of a model for people."""
    names = {DEMO: tr("Demo"), DEMO_SMALL: tr("Demo small")}
    return names.get(ref) or file_title(Path(ref))


def is_demo(ref: str) -> bool:
    """Whether it is one of the models that come with the app."""
    return ref in DEMOS


def file_of(ref: str) -> Path:
    """The file to load. Raises: SlipstreamError, if there is none."""
    return resolve(ref)
