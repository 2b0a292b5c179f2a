"""Draws the pictures of models in worker threads, which take turns at a picker."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from slipstream.cancel import Cancelled, CancelToken
from slipstream.ui.picker.notches import LONGEST, notches

if TYPE_CHECKING:
    from slipstream.engine.advice import Subject
    from slipstream.engine.picker import Picker
    from slipstream.engine.picture import Knobs, Picture

_T = TypeVar("_T")
_BREATH = 0.01
"""Seconds that a worker lets the window draw, which shares the interpreter with it."""
REST_SECONDS = 0.35
"""The engine is asked when nothing was turned for so long."""


@dataclass(frozen=True)
class Drawn:
    """A picture, and what drew it."""

    picker: "Picker"
    picture: "Picture"


class Drawing:
    """Lets one thread at a time at a picker; a knob that was turned comes before every question of
    the engine, which takes much longer."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._asking = CancelToken()  # of the question that is asked now, or was asked last
        self._hurried: set[object] = set()

    def sketch(self, picker: "Picker", knobs: "Knobs", cancel: CancelToken) -> Drawn:
        """Draw at once."""
        with self._turn:
            return Drawn(picker, picker.sketch(knobs, cancel))

    def around(self, picker: "Picker", knobs: "Knobs", cancel: CancelToken) -> Iterator[Drawn]:
        """Sketches for every stop of the slider, the nearest first: a drag only looks them up."""
        first = self.sketch(picker, knobs, cancel)
        stops = notches(first.picture.trained_context or LONGEST)
        asked = knobs.context
        for stop in sorted(stops, key=lambda stop: max(stop, asked) / min(stop, asked)):
            yield self.sketch(picker, replace(knobs, context=stop), cancel)
            cancel.wait(_BREATH)

    def turned(self, picker: "Picker", knobs: "Knobs", cancel: CancelToken) -> Iterator[Drawn]:
        """What a person waits for who turned a knob, then what is around it."""
        with self._hurry():
            first = self.sketch(picker, knobs, cancel)
        yield first
        yield from self.around(picker, knobs, cancel)

    def exact(
        self, picker: "Picker", knobs: "Callable[[], Knobs]", cancel: CancelToken
    ) -> Iterator[Drawn]:
        """As the engine lays it out, then with what each drafter adds.

        Args:
            picker: of the model.
            knobs: says how they stand when the engine is asked.
            cancel: ends it at once.
        """
        picture = self.ask(lambda token: picker.picture(knobs(), token), cancel)
        yield Drawn(picker, picture)
        yield Drawn(picker, self.ask(lambda token: picker.weigh(picture, token), cancel))

    def confirmed(self, picker: "Picker", knobs: "Knobs", cancel: CancelToken) -> Iterator[Drawn]:
        """As the engine lays out what was sketched, and sketches around that."""
        yield from self.exact(picker, lambda: knobs, cancel)
        yield from self.around(picker, knobs, cancel)

    def widened(self, picker: "Picker", found: "Subject") -> "Picker":
        """A picker for what was found out further, which knows what that one learnt."""
        with self._turn:
            return picker.widened(found)

    def ask(self, question: Callable[[CancelToken], _T], cancel: CancelToken) -> _T:
        """An answer of the engine; for a knob that is turned meanwhile the question is given up,
        and asked again a moment later.

        Args:
            question: asks, until its token is cancelled.
            cancel: ends it for good.

        Raises: Cancelled, and what the question raises.
        """
        while True:
            try:
                with self._turn:
                    return self._asked(question, cancel)
            except Cancelled:
                cancel.raise_if_cancelled()
                cancel.wait(REST_SECONDS)

    def _asked(self, question: Callable[[CancelToken], _T], cancel: CancelToken) -> _T:
        token = self._asking = CancelToken()
        if self._hurried:  # whoever came after this line found the token
            raise Cancelled
        with cancel.on_cancel(token.cancel):
            return question(token)

    @contextmanager
    def _hurry(self) -> Iterator[None]:
        """Have the next turn."""
        mine = object()
        self._hurried.add(mine)
        self._asking.cancel()
        try:
            yield
        finally:
            self._hurried.discard(mine)
