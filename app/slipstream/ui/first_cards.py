"""The cards of the first page: a thing to begin with, why, and the one button that does it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from slipstream.errors import SlipstreamError
from slipstream.hub.library.stored import Source
from slipstream.paths import printable
from slipstream.ui.downloads.wording import download_button
from slipstream.ui.i18n import tr
from slipstream.ui.library.wording import store_name
from slipstream.ui.look import Look
from slipstream.ui.widgets.flow import FlowLayout
from slipstream.ui.widgets.labels import Pill, label, wear_kind
from slipstream.words import SPECULATION, several, size

if TYPE_CHECKING:
    from slipstream.engine.first_models import Suggestion
    from slipstream.hub.library.models import Library, LocalModel

TERMS = (
    "Q8_0 is a quantization: how exactly a model is kept. A drafter writes ahead and the model"
    " checks it, which is often faster."
)
"""What the words on the cards mean, in short."""
_QUANTIZATION = (
    "The quantization: how many bits keep each number of the model. More are closer to the"
    " original, and take more memory."
)
_LISTED = 12
_SIDE = 16  # pixels beside what a card holds
_SKELETON_HEIGHT = 89  # pixels at 100 % text size, as these:
_SKELETON_LINES = ((17, 150, 12), (40, 110, 14), (64, 260, 10))  # top, width, height


def button(words: str, act: Callable[[], None] | None = None, kind: str = "") -> QPushButton:
    """A button with these words."""
    made = QPushButton(words)
    if kind:
        made.setProperty("kind", kind)
    if act is not None:
        made.clicked.connect(lambda: act())
    return made


@dataclass(frozen=True)
class Term:
    """A word on a card, and what it means."""

    word: str
    meaning: str


class Card(QFrame):
    """Two lines, and a button that acts on them.

    Attributes:
        button: what can be done.
    """

    def __init__(self, title: str, text: str, action: str, terms: Sequence[Term] = ()) -> None:
        super().__init__()
        self._terms = terms
        self.setProperty("kind", "card")
        self._title = label(title, "section", wrap=True)
        self._text = label(text, "small", wrap=True)
        self.button = button(action)
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addWidget(self._title)
        if terms:
            words.addLayout(_pills(terms))
        words.addWidget(self._text)
        row = QHBoxLayout(self)
        row.setContentsMargins(_SIDE, 12, _SIDE, 12)
        row.setSpacing(16)
        row.addLayout(words, 1)
        row.addWidget(self.button)
        self._name()

    @property
    def text(self) -> str:
        """What it says."""
        return f"{self._title.text()} {self._text.text()}".strip()

    def show_words(self, title: str, text: str) -> None:
        """Say something else."""
        self._title.setText(title)
        self._text.setText(text)
        self._name()

    def _name(self) -> None:
        self.setAccessibleName(self.text)
        meanings = (f"{one.word}: {one.meaning}" for one in self._terms)
        self.button.setAccessibleDescription(" ".join((self.text, *meanings)))


class Skeleton(QFrame):
    """Where a card will be: the outlines of its lines."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.setProperty("kind", "card")
        self.setAccessibleName(tr("Looking for a model that fits"))
        self._fit()
        look.changed.connect(self._fit)

    def _fit(self) -> None:
        self.setFixedHeight(self._look.px(_SKELETON_HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: D102, N802
        super().paintEvent(event)
        px = self._look.px
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._look.theme.pill))
            for top, width, height in _SKELETON_LINES:
                line = QRectF(_SIDE, px(top), px(width), px(height))
                painter.drawRoundedRect(line, px(height) / 2, px(height) / 2)


def _pills(terms: Sequence[Term]) -> FlowLayout:
    flow = FlowLayout()
    for number, each in enumerate(terms):
        pill = Pill()
        wear_kind(pill, "pill-accent" if number else "pill")
        pill.show_text(each.word)
        pill.setToolTip(each.meaning)
        pill.setAccessibleDescription(each.meaning)
        flow.addWidget(pill)
    return flow


def suggestion_card(found: "Suggestion", *, first: bool) -> Card:
    """The card of a model to begin with; the first one's button is the one to press."""
    terms = [Term(found.plan.quantization.label, tr(_QUANTIZATION))]
    if found.drafter:
        way = SPECULATION[found.drafter.kind]
        word = tr("{kind} drafter").format(kind=way.name)
        terms.append(Term(word, tr("{meaning}.").format(meaning=tr(way.meaning))))
    here = found.path is not None and not found.download
    words = tr("Chat now") if here else download_button(found.download)
    text = f"{found.sentence} {tr('It is on this computer already.')}" if here else found.sentence
    card = Card(found.name, text, words, terms)
    card.button.setAccessibleName(f"{found.name}: {words}")
    if first:
        wear_kind(card.button, "primary")
    return card


class Stores(QWidget):
    """The models that other programs, or the user, already put on this computer.

    Attributes:
        chosen: the path of one of them.
        all_wanted: show all of them.
        rows: a card for each store with models.
    """

    chosen = Signal(str)
    all_wanted = Signal()

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.rows: list[Card] = []
        self._state = label("", "small", wrap=True)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._column.addWidget(self._state)

    @property
    def text(self) -> str:
        """What it says about all of them."""
        return self._state.text() if not self._state.isHidden() else ""

    def show_looking(self) -> None:
        """The disk is being looked at."""
        self._say(tr("Looking on this computer…"))

    def show_library(self, library: "Library") -> None:
        """Show what was found."""
        usable = [one for one in library.models if not (one.missing or one.problem)]
        by_store = {source: [one for one in usable if one.source == source] for source in Source}
        self._clear()
        for source, models in by_store.items():
            if models:
                row = self._row(store_name(source), models)
                self.rows.append(row)
                self._column.addWidget(row)
        if self.rows:
            self._state.hide()
        else:
            self._say(tr("None were found in the Hugging Face cache, LM Studio or Ollama."))

    def show_problem(self, error: BaseException) -> None:
        """The disk could not be looked at."""
        if not isinstance(error, SlipstreamError):
            self._say(tr("The disk could not be looked at."))
            raise error
        self._say(f"{error.message} {error.action}")

    def _row(self, store: str, models: "Sequence[LocalModel]") -> Card:
        title = tr("Found {models} in {store}").format(
            models=several(len(models), tr("model")), store=store
        )
        names = ", ".join(dict.fromkeys(printable(one.name) for one in models[:_LISTED]))
        note = tr("They stay where they are; nothing is copied.")
        one = models[0]
        if len(models) == 1:
            note = tr("It stays where it is; nothing is copied.")
        card = Card(title, f"{names}. {note}", tr("Use it") if len(models) == 1 else tr("Use one"))
        card.button.setAccessibleName(f"{title}: {card.button.text()}")
        if len(models) == 1:
            card.button.clicked.connect(lambda: self.chosen.emit(str(one.path)))
        else:
            card.button.setMenu(self._menu(card, models))
        return card

    def _menu(self, card: Card, models: "Sequence[LocalModel]") -> QMenu:
        menu = QMenu(card)
        for one in models[:_LISTED]:
            words = " ".join(filter(None, (printable(one.name), one.quant)))
            action = menu.addAction(f"{words} · {size(one.bytes)}".replace("&", "&&"))
            action.triggered.connect(lambda _on=False, path=one.path: self.chosen.emit(str(path)))
        if len(models) > _LISTED:
            menu.addSeparator()
            menu.addAction(tr("Show all of them")).triggered.connect(lambda: self.all_wanted.emit())
        return menu

    def _say(self, words: str) -> None:
        self._clear()
        self._state.setText(words)
        self._state.show()

    def _clear(self) -> None:
        for row in self.rows:
            self._column.removeWidget(row)
            row.deleteLater()
        self.rows = []
