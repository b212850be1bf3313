"""Reads lesson files and checks them: everything in one must be something that can be looked up.

Checked here is what needs no run: names that are used are there, kinds of records and their fields
exist and can have the values that are asked for, texts name figures that the lesson has. Whether
things are found and answers are right is up to the runs, and to ``tests/stage/test_lessons.py``.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import Any

import msgspec

from app.engine.profiles import PROFILES
from app.engine.records import Record
from app.errors import LessonError
from app.sim.explain import explain
from app.sim.library import names as scenario_names
from app.sim.presses import BY_NAME
from app.stage.lessonparts import (
    MAIN,
    AnyFigure,
    Ask,
    Between,
    Condition,
    Count,
    Field,
    Group,
    Interval,
    LastSeen,
    LessonFile,
    Longest,
    Mean,
    Pause,
    Play,
    Ratio,
    Setting,
    Step,
    Thing,
    When,
    special,
)
from app.stage.select import KINDS
from app.stage.spec import RunSpec

SUFFIX = ".toml"
NAME = re.compile(r"[a-z0-9-]{1,40}")
FIGURE = re.compile(r"\{([^{}]*)\}")


class Lesson(msgspec.Struct, frozen=True):
    """A lesson that was read and checked; ``name`` is its file's."""

    name: str
    file: LessonFile

    @property
    def steps(self) -> tuple[Step, ...]:
        """Its steps, in order."""
        return self.file.step

    def specs(self) -> dict[str, RunSpec]:
        """How each of its runs is played, by the run's name."""
        file = self.file
        main = Play(scenario=file.scenario, profile=file.profile)
        plays = {MAIN: main, **file.run}
        return {
            name: RunSpec(
                scenario=play.scenario or file.scenario,
                seed=file.seed if play.seed is None else play.seed,
                profile=play.profile,
                duration_ns=int(play.duration or file.duration),
            )
            for name, play in plays.items()
        }


def names() -> tuple[str, ...]:
    """The names of the lessons, in the order in which they are meant to be taken."""
    return tuple(lesson.name for lesson in lessons())


@cache
def lessons() -> tuple[Lesson, ...]:
    """All lessons that come with plegscope.

    Raises:
        LessonError: one of them says what cannot be.
    """
    folder = resources.files("app.stage") / "lessons"
    read = [
        parse(one.read_text(encoding="utf-8"), one.name.removesuffix(SUFFIX))
        for one in folder.iterdir()
        if one.name.endswith(SUFFIX)
    ]
    return tuple(sorted(read, key=lambda lesson: lesson.file.order))


def find(name: str) -> Lesson | None:
    """The lesson of this name, or None."""
    return next((one for one in lessons() if one.name == name), None)


def parse(text: str, name: str) -> Lesson:
    """The lesson that a file's text describes.

    Raises:
        LessonError: something in it cannot be; says where.
    """
    source = f"{name}{SUFFIX}"
    if not NAME.fullmatch(name):
        raise LessonError(f"{source} is no name for a lesson; use lower case letters and `-`.")
    try:
        data = tomllib.loads(text)
    except ValueError as error:
        raise LessonError(f"{source} is not TOML: {error}. Correct that line.") from None
    try:
        file = msgspec.convert(data, LessonFile, dec_hook=special)
    except msgspec.ValidationError as error:
        where, what = explain(error, data, LessonFile)
        raise LessonError(f"{source}: {where}: {what}. Correct it there.") from None
    wrong = next(_Check(file).complaints(), None)
    if wrong is not None:
        raise LessonError(f"{source}: {wrong}. Correct it there.")
    return Lesson(name, file)


class _Check:
    """Looks up every name that a lesson uses."""

    def __init__(self, file: LessonFile) -> None:
        self._file = file
        self._runs = {MAIN, *file.run}

    def complaints(self) -> Iterator[str]:
        """What is wrong, one after the other."""
        file = self._file
        if file.profile not in PROFILES:
            yield f"there is no profile {file.profile}"
        for scenario in (file.scenario, *(play.scenario for play in file.run.values())):
            if scenario and scenario not in scenario_names():
                yield f"there is no scenario {scenario}"
        for name, thing in file.thing.items():
            yield from self._group(f"thing {name}", thing)
        yield from self._circles()
        for name, figure in file.figure.items():
            yield from self._figure(f"figure {name}", figure)
        for number, step in enumerate(file.step, 1):
            yield from self._step(f"step {number}", step)
        for press in file.press:
            button = BY_NAME.get(press.name)
            if button is None:
                yield f"press: there is no {press.name} to press"
            elif (button.target == "none" and press.target) or (
                button.target == "pod" and not press.target
            ):
                yield f"press {press.name}: it takes a `target` if and only if it is about a pod"

    def _things(self, where: str, used: Iterable[str]) -> Iterator[str]:
        for name in used:
            if name and name not in self._file.thing:
                yield f"{where}: there is no thing {name}"

    def _figures(self, where: str, used: Iterable[str]) -> Iterator[str]:
        for name in used:
            if name and name not in self._file.figure:
                yield f"{where}: there is no figure {name}"

    def _run(self, where: str, run: str) -> Iterator[str]:
        if run not in self._runs:
            yield f"{where}: there is no run {run}"

    def _when(self, where: str, *whens: When | None) -> Iterator[str]:
        yield from self._things(where, (one.thing for one in whens if one is not None))

    def _group(self, where: str, group: Group) -> Iterator[str]:
        kind = KINDS.get(group.kind)
        if kind is None:
            yield f"{where}: there is no kind of record {group.kind}"
            return
        fields = _fields(kind)
        for field, value in group.where.items():
            yield from _value(where, kind, field, value)
        for field in (*group.has, *group.lacks):
            if field not in fields:
                yield f"{where}: a record {group.kind} has no field {field}"
        if group.pod and "uid" not in fields:
            yield f"{where}: a record {group.kind} is about no pod"
        yield from self._things(where, (group.after, group.before))
        yield from self._when(where, group.since, group.to)
        yield from self._run(where, group.run)

    def _circles(self) -> Iterator[str]:
        """A thing that is told by itself would be looked for without end."""
        things = self._file.thing
        for name in things:
            seen: set[str] = set()
            todo = [name]
            while todo:
                thing = things.get(todo.pop())
                if thing is None:
                    continue
                whens = [one.thing for one in (thing.since, thing.to) if one is not None]
                used = {one for one in (thing.after, thing.before, *whens) if one}
                if name in used:
                    yield f"thing {name}: it is told by itself"
                    return
                todo += used - seen
                seen |= used

    def _figure(self, where: str, figure: AnyFigure) -> Iterator[str]:
        match figure:
            case Setting() | LastSeen():
                yield from self._run(where, figure.run)
            case Between():
                yield from self._things(where, (figure.start, figure.end))
            case Field():
                yield from self._things(where, (figure.thing,))
                thing = self._file.thing.get(figure.thing)
                kind = None if thing is None else KINDS.get(thing.kind)
                if kind is not None and figure.field not in _fields(kind):
                    yield f"{where}: a record of {figure.thing} has no field {figure.field}"
            case Mean() | Longest():
                yield from self._group(where, figure.group)
                kind = KINDS.get(figure.group.kind)
                if not figure.of.endswith("_ns") or (kind and figure.of not in _fields(kind)):
                    yield f"{where}: {figure.of} is no duration of a record {figure.group.kind}"
            case Count():
                yield from self._group(where, figure.group)
            case Interval() | Pause():
                yield from self._when(where, figure.since, figure.to)
                yield from self._run(where, figure.run)
            case Ratio():
                yield from self._figures(where, (figure.of, figure.to))
                if any(
                    isinstance(self._file.figure.get(one), Ratio) for one in (figure.of, figure.to)
                ):
                    yield f"{where}: a ratio of ratios says little"

    def _step(self, where: str, step: Step) -> Iterator[str]:
        yield from self._run(where, step.run)
        yield from self._when(where, step.until, *step.span)
        yield from self._things(where, step.point)
        yield from self._figures(where, (*step.numbers, *FIGURE.findall(step.text)))
        if step.ask is not None:
            yield from self._ask(f"{where}, ask", step.ask)

    def _ask(self, where: str, ask: Ask) -> Iterator[str]:
        yield from self._things(where, (ask.moment, ask.since, *ask.point))
        yield from self._when(where, ask.until, *(ask.span or ()))
        yield from self._figures(where, (*ask.numbers, *FIGURE.findall(ask.say)))
        for choice in ask.choice:
            for condition in choice.when:
                yield from self._condition(f"{where}, choice {choice.id}", condition)

    def _condition(self, where: str, condition: Condition) -> Iterator[str]:
        yield from self._things(where, (condition.thing,))
        yield from self._figures(where, (condition.figure,))
        thing: Thing | None = self._file.thing.get(condition.thing)
        kind = None if thing is None else KINDS.get(thing.kind)
        if kind is not None:
            for field, value in condition.where.items():
                yield from _value(where, kind, field, value)


def _fields(kind: type[Record]) -> dict[str, Any]:
    return {one.name: one.type for one in msgspec.structs.fields(kind)}


def _value(where: str, kind: type[Record], field: str, value: object) -> Iterator[str]:
    fields = _fields(kind)
    tag = kind.__struct_config__.tag
    if field not in fields:
        yield f"{where}: a record {tag} has no field {field}"
        return
    try:
        msgspec.convert(value, fields[field])
    except msgspec.ValidationError:
        yield f"{where}: {field} of a record {tag} is never {value!r}"
