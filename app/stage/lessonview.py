"""What a page shows of a lesson's step. Plain data; times are ns of the run that is shown.

Texts come in parts, so that a page can set numbers apart from words; a screen reader gets them in
order.
"""

from typing import Literal, TypeAlias

import msgspec

from app.stage import law
from app.stage.figures import Told

Part: TypeAlias = str | Told
"""A piece of a text: words, or a figure."""

Grade: TypeAlias = Literal["right", "part", "wrong", "shown", "told"]
"""``part``: the right choice, but a moment that is off; ``shown``: nobody answered; ``told``: a
moment alone, which is told how far off it is."""

Tier: TypeAlias = Literal["said", "asked", "found", ""]
"""Where in a pod's lane a thing is drawn; empty: it is about no pod."""


class Answer(msgspec.Struct, frozen=True):
    """What somebody committed to: a choice, a moment (ns of the run), or both; or, with ``show``,
    neither: to be shown it."""

    choice: str = ""
    at: int | None = None
    show: bool = False

    @property
    def given(self) -> bool:
        """Whether the question is passed by it."""
        return bool(self.choice) or self.at is not None or self.show


class PointView(msgspec.Struct, frozen=True):
    """A thing that is pointed out on the timeline: the record's number, its time, its words.

    ``told``: the record itself has come by the moment shown; its time may be one before it.
    """

    seq: int
    t: int
    call: str
    pod: str
    uid: str
    told: bool = False
    tier: Tier = ""


class Unseen(msgspec.Struct, frozen=True):
    """The pod cache was wrong about a container of a pod (ns of the run; ``to`` is the moment shown
    where it still is). ``says``: what it said meanwhile."""

    uid: str
    begin: int
    to: int
    says: Literal["runs", "does not run"]


class Shown(msgspec.Struct, frozen=True):
    """What the timeline shows: which run, up to when, which time is in view, whose lanes."""

    query: str
    run: str
    profile: str
    until: int
    begin: int
    end: int
    pods: tuple[str, ...]
    uids: tuple[str, ...]
    filter: str
    """What the names of these pods begin with: a filter that leaves their lanes."""
    points: tuple[PointView, ...]
    unseen: tuple[Unseen, ...] = ()
    """What is so and not seen, while nothing is asked that it would answer."""


class ChoiceView(msgspec.Struct, frozen=True):
    """An answer to choose; ``right`` only once it has been answered."""

    id: str
    text: str
    chosen: bool
    right: bool


class Outcome(msgspec.Struct, frozen=True):
    """What came of an answer. ``verdict`` in a sentence; ``you`` and ``engine``: the moments (ns of
    the run) and how far they are apart, where a moment was asked for."""

    grade: Grade
    verdict: str
    say: tuple[Part, ...]
    numbers: tuple[Told, ...]
    you: int | None = None
    you_text: str = ""
    engine: int | None = None
    engine_text: str = ""
    apart_text: str = ""


class AskView(msgspec.Struct, frozen=True):
    """A question as it stands. A moment may be chosen from ``earliest`` to ``latest`` in steps of
    ``grain`` (all ns), and is told as from ``since``, which is called ``since_call``. A slider that
    stands at ``unset``, one step before the earliest, has not been touched: no moment is given."""

    choices: tuple[ChoiceView, ...]
    moment: bool
    since: int
    since_call: str
    earliest: int
    latest: int
    grain: int
    outcome: Outcome | None

    @property
    def unset(self) -> int:
        """Where a slider stands that nobody has touched."""
        return self.earliest - self.grain


class LawView(msgspec.Struct, frozen=True):
    """The law in a run from its beginning to ``until`` (ns): ``changes`` that were seen or should
    have been by then, and how many of them within one period. ``breach`` in a sentence where it was
    broken."""

    text: str
    state: Literal["untested", "holding", "broken"]
    changes: int
    seen: int
    breach: str
    breached: law.Breach | None
    until: int = 0


class StepView(msgspec.Struct, frozen=True):
    """One step of a lesson. ``number`` counts from 1, of ``count``."""

    lesson: str
    lesson_title: str
    order: int
    number: int
    count: int
    kind: str
    title: str
    text: tuple[Part, ...]
    source: str
    numbers: tuple[Told, ...]
    shown: Shown
    ask: AskView | None
    law: LawView | None
