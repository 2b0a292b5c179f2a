"""The chat page: transcript, composer, model, speed. It wires parts together, nothing else."""

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from slipstream.chats.records import Message
from slipstream.engine.events import Finished, Piece, ReplyNumbers
from slipstream.ui import browser, models
from slipstream.ui.answering import numbers_of, spec_of, text_runs
from slipstream.ui.composer import Composer
from slipstream.ui.conversation import Conversation
from slipstream.ui.engine_control import Phase
from slipstream.ui.header import Header
from slipstream.ui.i18n import tr
from slipstream.ui.look import Look
from slipstream.ui.model_desk import ModelDesk
from slipstream.ui.models import Selection
from slipstream.ui.reply import Reply
from slipstream.ui.speed_panel import SpeedPanel
from slipstream.ui.transcript import Transcript
from slipstream.ui.transcript.styles import COLUMN
from slipstream.ui.welcome import Welcome
from slipstream.ui.widgets.notice_bar import Notice, notice_of
from slipstream.ui.wording import choice_name, restarted, speed_line

_MARGIN = 24  # as the transcript has it


class ChatPage(QWidget):
    """One conversation with one model.

    Attributes:
        noticed: a Notice for the user.
        speed_toggled, tint_toggled: what the user wants shown.
    """

    noticed = Signal(object)
    speed_toggled = Signal(bool)
    tint_toggled = Signal(bool)

    def __init__(
        self, look: Look, desk: ModelDesk, conversation: Conversation, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._look = look
        self._desk = desk
        self._control = desk.control
        self._conversation = conversation
        self.header = Header(look, desk)
        self.transcript = Transcript(desk.work)
        self.welcome = Welcome()
        self.composer = Composer(look)
        self.speed = SpeedPanel(look)
        self._pages = QStackedWidget()
        self._used = 0  # tokens of context
        self._restart: Selection | None = None  # what the transcript says it restarts with
        self._column = QVBoxLayout()
        self._lay_out()
        self._connect_parts()
        self._connect_model()
        self._connect_conversation()
        look.changed.connect(self._on_look_changed)
        self._on_look_changed()
        self._on_model_changed()
        self._on_opened([])

    def open_file(self) -> None:
        """Ask for a GGUF file and load it."""
        path, _ = QFileDialog.getOpenFileName(
            self, tr("Open a GGUF file"), "", tr("Models (*.gguf);;All files (*)")
        )
        if path:
            self._desk.open(path)

    def narrowest(self) -> int:
        """The width the conversation needs, in pixels."""
        return self.composer.minimumSizeHint().width() + 2 * _MARGIN

    def show_tint(self, tint: bool) -> None:
        """Tint drafted tokens or not."""
        self.transcript.set_tint(tint)
        self.composer.tint.setChecked(tint)

    def focus_message(self) -> None:
        """Put the keyboard where the user writes."""
        self.composer.field.setFocus()

    # What the user does

    def _on_speculation_chosen(self, spec: str, draft_tokens: int) -> None:
        self._desk.speculate(spec, draft_tokens)
        name = choice_name(self._desk.selection.spec)
        number = tr(", {n} draft tokens").format(n=draft_tokens) if draft_tokens else ""
        sentence = tr("Restarting with {mode}…").format(mode=name + number)
        if self._desk.selection.spec == "off":
            sentence = tr("Restarting without a drafter…")
        self.speed.show_sentence(sentence)
        if self._restart is None:
            self.transcript.add_notice(sentence)
        else:
            self.transcript.change_notice(sentence)
        self._restart = self._desk.selection

    def _on_regenerate(self) -> None:
        self._conversation.regenerate()
        self._refresh_busy()

    def _on_link(self, address: str) -> None:
        notice = browser.question(address)
        if notice is not None:
            self._tell(notice)

    def _tell(self, notice: Notice) -> None:
        """Tell what is about the chat that is open."""
        chat = self._conversation.chat
        self.noticed.emit(replace(notice, chat_id=chat.id if chat is not None else 0))

    # What the model reports

    def _on_model_changed(self) -> None:
        name = self._desk.title
        self.composer.show_model(name or tr("the model"))
        self.welcome.show_model(name, demo=models.is_demo(self._desk.selection.ref))
        if self._control.phase is Phase.READY:
            self.speed.show_loaded(self._control.loaded)
        elif self._control.phase is not Phase.LOADING:
            self.speed.show_loaded(None, self._desk.selection.spec)
        if self._restart is not None and not self._control.changing:
            self._on_restart_ended(self._restart)

    def _on_restart_ended(self, wanted: Selection) -> None:
        self._restart = None
        loaded, last = self._control.loaded, self._control.last_loaded
        works = loaded is not None and last == wanted
        sentence = restarted(loaded.spec) if loaded and works else tr("It was not restarted.")
        self.transcript.change_notice(sentence)

    def _on_model_loaded(self) -> None:
        self._conversation.remember_model(self._desk.selection)
        self._refresh_context()

    # What the conversation reports

    def _on_opened(self, messages: list[Message]) -> None:
        self.speed.clear()
        self._used = 0
        self._restart = None
        self._show_messages(messages)
        self._refresh_context()
        reply = self._conversation.reply
        self._pages.setCurrentWidget(self.transcript if messages or reply else self.welcome)
        if reply is not None:
            self._show_reply(reply)
        self._refresh_busy()
        self.focus_message()

    def _show_reply(self, reply: Reply) -> None:
        """Show a reply that began while the user was elsewhere."""
        if reply.question is None:
            self.transcript.add_user(reply.text)
        self.transcript.begin_reply()
        self.speed.begin_reply()
        self.transcript.append(reply.pieces)
        if reply.numbers is not None:
            self._on_numbers(reply.numbers)

    def _on_rewound(self, messages: list[Message]) -> None:
        self._restart = None
        self._show_messages(messages)
        self._refresh_busy()

    def _show_messages(self, messages: list[Message]) -> None:
        self.transcript.clear()
        numbers: ReplyNumbers | None = None
        with self.transcript.filling():
            for message in messages:
                if message.role == "user":
                    self.transcript.add_user(message.content)
                else:
                    numbers = numbers_of(message)
                    self._show_reply_kept(message, numbers)
        if numbers is not None:
            self.speed.show_final(numbers)
            self._show_used(numbers)

    def _show_reply_kept(self, message: Message, numbers: ReplyNumbers | None) -> None:
        finish = message.finish or "failed"  # the app ended while it was written
        note = speed_line(numbers or ReplyNumbers(), spec_of(message), finish)
        self.transcript.add_reply(
            message.content, reasoning=message.reasoning, spans=text_runs(message), note=note
        )

    def _on_asked(self, text: str) -> None:
        self._pages.setCurrentWidget(self.transcript)
        self.transcript.add_user(text)

    def _on_refused(self, text: str, error: BaseException) -> None:
        """The question could not be kept: it goes back to where it was written."""
        self.composer.field.put_before(text)
        self._conversation.reopen()
        self._refresh_busy()
        self._tell(notice_of(error))

    def _on_reply_began(self) -> None:
        self.transcript.begin_reply()
        self.speed.begin_reply()
        self._refresh_busy()

    def _on_pieces(self, pieces: list[Piece]) -> None:
        self.transcript.append(pieces)

    def _on_numbers(self, numbers: ReplyNumbers) -> None:
        self.speed.show_live(numbers)
        self._show_used(numbers)

    def _on_replied(self, finished: Finished | None, line: str) -> None:
        self.transcript.finish_reply(line)
        if finished is not None:
            self.speed.show_final(finished.numbers)
            self._show_used(finished.numbers)
        self._refresh_busy()

    def _show_used(self, numbers: ReplyNumbers) -> None:
        if not numbers.tokens:
            return  # it was stopped before the whole prompt was counted
        self._used = numbers.prompt_tokens + numbers.tokens
        self._refresh_context()

    def _refresh_context(self) -> None:
        loaded = self._control.loaded
        self.composer.show_context(self._used, loaded.context if loaded is not None else None)

    def _refresh_busy(self) -> None:
        self.composer.show_busy(self._conversation.busy)
        self.transcript.set_actions(regenerate=self._conversation.answerable)

    # How it is put together

    def _on_look_changed(self) -> None:
        self.transcript.apply_theme(self._look.theme)
        self.transcript.set_text_size(self._look.percent)
        self.composer.setMaximumWidth(self._look.px(COLUMN))

    def _connect_parts(self) -> None:
        self.header.model_chosen.connect(self._desk.open)
        self.header.open_wanted.connect(self.open_file)
        self.header.cancel_wanted.connect(self._control.cancel_load)
        self.header.speed_toggled.connect(self.speed_toggled)
        self.header.speculation_chosen.connect(lambda spec: self._on_speculation_chosen(spec, 0))
        self.welcome.example_chosen.connect(self._conversation.send)
        self.composer.sent.connect(self._conversation.send)
        self.composer.stop_wanted.connect(self._conversation.stop)
        self.composer.tint_toggled.connect(self.tint_toggled)
        self.speed.speculation_chosen.connect(self._on_speculation_chosen)
        self.transcript.regenerate_requested.connect(self._on_regenerate)
        self.transcript.link_activated.connect(self._on_link)

    def _connect_model(self) -> None:
        self._control.changed.connect(self._on_model_changed)
        self._control.loaded_model.connect(self._on_model_loaded)
        self._desk.offered.connect(self._on_model_changed)

    def _connect_conversation(self) -> None:
        self._conversation.opened.connect(self._on_opened)
        self._conversation.asked.connect(self._on_asked)
        self._conversation.rewound.connect(self._on_rewound)
        self._conversation.reply_began.connect(self._on_reply_began)
        self._conversation.reading.connect(self.composer.show_reading)
        self._conversation.pieces.connect(self._on_pieces)
        self._conversation.numbers.connect(self._on_numbers)
        self._conversation.replied.connect(self._on_replied)
        self._conversation.refused.connect(self._on_refused)
        self._conversation.not_opened.connect(self._refresh_busy)

    def _lay_out(self) -> None:
        self._pages.addWidget(self.welcome)
        self._pages.addWidget(self.transcript)
        self._column.addWidget(self._pages, 1)
        row = QHBoxLayout()
        row.setContentsMargins(_MARGIN, 8, _MARGIN, 20)
        row.addStretch(1)
        row.addWidget(self.composer, 1000)
        row.addStretch(1)
        self._column.addLayout(row)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        body = QHBoxLayout()
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(0)
        body.addLayout(self._column, 1)
        body.addWidget(self.speed)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self.header)
        page.addLayout(body, 1)
