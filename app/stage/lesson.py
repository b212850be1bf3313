"""A lesson at one of its steps, ready to be shown: everything looked up in its runs. Pure.

What comes out is a ``StepView`` (``lessonview.py``).
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import msgspec

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
    Tier,
    Unseen,
)
from app.stage.run import Run
from app.stage.select import Finder, Horizon

NEAR = 20
"""A moment counts as near when it is off by no more than this part of the time to choose from."""

_TIERS: dict[str, Tier] = {
    "stream_event": "said",
    "event_refused": "said",
    "request": "asked",
    "relist_started": "asked",
    "relist_finished": "asked",
    "lifecycle": "found",
}
"""Where the kinds of records are drawn in a pod's lane."""

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
        until = self._at(step.until)
        before = Horizon(step.run, self._at(step.until))
        view = None
        answered = False
        points, pods = step.point, step.pods
        begin, end = (self._at(when) for when in step.span)
        if ask is not None:
            view = self._ask(step, ask, answer)
            answered = view.outcome is not None
            if view.outcome is not None:
                points, pods = ask.point or points, ask.pods or pods
                begin, end = (self._at(when) for when in ask.span or step.span)
                until = self._at(ask.until)
                begin, end, until = _both(begin, end, until, view.outcome)
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
            shown=self._shown(
                step, pods, until, (begin, end), points, asking=view is not None and not answered
            ),
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
        self,
        step: Step,
        pods: tuple[str, ...],
        until: int,
        span: tuple[int, int],
        points: tuple[str, ...],
        *,
        asking: bool,
    ) -> Shown:
        pods = pods or self.lesson.file.pods
        spec = self._runs[step.run].spec
        return Shown(
            query=spec.query(),
            run=step.run,
            profile=spec.profile,
            until=until,
            begin=span[0],
            end=span[1],
            pods=pods,
            uids=self._finder.uids(pods, step.run),
            filter=_begin(tuple(one.partition("*")[0] for one in pods)),
            points=tuple(self._point(name, step.run, until) for name in points),
            unseen=() if asking else unseen(self._runs[step.run], until),
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
            tier="said" if thing.at == "end" else _TIERS.get(thing.kind, ""),
        )

    def _ask(self, step: Step, ask: Ask, given: Answer | None) -> AskView:
        since = self._finder.thing(ask.since).t if ask.since else 0
        earliest = max(since, self._at(step.until))
        latest = max(earliest + 1, self._at(step.span[1]))
        answer = _answer(given, earliest, latest) if ask.moment else given
        if answer is not None and not answer.given:
            answer = None
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
        near = (latest - earliest) // NEAR
        return AskView(
            choices=choices,
            moment=bool(ask.moment),
            since=since,
            since_call=self.lesson.file.thing[ask.since].call if ask.since else "",
            earliest=earliest,
            latest=latest,
            grain=_grain(latest - earliest),
            outcome=None
            if answer is None
            else self._outcome(step, ask, choices, (since, near), answer),
        )

    def _off(self, ask: Ask, you: int, engine: int, near: int) -> str:
        """In which way a moment is off: by more than ``near`` (ns), or nearer to what another
        choice would have been. Empty when it is not."""
        apart = abs(you - engine)
        others = [self._finder.thing(one.at) for one in ask.choice if one.at]
        other = min(
            (one for one in others if one.t != engine),
            key=lambda one: abs(one.t - you),
            default=None,
        )
        if apart <= near and (other is None or abs(other.t - you) >= apart):
            return ""
        words = f"{duration(apart)} {'late' if you > engine else 'early'}"
        passed = [
            (one, self._finder.thing(one.at).t)
            for one in ask.choice
            if one.at and min(you, engine) < self._finder.thing(one.at).t < max(you, engine)
        ]
        if passed:
            choice, _ = min(passed, key=lambda one: abs(one[1] - you))
            call = self.lesson.file.thing[choice.at].call
            words += f", {'later' if you > engine else 'earlier'} than the moment “{call}”"
        return words

    def _outcome(
        self,
        step: Step,
        ask: Ask,
        choices: tuple[ChoiceView, ...],
        scale: tuple[int, int],
        answer: Answer,
    ) -> Outcome:
        since, near = scale
        until = Horizon(step.run, self._at(ask.until))
        engine = self._finder.thing(ask.moment).t if ask.moment else None
        you = answer.at if engine is not None else None
        right = next((one.text for one in choices if one.right), "")
        chosen = next((one for one in choices if one.chosen), None)
        off = None if you is None or engine is None else self._off(ask, you, engine, near)
        grade: Grade = "told"
        if chosen is not None:
            grade = ("right" if not off else "part") if chosen.right else "wrong"
        elif you is None:
            grade = "shown"
        words = {
            "right": "Right.",
            "part": f"Right choice; your moment is {off}.",
            "wrong": f"No. The right answer is “{right}”.",
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
                words += f"; you said {you_text}" + (f": {apart_text} apart" if not off else "")
            words += "."
            if off and grade != "part":
                words += f" Your moment is {off}."
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
        ended = (
            "and at the moment shown it is still wrong."
            if breach.to_t is None
            else f"and it was right again only after {duration(breach.to_t - breach.from_t)}."
        )
        words = (
            f"This change was not: from {duration(breach.from_t, 4)} on the pod cache said that a "
            f"container of {breach.pod} {breach.says}, which was not so. The period was over at "
            f"{duration(breach.t, 4)}, {ended}"
        )
    return LawView(
        text=law.TEXT,
        state=state,
        changes=verdict.changes,
        seen=verdict.seen,
        breach=words,
        breached=breach,
        until=until,
    )


def _grain(span: int) -> int:
    """A round step (1, 2 or 5 times a power of ten, ns) of about a 500th of a span."""
    wanted = max(1, span // SLIDER_STEPS)
    size = 10 ** (len(str(wanted)) - 1)
    return int(next(factor * size for factor in (1, 2, 5, 10) if factor * size >= wanted))


def _answer(given: Answer | None, earliest: int, latest: int) -> Answer | None:
    """The answer as it counts: a slider that stands before the earliest moment was not touched."""
    if given is None or given.at is None:
        return given
    at = None if given.at < earliest else min(given.at, latest)
    return msgspec.structs.replace(given, at=at)


def _both(begin: int, end: int, until: int, outcome: Outcome) -> tuple[int, int, int]:
    """(from, to, up to when): the time in view, wide enough for the moment that was said and the
    engine's own, and the run shown as far as the later of them."""
    if outcome.you is None or outcome.engine is None:
        return begin, end, until
    room = max(end - begin, abs(outcome.you - outcome.engine)) // 8
    begin = min(begin, outcome.you - room, outcome.engine - room)
    end = max(end, outcome.you + room, outcome.engine + room)
    return max(0, begin), end, max(until, outcome.you)


def unseen(run: Run, until: int) -> tuple[Unseen, ...]:
    """When the pod cache was wrong about a container, as far as it is shown (ns)."""
    return tuple(
        Unseen(uid, begin, min(to, until), "does not run" if runs else "runs")
        for uid, _, runs, begin, to in law.disagreements(run)
        if begin < until
    )


def _begin(names: tuple[str, ...]) -> str:
    """What all of these begin with."""
    shortest = min(names, key=len)
    while not all(name.startswith(shortest) for name in names):
        shortest = shortest[:-1]
    return shortest
