"""The core behind the page of a model: a picture for every position of its knobs.

At first, and while a knob moves, it is drawn by formula and by what the engine said before; where
the knobs come to rest, the engine lays the model out.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from slipstream.cancel import CancelToken
from slipstream.drafters.kinds import SpecConfig
from slipstream.engine.advice import Advice, Desk, Subject, fulfil
from slipstream.engine.computer import batch_for, measured_by
from slipstream.engine.drafter_options import Known, chosen, options
from slipstream.engine.picture import AUTO, OFF, DrafterOption, Knobs, Line, Picture, drafter_key
from slipstream.engine.transfers import Transfers
from slipstream.errors import SlipstreamError
from slipstream.hub.downloads.orders import Order
from slipstream.planning.curves import STOPS, Curves
from slipstream.planning.layouts import Measure
from slipstream.planning.parts import Breakdown, Offload, Setup
from slipstream.planning.plan import Earlier, Plan, Wish
from slipstream.planning.quantizations import Quantization
from slipstream.planning.sentences import headline, verdict, why
from slipstream.weights.header import Header
from slipstream.weights.names import bits

_DYNAMIC = "UD-"
_MANY_BITS = 99
"""Where a label tells none, it comes last."""


class Picker:
    """Draws the page of one model, or of a few in one repository.

    For one thread at a time, but for ``order``, which may be asked meanwhile.
    """

    def __init__(self, subject: Subject, desk: Desk) -> None:
        """Prepare.

        Args:
            subject: what was looked up.
            desk: the engine and the computer.

        Raises: SlipstreamError, if there is nothing to show.
        """
        if not subject.quantizations:
            raise next(iter(subject.problems), _nothing())
        self.subject, self.desk = subject, desk
        self._curves = Curves(self._measure)
        self._cancel = CancelToken()
        self._earlier = Earlier()
        self._transfers = Transfers(subject.offer)
        self._specs: dict[tuple[int, str], SpecConfig] = {}
        self._offered: dict[tuple[int, str], tuple[DrafterOption, ...]] = {}
        self._added: dict[tuple[Sequence[Path], Knobs], int | None] = {}

    def sketch(self, knobs: Knobs, cancel: CancelToken) -> Picture:
        """Draw at once, between what the engine said before, or by formula.

        Raises: SlipstreamError, if nothing can be planned; Cancelled.
        """
        cancel.raise_if_cancelled()
        return self._drawn(knobs, self._curves.known, exact=False)

    def picture(self, knobs: Knobs, cancel: CancelToken) -> Picture:
        """Draw as the engine lays it out, which takes a part of a second; by formula where no
        engine can be asked.

        Raises: SlipstreamError, if nothing can be planned; Cancelled.
        """
        self._specs.clear()  # what was seen of drafters may have changed
        self._offered.clear()
        self._cancel = cancel
        drawn = self._drawn(knobs, self._curves.exact, exact=self.desk.can_ask)
        return self._weighed(drawn, self._curves.known)

    def weigh(self, picture: Picture, cancel: CancelToken) -> Picture:
        """Let the engine tell what each drafter adds in memory; one question each.

        Args:
            picture: of this picker.
            cancel: ends it at once.

        Raises: Cancelled.
        """
        self._cancel = cancel
        return self._weighed(picture, self._curves.exact)

    def learn(self, knobs: Knobs, cancel: CancelToken) -> None:
        """Ask the engine at a few contexts, so that sketches are as good as what it says; what it
        was asked before it is not asked again.

        Raises: SlipstreamError, if nothing can be planned; Cancelled.
        """
        self._cancel = cancel
        for stop in STOPS if self.desk.can_ask else ():
            cancel.raise_if_cancelled()
            self._advice(replace(knobs, context=stop), self._curves.exact, self._read)

    def widened(self, subject: Subject) -> "Picker":
        """A picker for what was found out further (``advice.look_further``), which knows all that
        this one knows of the engine."""
        picker = Picker(subject, self.desk)
        picker._curves = self._curves.copied(picker._measure)
        picker._added = dict(self._added)
        return picker

    def order(self, line: Line, knobs: Knobs) -> Order | None:
        """What to download for a line: its files, the drafter that it was planned with, and what
        reads images; None for a model on this computer.

        Args:
            line: of a picture of this picker.
            knobs: that it was made for.
        """
        if line.row is None:
            return None
        return self._transfers.order(
            line.row,
            line.plan,
            projector=knobs.projector,
            by_hand=knobs.drafter != AUTO,
        )

    def _measure(
        self, target: Header, setup: Setup, drafter: Header | None, where: Offload
    ) -> Breakdown | None:
        if not self.desk.can_ask:
            return None
        measure = measured_by(self.desk.choice.engine, self.desk.here, self._cancel)
        return measure(target, setup, drafter, where)

    def _drawn(self, knobs: Knobs, measure: Measure, *, exact: bool) -> Picture:
        advice = self._advice(knobs, measure, self._quantizations(knobs))
        lines = sorted((self._line(plan, knobs) for plan in advice.plans), key=_order)
        shown = next((line for line in lines if line.recommended), lines[0])
        model = shown.plan.quantization.model_key
        alike = [line.plan for line in lines if line.plan.quantization.model_key == model]
        trained = shown.plan.quantization.model.architecture.trained_context
        problems = dict.fromkeys((*self.subject.problems, *advice.problems))
        return Picture(
            name=self._name,
            knobs=knobs,
            lines=tuple(lines),
            drafters=self._options(shown, knobs),
            drafter=_drafter_of(shown),
            headline=headline(alike, advice.computer, self._automatic(alike, knobs)),
            reason=shown.why,
            computer=advice.computer,
            devices=advice.devices,
            projector=self._projector_bytes,
            trained_context=trained or None,
            layers=max(plan.layers for plan in advice.plans) if advice.computer.devices else 0,
            exact=exact and shown.plan.method == "dry-run",
            problems=tuple(problems),
        )

    def _automatic(self, alike: Sequence[Plan], knobs: Knobs) -> Sequence[Plan]:
        """Where layers by hand leave nothing of a model that fits: its plans without them."""
        if knobs.gpu_layers is None or any(plan.recommended for plan in alike):
            return ()
        quantizations = [plan.quantization for plan in alike]
        left = replace(knobs, gpu_layers=None)
        return self._advice(left, self._curves.known, quantizations).plans

    def _advice(
        self, knobs: Knobs, measure: Measure, quantizations: Sequence[Quantization]
    ) -> Advice:
        wish = Wish(
            context=knobs.context,
            kv_type=knobs.kv_type,
            choose=lambda one: self._spec(one, knobs.drafter),
            batch=batch_for(self.desk.computer.devices),
            gpu_layers=knobs.gpu_layers,
        )
        return fulfil(wish, quantizations, self.desk, measure, earlier=self._earlier)

    def _spec(self, one: Quantization, wanted: str) -> SpecConfig:
        """How a quantization speculates; plainly, where it has not got what is wanted."""
        key = id(one.found), wanted
        if key not in self._specs:
            named = self.desk.choice.spec if wanted == AUTO else wanted
            engine, types = self.desk.choice.engine.build, self.desk.spec_types
            self._specs[key] = chosen(one.found, named, types, engine)
        return self._specs[key]

    def _quantizations(self, knobs: Knobs) -> Sequence[Quantization]:
        return self.subject.quantizations if knobs.projector else self._blind

    @cached_property
    def _blind(self) -> Sequence[Quantization]:
        """The quantizations without what reads images."""
        return [replace(one, projector=None) for one in self.subject.quantizations]

    @cached_property
    def _read(self) -> Sequence[Quantization]:
        """Those whose headers are known: the engine can be asked about them, for all."""
        return [one for one in self.subject.quantizations if one.read]

    def _line(self, plan: Plan, knobs: Knobs) -> Line:
        one = plan.quantization
        row = self._transfers.row(one)
        missing = self._transfers.missing(row, plan, projector=knobs.projector) if row else 0
        words, tone = verdict(plan, self.desk.computer)
        return Line(
            plan=plan,
            row=row,
            bits=bits(one.label),
            dynamic=one.label.startswith(_DYNAMIC),
            path=row.path if row else one.files[0],
            bytes=row.files.bytes if row else one.header.file_bytes,
            download=missing,
            verdict=words,
            tone=tone,
            why=why(plan, self.desk.computer),
            searched=self.subject.searched,
        )

    @cached_property
    def _name(self) -> str:
        names = {one.name for one in self.subject.quantizations}
        offer = self.subject.offer
        return offer.listing.repo if offer and len(names) > 1 else min(names)

    @cached_property
    def _projector_bytes(self) -> int | None:
        offer = self.subject.offer
        listed = (row.projector.bytes for row in (offer.rows if offer else ()) if row.projector)
        near = (one.projector.file_bytes for one in self.subject.quantizations if one.projector)
        return next(iter((*listed, *near)), None)

    def _options(self, shown: Line, knobs: Knobs) -> tuple[DrafterOption, ...]:
        one = shown.plan.quantization
        key = id(one.found), knobs.drafter
        if key not in self._offered:
            self._offered[key] = tuple(options(self._known(shown), knobs.drafter))
        return tuple(
            replace(each, memory=self._added.get(_use(one, knobs, each)))
            for each in self._offered[key]
        )

    def _known(self, shown: Line) -> Known:
        return Known(
            shown.plan.quantization,
            self.subject.quantizations,
            shown.row,
            self.subject.offer.listing if self.subject.offer else None,
            self.desk.choice.engine.build,
            self.desk.spec_types,
        )

    def _weighed(self, picture: Picture, measure: Measure) -> Picture:
        """With what each drafter adds to the recommended quantization, or to the first."""
        shown = picture.recommended or picture.lines[0]
        among = self._quantizations(picture.knobs)
        own = next(one for one in among if one.files == shown.plan.quantization.files)
        plain = self._need(own, replace(picture.knobs, drafter=OFF), measure)
        weighed = []
        for one in picture.drafters:
            use = _use(own, picture.knobs, one)
            need = self._need(own, use[1], measure) if one.fits else None
            added = None if need is None or plain is None else max(0, need - plain)
            self._added[use] = added
            weighed.append(replace(one, memory=added))
        return replace(picture, drafters=tuple(weighed))

    def _need(self, one: Quantization, knobs: Knobs, measure: Measure) -> int | None:
        """Bytes that a quantization needs in all; None if its drafter cannot be read any more."""
        alike = (each for each in self._quantizations(knobs) if each.shape == one.shape)
        asked = [] if one.read else [each for each in alike if each.read][:1]
        try:
            plans = self._advice(knobs, measure, [one, *asked]).plans
        except SlipstreamError:
            return None
        own = (plan for plan in plans if plan.quantization.files == one.files)
        return next((plan.placement.need.total for plan in own), None)


def _drafter_of(line: Line) -> str:
    spec = line.plan.setup.spec
    return drafter_key(spec.kind, spec.drafter) if spec.kind else ""


def _use(one: Quantization, knobs: Knobs, drafter: DrafterOption) -> tuple[Sequence[Path], Knobs]:
    """A name for a quantization that is drafted for with everything else as it stands."""
    return one.files, replace(knobs, drafter=drafter.key)


def _order(line: Line) -> tuple[bool, int, int]:
    return not line.here, _MANY_BITS if line.bits is None else line.bits, line.bytes


def _nothing() -> SlipstreamError:
    return SlipstreamError(
        "no_model", "There is no model in it.", action="Choose a GGUF file with a model in it."
    )
