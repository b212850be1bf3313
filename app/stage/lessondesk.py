"""Lessons as the web asks for them: in links' words, with runs that are played when needed."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from app.errors import StageError, StageUnknown
from app.stage.lesson import LessonInRuns, law_view
from app.stage.lessonbreak import BreakView, break_view, chosen, forks
from app.stage.lessonfile import Lesson, find, lessons
from app.stage.lessonparts import Step
from app.stage.lessonview import Answer, LawView, StepView
from app.stage.run import Run
from app.stage.spec import Lookup, Press, RunSpec, in_seconds, parse

LATEST_NS = 10**13
"""No moment of a run is later than this."""


class Card(msgspec.Struct, frozen=True):
    """A lesson in a list."""

    name: str
    title: str
    know: str
    order: int
    steps: int
    questions: int


class Player(Protocol):
    """Plays and keeps runs (``Runs``)."""

    async def get(self, spec: RunSpec) -> Run:
        """The run of a spec; raises ``StageError``."""
        ...


class LessonDesk:
    """Answers for the lessons' pages.

    Args:
        runs: plays and keeps runs.
        lookup: the scenario of a name, None when there is none.
        forks: plays runs in which something was pressed; ``runs`` if left out.
    """

    def __init__(self, runs: Player, lookup: Lookup, forks: Player | None = None) -> None:
        self._runs = runs
        self._forks = runs if forks is None else forks
        self._lookup = lookup
        self._taken: dict[str, LessonInRuns] = {}
        """Lessons in their runs, which are short and always the same: as many as there are."""

    def cards(self) -> tuple[Card, ...]:
        """All lessons, in order."""
        return tuple(
            Card(
                name=one.name,
                title=one.file.title,
                know=" ".join(one.file.know.split()),
                order=one.file.order,
                steps=len(one.steps),
                questions=sum(step.ask is not None for step in one.steps),
            )
            for one in lessons()
        )

    def titles(self, name: str) -> tuple[tuple[str, str], ...]:
        """(kind, title) of each step, for the list of steps.

        Raises:
            StageUnknown: there is no such lesson.
        """
        return tuple((step.kind, step.title) for step in _lesson(name).steps)

    async def step(
        self, name: str, number: int, *, choice: str = "", at: int | None = None, show: bool = False
    ) -> StepView:
        """A step, and what came of an answer where one was given.

        Raises:
            StageUnknown: there is no such lesson, or step.
            StageError: the answer is none of this question's, or the runs cannot be played now.
        """
        lesson = _lesson(name)
        step = _step(lesson, number)
        answer = Answer(choice=choice, at=at, show=show)
        if answer.given and step.ask is None:
            raise StageError(f"Step {number} asks for nothing; open it without an answer.")
        if step.ask is not None and answer.given:
            if choice and choice not in {one.id for one in step.ask.choice}:
                raise StageError("This question has no such answer; choose one of those it has.")
            if at is not None and (not step.ask.moment or not 0 <= at <= LATEST_NS):
                raise StageError("`at`: no moment of this question; choose one on the timeline.")
        taken = await self._in_runs(lesson)
        return taken.view(number, answer)

    async def broken(self, name: str, profile: str, presses: Sequence[str]) -> BreakView:
        """The last step with what was pressed (``12s!lose-stops``), under both designs.

        Raises:
            StageUnknown: there is no such lesson.
            StageError: something cannot be pressed, or the runs cannot be played now.
        """
        lesson = _lesson(name)
        taken = await self._in_runs(lesson)
        number = len(lesson.steps)
        base = lesson.specs()[lesson.steps[-1].run]
        profile = chosen(profile, base.profile)
        runs = {
            design: await (self._forks if presses else self._runs).get(spec)
            for design, spec in forks(base, self._pressed(base, presses)).items()
        }
        return break_view(lesson, taken.view(number), runs, profile, base)

    async def law(
        self, name: str, number: int, t: int, profile: str = "", presses: Sequence[str] = ()
    ) -> LawView:
        """The law at any moment ``t`` (ns) of what a step shows, for whoever moves the cursor.

        Raises:
            StageUnknown: there is no such lesson, or step.
            StageError: something cannot be pressed, or the runs cannot be played now.
        """
        lesson = _lesson(name)
        step = _step(lesson, number)
        spec = lesson.specs()[step.run]
        if step.kind == "break":
            spec = forks(spec, self._pressed(spec, presses))[chosen(profile, spec.profile)]
        elif step.ask is not None:
            # What is asked for may follow from the law.
            raise StageError("The law is not shown while a question is open; answer it first.")
        runs = self._forks if presses else self._runs
        return law_view(await runs.get(spec), min(t, spec.duration_ns))

    def press(self, name: str, at: int, button: str, target: str) -> str:
        """A press as it stands in a link, checked.

        Raises:
            StageUnknown: there is no such lesson.
            StageError: it cannot be pressed.
        """
        lesson = _lesson(name)
        base = lesson.specs()[lesson.steps[-1].run]
        if not 0 <= at < base.duration_ns:
            raise StageError(
                f"`t`: this run lasts {in_seconds(base.duration_ns)}; press within it."
            )
        text = "!".join((in_seconds(at), button[:60], *([target] if target else [])))
        (made,) = self._pressed(base, (text,))
        return made.text()

    def _pressed(self, base: RunSpec, presses: Sequence[str]) -> tuple[Press, ...]:
        pairs = [
            ("scenario", base.scenario),
            ("duration", in_seconds(base.duration_ns)),
            *(("press", text) for text in presses),
        ]
        return parse(pairs, self._lookup).presses

    async def _in_runs(self, lesson: Lesson) -> LessonInRuns:
        taken = self._taken.get(lesson.name)
        if taken is None:
            runs = {name: await self._runs.get(spec) for name, spec in lesson.specs().items()}
            taken = self._taken[lesson.name] = LessonInRuns(lesson, runs)
        return taken


def _lesson(name: str) -> Lesson:
    lesson = find(name)
    if lesson is None:
        raise StageUnknown("There is no such lesson; choose one on the page /lessons.")
    return lesson


def _step(lesson: Lesson, number: int) -> Step:
    if not 1 <= number <= len(lesson.steps):
        raise StageUnknown(
            f"This lesson has {len(lesson.steps)} steps; open one of them, or begin with the first."
        )
    return lesson.steps[number - 1]
