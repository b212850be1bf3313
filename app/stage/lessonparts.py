"""The tables of a lesson file: what may stand in each.

A lesson is a scenario plus steps. What it says is tied to what the engine did: a **thing** is a
record of the run, found by its kind and fields; a **figure** is a number computed from the run's
records up to the moment that is shown; a **condition** says of either that it is so. A choice of a
question carries the conditions under which it would be the right one, so which one is right is
found out from the run and never believed.

Times count from the beginning of the run, in ns. ``lessons/*.toml`` are written in this form;
``lessonfile.py`` reads and checks them.
"""

import re
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from app.engine.profiles import ProfileName
from app.sim.units import Ns, parse_ns

Id = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
"""What things, figures, runs and choices are called within a lesson."""

Line = Annotated[str, msgspec.Meta(min_length=1, max_length=160)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=900)]
"""May name figures in braces: ``{period}``."""

Pod = Annotated[str, msgspec.Meta(min_length=1, max_length=253)]
"""Pods by ``namespace/name``, with ``*`` as in file names."""

Scalar: TypeAlias = str | int | float | bool

_WHEN = re.compile(r"(?:([a-z][a-z0-9-]{0,39})(?: ([+-]) (\S{1,20}))?|(\d\S{0,20}))")

MAIN = "main"
"""The run that the lesson's head describes; others have names of their own."""


class LessonPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a lesson file; an unknown key in it is an error."""


class When:
    """A time: ``12.4s`` from the beginning, that of a thing (``web-dies``), or so much before or
    after it (``web-dies + 200ms``, ``found - 5ms``). ``thing`` is empty for the beginning."""

    __slots__ = ("plus", "thing")

    def __init__(self, thing: str, plus: int) -> None:
        self.thing = thing
        self.plus = plus

    def __repr__(self) -> str:
        return f"When({self.thing!r}, {self.plus})"


class Amount(float):
    """A number to compare a figure with: a number, or a duration as a text (in ns)."""


class Group(LessonPart, frozen=True, kw_only=True):
    """Records of one kind. ``where``: fields that have these values; ``has`` and ``lacks``: fields
    that say something, or nothing. ``after`` and ``before``: only records that come after or before
    that thing; ``since`` and ``to``: only records of that time."""

    kind: str
    pod: Pod = ""
    where: dict[str, Scalar] = {}
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    after: Id = ""
    before: Id = ""
    since: When | None = None
    to: When | None = None
    run: Id = MAIN


class Thing(Group, frozen=True, kw_only=True):
    """One record of such a group: the first, or the one that ``nth`` says (-1: the last).

    ``at``: which of its times is meant: its own, the ``start`` of a relist or request that it ends,
    the ``stop`` event it goes back to, or the ``end`` of the process as the runtime tells it.
    ``call``: what it is called on the timeline.
    """

    nth: Annotated[int, msgspec.Meta(ge=-1000, le=1000)] = 1
    at: Literal["own", "start", "stop", "end"] = "own"
    call: Line


# ------------------------------------------------------------------------------------- figures


class Figure(LessonPart, frozen=True, kw_only=True, tag_field="is"):
    """A number of the run. ``call``: what it is, in a few words that stand before it. ``digits``:
    how many significant ones a duration has."""

    call: Line
    digits: Annotated[int, msgspec.Meta(ge=2, le=6)] = 2


class Setting(Figure, frozen=True, kw_only=True, tag="setting"):
    """What the session began with (record ``watching``)."""

    what: Literal["period", "threshold", "queue"]
    run: Id = MAIN


class Between(Figure, frozen=True, kw_only=True, tag="between"):
    """From one thing to another."""

    start: Id
    end: Id


class Field(Figure, frozen=True, kw_only=True, tag="field"):
    """A field of a thing, as it stands there; durations when its name ends with ``_ns``."""

    thing: Id
    field: str


class Mean(Figure, frozen=True, kw_only=True, tag="mean"):
    """The mean of a duration field over a group."""

    of: str
    group: Group


class Longest(Figure, frozen=True, kw_only=True, tag="longest"):
    """The largest of a duration field over a group."""

    of: str
    group: Group


class Count(Figure, frozen=True, kw_only=True, tag="count"):
    """How many there are in a group."""

    group: Group


class Interval(Figure, frozen=True, kw_only=True, tag="interval"):
    """Mean time from the start of one global relist to the start of the next, between two times."""

    since: When | None = None
    to: When | None = None
    run: Id = MAIN


class Pause(Figure, frozen=True, kw_only=True, tag="pause"):
    """Mean time from the end of one global relist to the start of the next, between two times."""

    since: When | None = None
    to: When | None = None
    run: Id = MAIN


class LastSeen(Figure, frozen=True, kw_only=True, tag="last-seen"):
    """How long ago the last global relist began whose list came back, at the moment shown: what
    ``Healthy`` compares with the threshold."""

    run: Id = MAIN


class Ratio(Figure, frozen=True, kw_only=True, tag="ratio"):
    """How many times the second one goes into the first."""

    of: Id
    to: Id


AnyFigure: TypeAlias = (
    Setting | Between | Field | Mean | Longest | Count | Interval | Pause | LastSeen | Ratio
)

# --------------------------------------------------------------------------------------- steps


class Condition(LessonPart, frozen=True, kw_only=True):
    """A figure is at ``least``, or at ``most``, so much; or a thing has these values, or is
    ``missing`` up to the moment that is shown."""

    figure: Id = ""
    least: Amount | None = None
    most: Amount | None = None
    thing: Id = ""
    where: dict[str, Scalar] = {}
    missing: bool = False

    def __post_init__(self) -> None:
        if bool(self.figure) == bool(self.thing):
            raise ValueError("a condition is about either a `figure` or a `thing`")
        if self.figure and self.least is None and self.most is None:
            raise ValueError("a condition about a figure says `least` or `most`")


class Choice(LessonPart, frozen=True, kw_only=True):
    """An answer to choose, and when it would be the right one (all conditions together)."""

    id: Id
    text: Line
    when: Annotated[tuple[Condition, ...], msgspec.Meta(min_length=1, max_length=4)]
    at: Id = ""
    """The thing that would be the moment if this were right, where the run has one."""


class Ask(LessonPart, frozen=True, kw_only=True):
    """A question. With ``moment`` one answers with a time on the timeline as well: it is compared
    with this thing's, and both are told as from ``since``. What the engine did is shown up to
    ``until``. ``right``: the choice that the author believes to be right, which a test holds
    against the run. ``say``: what it did, in two sentences."""

    choice: Annotated[tuple[Choice, ...], msgspec.Meta(max_length=6)] = ()
    right: Id = ""
    moment: Id = ""
    since: Id = ""
    until: When
    span: tuple[When, When] | None = None
    """The time in view when it is answered; without it, the step's."""
    pods: tuple[Pod, ...] = ()
    """Whose lanes are shown when it is answered; without it, the step's."""
    say: Text
    numbers: tuple[Id, ...] = ()
    point: tuple[Id, ...] = ()

    def __post_init__(self) -> None:
        if not self.choice and not self.moment:
            raise ValueError("a question has choices, or a moment, or both")
        if bool(self.choice) != bool(self.right):
            raise ValueError("a question with choices says which one is `right`")
        if self.choice and self.right not in {one.id for one in self.choice}:
            raise ValueError("`right` is the id of one of the choices")
        if len({one.id for one in self.choice}) != len(self.choice):
            raise ValueError("two choices of a question cannot have one id")
        if bool(self.moment) != bool(self.since):
            raise ValueError("a question for a `moment` says `since` which thing it counts")


Kind = Literal["read", "point", "predict", "see", "explain", "break"]


class Step(LessonPart, frozen=True, kw_only=True):
    """One step. Shown is the run up to ``until``, the time from ``span`` in view. ``point``: things
    that are marked. ``source``: where the claim comes from."""

    kind: Kind
    title: Line
    text: Text
    until: When
    span: tuple[When, When]
    run: Id = MAIN
    pods: tuple[Pod, ...] = ()
    """Whose lanes are shown; without it, the lesson's."""
    point: Annotated[tuple[Id, ...], msgspec.Meta(max_length=4)] = ()
    numbers: Annotated[tuple[Id, ...], msgspec.Meta(max_length=8)] = ()
    source: Line
    ask: Ask | None = None
    law: bool = False
    """Whether the law and its state are shown."""

    def __post_init__(self) -> None:
        if (self.kind == "predict") != (self.ask is not None):
            raise ValueError("a step that predicts has an `ask`, and no other step has")
        if self.kind == "point" and not self.point:
            raise ValueError("a step that points says at what (`point`)")


class Press(LessonPart, frozen=True, kw_only=True):
    """A fault that is offered to break the law with (``presses.py``), at this moment."""

    name: str
    at: When
    target: Pod = ""


class Play(LessonPart, frozen=True, kw_only=True):
    """Another way to play the lesson's node, or another node to play with (``scenario``)."""

    profile: ProfileName
    scenario: str = ""
    seed: Annotated[int, msgspec.Meta(ge=0, le=10**18 - 1)] | None = None
    duration: Ns | None = None


class LessonFile(LessonPart, frozen=True, kw_only=True):
    """A whole file. ``know``: what one will know afterwards; ``answers``: questions that it
    answers. ``pods``: the lanes that are shown."""

    title: Line
    order: Annotated[int, msgspec.Meta(ge=1, le=99)]
    know: Text
    scenario: str
    seed: Annotated[int, msgspec.Meta(ge=0, le=10**18 - 1)]
    profile: ProfileName
    duration: Ns
    pods: tuple[Pod, ...]
    run: Annotated[dict[Id, Play], msgspec.Meta(max_length=3)] = {}
    thing: Annotated[dict[Id, Thing], msgspec.Meta(max_length=60)] = {}
    figure: Annotated[dict[Id, AnyFigure], msgspec.Meta(max_length=60)] = {}
    step: Annotated[tuple[Step, ...], msgspec.Meta(min_length=2, max_length=30)]
    press: Annotated[tuple[Press, ...], msgspec.Meta(min_length=1, max_length=12)]

    def __post_init__(self) -> None:
        if [one.kind for one in self.step].count("break") != 1 or self.step[-1].kind != "break":
            raise ValueError("a lesson ends with one step that says `break`")
        if MAIN in self.run:
            raise ValueError(f"`{MAIN}` is the run of the lesson's head; call others otherwise")


def special(wanted: type, given: object) -> Any:
    """Values of a lesson file that are written as texts; for ``msgspec.convert``.

    Raises:
        ValueError: it is none; says how to write it.
    """
    if wanted is Ns:
        return parse_ns(given if isinstance(given, str) else "")
    if wanted is Amount:
        if isinstance(given, int | float) and not isinstance(given, bool):
            return Amount(given)
        return Amount(parse_ns(given if isinstance(given, str) else ""))
    if wanted is When:
        return _when(given if isinstance(given, str) else "")
    raise NotImplementedError(f"a lesson file holds no {wanted}")


def _when(text: str) -> When:
    found = _WHEN.fullmatch(text)
    if found is None:
        raise ValueError('write a time as "12.4s", "thing", "thing + 200ms" or "thing - 5ms"')
    thing, sign, offset, alone = found.groups()
    if alone is not None:
        return When("", parse_ns(alone))
    plus = 0 if offset is None else int(parse_ns(offset))
    return When(thing, -plus if sign == "-" else plus)
