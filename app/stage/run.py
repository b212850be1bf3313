"""One run: a scenario played whole in virtual time, with what was pressed, and what it came to."""

from collections.abc import Callable
from functools import partial

import msgspec

from app.engine.records import Record
from app.errors import StageError
from app.journal.weight import weight
from app.sim.account import Summary, play_to_end
from app.sim.faultplan import PressError
from app.sim.hand import Hand, Pressed
from app.sim.scenario import Scenario
from app.sim.virtual import VirtualSession
from app.stage.spec import HEAL, Press, RunSpec
from app.stage.truth import Moment, RunTruth, Truth

MOST_RECORDS = 150_000
"""Records of a run; one that has more is too long to be stepped through."""

MOST_WEIGHT = 256 * 1024 * 1024
"""Characters of text in them."""


class Faults(msgspec.Struct, frozen=True):
    """The faults at work from record ``seq`` on."""

    seq: int
    at_work: tuple[Pressed, ...]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario that was played whole.

    ``records`` are numbered from 1 without a hole, before the end of what was played; what the last
    look at the node brought afterwards is in ``summary`` only. ``truth``: what really happened,
    when it was found and by whom, and when the pod cache was wrong. ``faults``: in order of
    ``seq``; before the first entry none is at work. ``weight``: characters of text in the records.
    """

    spec: RunSpec
    title: str
    shows: str
    records: tuple[Record, ...]
    summary: Summary
    truth: RunTruth
    faults: tuple[Faults, ...]
    weight: int

    @property
    def detections(self) -> tuple[Moment, ...]:
        """Each beginning and end of a process, with its finding, in order of the true time."""
        return self.truth.moments

    @property
    def wrong_ns(self) -> int:
        """How long the pod cache was wrong, summed over containers."""
        return self.truth.wrong_ns


class Cancelled(Exception):
    """Nobody wants the run any more."""


def nobody_asks(_t: int) -> None:
    """Progress that nobody wants to know."""


def play(
    spec: RunSpec,
    scenario: Scenario,
    progress: Callable[[int], None] = nobody_asks,
    cancelled: Callable[[], bool] = lambda: False,
) -> Run:
    """Play a run; takes a thousandth of its time or so, on the thread that calls.

    Args:
        spec: what to play.
        scenario: the one that the spec names, behaving as the runtime that it names.
        progress: told of the time reached (ns), once a simulated second.
        cancelled: asked as often.

    Raises:
        Cancelled: ``cancelled`` said so.
        StageError: it has too many records.
    """
    kept = _Kept(spec.duration_ns)
    session = VirtualSession(
        scenario, seed=spec.seed, profile=spec.profile, on_record=kept.on_record
    )
    truth = Truth(session, spec.duration_ns)
    hand = Hand(
        session.agenda,
        session.plan,
        session.performance.act,
        lambda: session.workers.pods,
        seed=session.seed,
        tell=session.note,
    )

    def faults_change(_fault: object) -> None:
        kept.faults_change(hand.at_work())

    def pressed() -> None:
        # Only now the hand knows which button began what has begun.
        kept.faults_named(hand.at_work())

    session.plan.on_begin.append(faults_change)
    session.plan.on_end.append(faults_change)
    for press in spec.presses:
        session.agenda.at(press.t, partial(_press, session, hand, press, pressed))

    def watch(t: int) -> None:
        if cancelled():
            raise Cancelled
        progress(t)

    summary = play_to_end(session, spec.duration_ns, watch)
    return Run(
        spec=spec,
        title=scenario.title,
        shows=scenario.shows,
        records=tuple(kept.records),
        summary=summary,
        truth=truth.told(),
        faults=tuple(kept.faults),
        weight=kept.weight,
    )


def _press(session: VirtualSession, hand: Hand, press: Press, pressed: Callable[[], None]) -> None:
    """Press; what cannot be pressed then (a pod that is not there) is told and changes nothing."""
    if press.name == HEAL:
        count = hand.heal()
        session.note("info", f"Back to normal: faults ended, {count} in number.")
        return
    try:
        hand.press(press.name, press.target)
        pressed()
    except PressError as error:
        session.note("warning", f"Nothing was pressed. {error}")


class _Kept:
    """Numbers and keeps the records before the end of what is played."""

    def __init__(self, duration_ns: int) -> None:
        self._duration_ns = duration_ns
        self.weight = 0
        self.records: list[Record] = []
        self.faults: list[Faults] = []

    def faults_change(self, at_work: tuple[Pressed, ...]) -> None:
        """The next record tells of it."""
        self.faults.append(Faults(len(self.records) + 1, at_work))

    def faults_named(self, at_work: tuple[Pressed, ...]) -> None:
        """Those of the last change, with the names of their buttons."""
        if self.faults:
            self.faults[-1] = Faults(self.faults[-1].seq, at_work)

    def on_record(self, record: Record) -> None:
        # At the very end the node is held still for the last look, which is no part of the run.
        if record.t >= self._duration_ns:
            return
        self.weight += weight(record)
        if len(self.records) >= MOST_RECORDS or self.weight > MOST_WEIGHT:
            raise StageError(
                f"This run has more than {len(self.records):,} records, which is more than can be "
                "stepped through. Give it a shorter `duration`."
            )
        self.records.append(msgspec.structs.replace(record, seq=len(self.records) + 1))
