"""Which models there are, which one is wanted, and how it is to speculate."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from slipstream.settings import Settings
from slipstream.ui import models
from slipstream.ui.engine_control import EngineControl
from slipstream.ui.models import Choice, Offer, Selection, spec_choice
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
        settings: Callable[[], Settings],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.work = work
        self._settings = settings
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

    def open(self, ref: str, spec: str = "", draft_tokens: int | None = None) -> None:
        """Load another model.

        Args:
            ref: "demo", "demo-small" or a path.
            spec: "auto", "off" or a kind of drafter; empty takes the setting.
            draft_tokens: 0 for the kind's own number; None takes the setting.
        """
        chosen = self._settings()
        number = chosen.draft_tokens if draft_tokens is None else draft_tokens
        self.control.load(Selection(ref, spec_choice(spec or chosen.speculation), number))

    def speculate(self, spec: str, draft_tokens: int) -> None:
        """Load the same model again, speculating in another way."""
        if self.selection.ref:
            self.open(self.selection.ref, spec, draft_tokens)

    def reload(self) -> None:
        """Load the same model again as the settings say now."""
        if self.selection.ref:
            self.open(self.selection.ref)

    def find(self, recent: Sequence[str]) -> None:
        """Look for the user's models in the background.

        Args:
            recent: files opened before, newest first; offered unseen until they were looked for.
        """
        if self._search is not None:
            self._search.cancel()
        unseen = tuple(Choice(each, self.title_of(each), each) for each in recent)
        self._offer(Offer(unseen, self.offer.folders))
        folders = self._settings().model_folders
        self._search = self.work.start(
            lambda cancel: models.find(recent, folders, cancel), on_values=self._on_found
        )

    def _on_found(self, offers: list[Offer]) -> None:
        newest = offers[-1]
        self._titles |= {each.ref: each.title for each in (*newest.recent, *newest.folders)}
        self._offer(newest)

    def _on_loaded(self) -> None:
        ref, loaded = self.selection.ref, self.control.loaded
        if loaded is None or models.is_demo(ref):
            return
        self._titles[ref] = loaded.name
        others = (each for each in self.offer.recent if each.ref != ref)
        self._offer(replace(self.offer, recent=(Choice(ref, loaded.name, ref), *others)))

    def _offer(self, offer: Offer) -> None:
        self.offer = offer
        self.offered.emit()
