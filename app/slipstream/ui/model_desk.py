"""Which models there are, which one is wanted, and how it is to speculate."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from slipstream.drafters.kinds import spec_choice
from slipstream.ui import models
from slipstream.ui.engine_control import EngineControl
from slipstream.ui.models import Choice, Offer, Selection
from slipstream.ui.work import Job, Work


class ModelDesk(QObject):
    """Finds models and opens them.

    Attributes:
        offered: ``offer`` is another one.
        work: the background work.
        control: the engine.
        offer: the models of the user's that can be chosen.
    """

    offered = Signal()

    def __init__(
        self,
        work: Work,
        control: EngineControl,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.work = work
        self._search: Job | None = None
        self._titles: dict[str, str] = {}
        self.control = control
        self.offer = Offer()
        control.loaded_model.connect(self._on_loaded)

    @property
    def selection(self) -> Selection:
        """What runs, or what is to run."""
        return self.control.wanted

    @property
    def title(self) -> str:
        """The name of the model for people; empty if none is wanted."""
        return self.title_of(self.selection.ref)

    def title_of(self, ref: str) -> str:
        """The name of a model for people; empty for no model."""
        return self._titles.get(ref) or (models.title(ref) if ref else "")

    def open(
        self, ref: str, spec: str = "auto", draft_tokens: int = 0, *, anyway: bool = False
    ) -> None:
        """Load another model.

        Args:
            ref: "demo", "demo-small" or a path.
            spec: "off" or a kind of drafter; "auto" is as the settings say.
            draft_tokens: 0 for as many as the settings or the kind say.
            anyway: load it also where memory seems too small.
        """
        self.control.load(Selection(ref, spec_choice(spec), draft_tokens, anyway=anyway))

    def speculate(self, spec: str, draft_tokens: int) -> None:
        """Load the same model again, speculating in another way."""
        if self.selection.ref:
            wanted = replace(self.selection, spec=spec_choice(spec), draft_tokens=draft_tokens)
            self.control.load(wanted)

    def reload(self) -> None:
        """Load the same model again as the settings say now."""
        if self.selection.ref:
            self.open(self.selection.ref, anyway=self.selection.anyway)

    def find(self, recent: Sequence[str]) -> None:
        """Look in the background which files are still there.

        Args:
            recent: files opened before, newest first; offered unseen until they were looked for.
        """
        if self._search is not None:
            self._search.cancel()
        unseen = tuple(Choice(each, self.title_of(each), each) for each in recent)
        self._offer(replace(self.offer, recent=unseen))
        self._search = self.work.start(
            lambda cancel: models.still_there(recent, cancel),
            on_values=lambda values: self._offer(replace(self.offer, recent=values[-1])),
        )

    def show_here(self, here: tuple[Choice, ...]) -> None:
        """Offer the models that are on this computer."""
        if here != self.offer.here:
            self._offer(replace(self.offer, here=here))

    def _on_loaded(self) -> None:
        ref, loaded = self.selection.ref, self.control.loaded
        if loaded is None or models.is_demo(ref):
            return
        self._titles[ref] = loaded.name
        others = (each for each in self.offer.recent if each.ref != ref)
        self._offer(replace(self.offer, recent=(Choice(ref, loaded.name, ref), *others)))

    def _offer(self, offer: Offer) -> None:
        self.offer = offer
        self._titles |= {each.ref: each.title for each in (*offer.here, *offer.recent)}
        self.offered.emit()
