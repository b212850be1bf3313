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

Grade: TypeAlias = Literal["right", "wrong", "shown", "told"]
"""``shown``: nobody answered; ``told``: a moment alone, which is neither right nor wrong."""


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
    ``grain`` (all ns), and is told as from ``since``, which is called ``since_call``."""

    choices: tuple[ChoiceView, ...]
    moment: bool
    since: int
    since_call: str
    earliest: int
    latest: int
    grain: int
    outcome: Outcome | None


class LawView(msgspec.Struct, frozen=True):
    """The law at the moment shown; ``breach`` in a sentence where it was broken."""

    text: str
    state: Literal["untested", "holding", "broken"]
    changes: int
    seen: int
    breach: str
    breached: law.Breach | None


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
