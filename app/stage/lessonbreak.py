"""The last step of a lesson: somebody presses faults on a small node and tries to break the law.

Each press makes another run of the same node (same scenario, same seed): the history forks, and the
link holds the fork. What was pressed is played under the chosen design and, to compare with, under
the other one: under ``legacy`` the law can be broken, under ``kep`` it cannot.
"""

from collections.abc import Iterable
from urllib.parse import urlencode

import msgspec

from app.errors import StageError
from app.sim.button import GROUPS, Button
from app.sim.presses import BY_NAME, PALETTE
from app.stage.lesson import law_view, unseen
from app.stage.lessonfile import Lesson
from app.stage.lessonview import LawView, PointView, Shown, StepView
from app.stage.run import Run
from app.stage.spec import Press, RunSpec

DESIGNS = ("kep", "legacy")
"""The two that are compared; the first is the one in which the law cannot be broken."""


class PressView(msgspec.Struct, frozen=True):
    """A press that was made: its words, when (ns), and a link's text of it."""

    text: str
    name: str
    t: int
    target: str
    link: str


class Verdict(msgspec.Struct, frozen=True):
    """What became of the law under one design."""

    profile: str
    law: LawView
    chosen: bool
    query: str


class BreakView(msgspec.Struct, frozen=True):
    """The last step with what was pressed. ``offered``: buttons of this lesson; ``groups``: all."""

    step: StepView
    shown: Shown
    until: int
    """Up to when (ns) the law is judged, under both designs alike: as far as is shown."""
    profile: str
    presses: tuple[PressView, ...]
    verdicts: tuple[Verdict, ...]
    offered: tuple[Button, ...]
    groups: tuple[tuple[str, tuple[Button, ...]], ...]
    pods: tuple[str, ...]
    begin: int
    """When something is pressed if nobody says otherwise (ns)."""
    duration_ns: int
    compare: str
    """The query that opens both designs side by side."""
    untouched: str
    """The query of the run without any press."""


def chosen(profile: str, otherwise: str) -> str:
    """The design that was asked for.

    Raises:
        StageError: it is none of the two.
    """
    if not profile:
        return otherwise if otherwise in DESIGNS else DESIGNS[0]
    if profile not in DESIGNS:
        raise StageError(
            f"`profile`: this step compares {DESIGNS[0]} and {DESIGNS[1]}; choose one of them."
        )
    return profile


def forks(base: RunSpec, presses: Iterable[Press]) -> dict[str, RunSpec]:
    """The runs to play, by design."""
    made = tuple(sorted(presses, key=lambda press: press.t))
    return {
        profile: msgspec.structs.replace(base, profile=profile, presses=made) for profile in DESIGNS
    }


def break_view(
    lesson: Lesson, step: StepView, runs: dict[str, Run], profile: str, base: RunSpec
) -> BreakView:
    """The step with its forks; ``runs`` by design."""
    run = runs[profile]
    spec = run.spec
    first = spec.presses[0].t if spec.presses else 0
    begin = int(lesson.file.press[0].at.plus)
    end = spec.duration_ns - 1
    until = end if spec.presses else step.shown.until
    shown = msgspec.structs.replace(
        step.shown,
        query=spec.query(),
        profile=profile,
        until=until,
        begin=max(0, first - 3_000_000_000) if spec.presses else step.shown.begin,
        end=min(end, first + 27_000_000_000) if spec.presses else step.shown.end,
        points=_points(spec.presses, law_view(run, until)),
        unseen=unseen(run, until),
    )
    pairs = [("run", runs[one].spec.query()) for one in DESIGNS]
    return BreakView(
        step=step,
        shown=shown,
        until=until,
        profile=profile,
        presses=tuple(_press_view(press) for press in spec.presses),
        verdicts=tuple(
            Verdict(
                profile=one,
                law=law_view(runs[one], until),
                chosen=one == profile,
                query=runs[one].spec.query(),
            )
            for one in DESIGNS
        ),
        offered=tuple(BY_NAME[one.name] for one in lesson.file.press),
        groups=_groups(),
        pods=_pods(run),
        begin=begin,
        duration_ns=spec.duration_ns,
        compare=urlencode(pairs),
        untouched=msgspec.structs.replace(base, profile=profile).query(),
    )


def _points(presses: tuple[Press, ...], law: LawView) -> tuple[PointView, ...]:
    """The presses and, if the law was broken, where."""
    points = [PointView(0, one.t, f"pressed: {_press_view(one).text}", "", "") for one in presses]
    breach = law.breached
    if breach is not None:
        says = "ends" if breach.says == "runs" else "starts"
        call = f"{says}; the cache says that it {breach.says}"
        points.append(PointView(0, breach.from_t, call, breach.pod, breach.uid, tier="said"))
    return tuple(points)


def _press_view(press: Press) -> PressView:
    button = BY_NAME.get(press.name)
    return PressView(
        text=button.text if button is not None else "Back to normal",
        name=press.name,
        t=press.t,
        target=press.target,
        link=press.text(),
    )


def _groups() -> tuple[tuple[str, tuple[Button, ...]], ...]:
    return tuple(
        (title, tuple(button for button in PALETTE if button.group == key))
        for key, title in GROUPS.items()
    )


def _pods(run: Run) -> tuple[str, ...]:
    return tuple(sorted({f"{one.who.namespace}/{one.who.pod}" for one in run.truth.moments}))
