"""A lesson at one of its steps, ready to be shown: everything looked up in its runs. Pure.

What comes out is a ``StepView`` (``lessonview.py``).
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from app.stage import law
from app.stage.figures import Figures, Told, duration
from app.stage.lessonfile import FIGURE, Lesson
from app.stage.lessonparts import Ask, Choice, Step, When
from app.stage.lessonview import (
    Answer,
    AskView,
    ChoiceView,
    Grade,
    LawView,
    Outcome,
    Part,
    PointView,
    Shown,
    StepView,
)
from app.stage.run import Run
from app.stage.select import Finder, Horizon

SLIDER_STEPS = 500
"""In how many steps the time in view is divided for an answer by key."""


class LessonInRuns:
    """A lesson, and the runs it speaks of."""

    def __init__(self, lesson: Lesson, runs: Mapping[str, Run]) -> None:
        self.lesson = lesson
        self._runs = dict(runs)
        self._finder = Finder(lesson.file.thing, runs)
        self._laws: dict[tuple[str, int], LawView] = {}

    @cached_property
    def _figures(self) -> Figures:
        return Figures(self.lesson.file.figure, self._finder)

    def view(self, number: int, answer: Answer | None = None) -> StepView:
        """The step with this number (from 1), answered or not.

        Raises:
            Missing: it speaks of something that the runs do not have.
            IndexError: there is no such step.
        """
        step = self.lesson.steps[number - 1]
        ask = step.ask
        answered = answer is not None and answer.given and ask is not None
        until = self._at(ask.until if answered and ask is not None else step.until)
        before = Horizon(step.run, self._at(step.until))
        view = None
        points = step.point
        span = step.span
        if ask is not None:
            view = self._ask(step, ask, answer if answered else None)
            if answered:
                points, span = ask.point or points, ask.span or span
        return StepView(
            lesson=self.lesson.name,
            lesson_title=self.lesson.file.title,
            order=self.lesson.file.order,
            number=number,
            count=len(self.lesson.steps),
            kind=step.kind,
            title=step.title,
            text=self._parts(step.text, before),
            source=step.source,
            numbers=self._told(step.numbers, before),
            shown=self._shown(step, until, span, points),
            ask=view,
            law=self._law(step.run, until) if step.law else None,
        )

    def right(self, step: Step) -> tuple[Choice, ...]:
        """The choices that the run makes right; a lesson is sound when it is exactly one."""
        ask = step.ask
        if ask is None:
            return ()
        until = Horizon(step.run, self._at(ask.until))
        return tuple(
            choice
            for choice in ask.choice
            if all(self._figures.holds(condition, until) for condition in choice.when)
        )

    def _law(self, run: str, until: int) -> LawView:
        if (run, until) not in self._laws:
            self._laws[run, until] = law_view(self._runs[run], until)
        return self._laws[run, until]

    def _at(self, when: When) -> int:
        return self._finder.moment(when)

    def _told(self, names: tuple[str, ...], until: Horizon) -> tuple[Told, ...]:
        return tuple(self._figures.told(name, until) for name in names)

    def _parts(self, text: str, until: Horizon) -> tuple[Part, ...]:
        pieces = FIGURE.split(" ".join(text.split()))
        parts: list[Part] = []
        for at, piece in enumerate(pieces):
            if at % 2:
                parts.append(self._figures.told(piece, until))
            elif piece:
                parts.append(piece)
        return tuple(parts)

    def _shown(
        self, step: Step, until: int, span: tuple[When, When], points: tuple[str, ...]
    ) -> Shown:
        pods = step.pods or self.lesson.file.pods
        spec = self._runs[step.run].spec
        return Shown(
            query=spec.query(),
            run=step.run,
            profile=spec.profile,
            until=until,
            begin=self._at(span[0]),
            end=self._at(span[1]),
            pods=pods,
            uids=self._finder.uids(pods, step.run),
            filter=_begin(tuple(one.partition("*")[0] for one in pods)),
            points=tuple(self._point(name, step.run, until) for name in points),
        )

    def _point(self, name: str, run: str, until: int) -> PointView:
        thing = self.lesson.file.thing[name]
        found = self._finder.thing(name)
        return PointView(
            seq=found.record.seq,
            t=found.t,
            call=thing.call,
            pod=self._finder.name(found.record, run),
            uid=getattr(found.record, "uid", None) or "",
            told=found.record.t <= until,
        )

    def _ask(self, step: Step, ask: Ask, answer: Answer | None) -> AskView:
        right = {one.id for one in self.right(step)} if answer is not None else set()
        choices = tuple(
            ChoiceView(
                id=one.id,
                text=one.text,
                chosen=answer is not None and one.id == answer.choice,
                right=one.id in right,
            )
            for one in ask.choice
        )
        since = self._finder.thing(ask.since).t if ask.since else 0
        earliest = max(since, self._at(step.until))
        latest = max(earliest + 1, self._at(step.span[1]))
        return AskView(
            choices=choices,
            moment=bool(ask.moment),
            since=since,
            since_call=self.lesson.file.thing[ask.since].call if ask.since else "",
            earliest=earliest,
            latest=latest,
            grain=_grain(latest - earliest),
            outcome=None if answer is None else self._outcome(step, ask, choices, since, answer),
        )

    def _outcome(
        self,
        step: Step,
        ask: Ask,
        choices: tuple[ChoiceView, ...],
        since: int,
        answer: Answer,
    ) -> Outcome:
        until = Horizon(step.run, self._at(ask.until))
        engine = self._finder.thing(ask.moment).t if ask.moment else None
        you = answer.at if engine is not None else None
        right = next((one.text for one in choices if one.right), "")
        chosen = next((one for one in choices if one.chosen), None)
        grade: Grade = "told"
        if chosen is not None:
            grade = "right" if chosen.right else "wrong"
        elif you is None:
            grade = "shown"
        words = {
            "right": "Right.",
            "wrong": f"No: {_inner(right)}.",
            "shown": f"{right}." if right else "",
            "told": f"{right}." if right else "",
        }[grade]
        engine_text = you_text = apart_text = ""
        if engine is not None:
            engine_text = duration(engine - since)
            words += f" It took {engine_text}"
            if you is not None:
                you_text = duration(you - since)
                apart_text = duration(abs(you - engine))
                words += f"; you said {you_text}: {apart_text} apart"
            words += "."
        return Outcome(
            grade=grade,
            verdict=words.strip(),
            say=self._parts(ask.say, until),
            numbers=self._told(ask.numbers, until),
            you=you,
            you_text=you_text,
            engine=engine,
            engine_text=engine_text,
            apart_text=apart_text,
        )


def law_view(run: Run, until: int) -> LawView:
    """The law in a run, up to ``until`` (ns)."""
    verdict = law.judge(run, until)
    breach = verdict.breach
    state: Literal["untested", "holding", "broken"] = "holding" if verdict.changes else "untested"
    words = ""
    if breach is not None:
        state = "broken"
        right = (
            "and had not been put right by the moment shown."
            if breach.to_t is None
            else f"and was right again only after {duration(breach.to_t - breach.from_t)}."
        )
        words = (
            f"From {duration(breach.from_t)} on the pod cache said that a container of "
            f"{breach.pod} {breach.says}, which was not so; it should have been right by "
            f"{duration(breach.t)}, {right}"
        )
    return LawView(
        text=law.TEXT,
        state=state,
        changes=verdict.changes,
        seen=verdict.seen,
        breach=words,
        breached=breach,
    )


def _grain(span: int) -> int:
    """A round step (1, 2 or 5 times a power of ten, ns) of about a 500th of a span."""
    wanted = max(1, span // SLIDER_STEPS)
    size = 10 ** (len(str(wanted)) - 1)
    return int(next(factor * size for factor in (1, 2, 5, 10) if factor * size >= wanted))


def _inner(text: str) -> str:
    """A sentence within another one: an ordinary first word loses its capital, a name keeps it."""
    first = text.split(" ", 1)[0]
    ordinary = first[1:].islower() or len(first) == 1
    return text[:1].lower() + text[1:] if ordinary else text


def _begin(names: tuple[str, ...]) -> str:
    """What all of these begin with."""
    shortest = min(names, key=len)
    while not all(name.startswith(shortest) for name in names):
        shortest = shortest[:-1]
    return shortest
