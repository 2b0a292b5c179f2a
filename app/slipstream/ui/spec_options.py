"""The ways to speculate that the user can choose from, each with what it means."""

from collections.abc import Sequence

from slipstream.drafters.kinds import DrafterKind, SpecChoice
from slipstream.engine.requests import Loaded
from slipstream.ui.widgets.choice import Option
from slipstream.ui.wording import choice_meaning, choice_name


def offered(loaded: Loaded) -> list[Option]:
    """What makes sense for this model."""
    kinds = list(dict.fromkeys(each.kind for each in loaded.drafters))
    if DrafterKind.NGRAM not in kinds:
        kinds.append(DrafterKind.NGRAM)
    return options(["auto", *kinds, "off"])


def options(choices: Sequence[SpecChoice]) -> list[Option]:
    """These choices, as a menu shows them."""
    return [Option(str(each), choice_name(each), choice_meaning(each)) for each in choices]
