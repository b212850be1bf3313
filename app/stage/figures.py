"""The numbers of a lesson, computed from a run's records up to the moment that is shown. Pure.

A figure that cannot be told yet raises ``Missing``: a lesson never shows a number that its reader
could not have counted.
"""

from collections.abc import Mapping

import msgspec

from app.engine.records import RelistFinished, RelistStarted, Watching
from app.stage.lessonparts import (
    AnyFigure,
    Between,
    Condition,
    Count,
    Field,
    Interval,
    LastSeen,
    Longest,
    Mean,
    Pause,
    Ratio,
    Setting,
    When,
)
from app.stage.run import Run
from app.stage.select import END_OF_TIME, Finder, Horizon, Missing, agrees

NBSP = "\N{NO-BREAK SPACE}"

Value = float | str | bool


class Told(msgspec.Struct, frozen=True):
    """A figure as it is shown. ``value``: in ns for durations, a number or a text else."""

    name: str
    call: str
    text: str
    value: Value


class Figures:
    """Computes the figures of one lesson over its runs."""

    def __init__(self, figures: Mapping[str, AnyFigure], finder: Finder) -> None:
        self._figures = figures
        self._finder = finder
        self._values: dict[tuple[str, Horizon], Value] = {}

    def told(self, name: str, until: Horizon) -> Told:
        """The figure as it stands at ``until``.

        Raises:
            Missing: it cannot be told yet, or never.
        """
        figure = self._figures[name]
        value = self.value(name, until)
        return Told(name, figure.call, _text(figure, value), value)

    def value(self, name: str, until: Horizon) -> Value:
        """The figure's value; durations in ns.

        Raises:
            Missing: it cannot be told yet, or never.
        """
        if (name, until) not in self._values:
            self._values[name, until] = self._count(name, until)
        return self._values[name, until]

    def _count(self, name: str, until: Horizon) -> Value:
        match self._figures[name]:
            case Setting() as figure:
                return _setting(self._finder.runs[figure.run], figure.what)
            case Between() as figure:
                begin = self._finder.thing(figure.start, until)
                return self._finder.thing(figure.end, until).t - begin.t
            case Field() as figure:
                return self._field(figure, until)
            case Mean() as figure:
                values = self._durations(figure, until)
                return sum(values) / len(values)
            case Longest() as figure:
                return max(self._durations(figure, until))
            case Count() as figure:
                return len(self._finder.group(figure.group, until))
            case Interval() as figure:
                return self._from_to(figure.run, figure.since, figure.to, until, "start")
            case Pause() as figure:
                return self._from_to(figure.run, figure.since, figure.to, until, "end")
            case LastSeen() as figure:
                return self._last_seen(figure.run, until)
            case Ratio() as figure:
                of, to = self.value(figure.of, until), self.value(figure.to, until)
                if isinstance(of, str) or isinstance(to, str) or not to:
                    raise Missing(f"{name} is no ratio of two numbers")
                return of / to

    def holds(self, condition: Condition, until: Horizon) -> bool:
        """Whether it is so at ``until``."""
        if condition.thing:
            if condition.missing:
                return not self._finder.has(condition.thing, until)
            if not self._finder.has(condition.thing, until):
                return False
            return agrees(self._finder.thing(condition.thing).record, condition.where)
        try:
            value = self.value(condition.figure, until)
        except Missing:
            return False
        if isinstance(value, str):
            return False
        least, most = condition.least, condition.most
        return (least is None or value >= least) and (most is None or value <= most)

    def _field(self, figure: Field, until: Horizon) -> Value:
        value = getattr(self._finder.thing(figure.thing, until).record, figure.field)
        if value is None:
            raise Missing(f"{figure.thing} does not tell its {figure.field}")
        assert isinstance(value, int | float | str)
        return value

    def _durations(self, figure: Mean | Longest, until: Horizon) -> list[float]:
        records = self._finder.group(figure.group, until)
        values = [getattr(record, figure.of) for record in records]
        known = [value for value in values if value is not None]
        if not known:
            raise Missing(f"there is nothing yet to take the {figure.of} of")
        return known

    def _from_to(
        self, run: str, since: When | None, to: When | None, until: Horizon, kind: str
    ) -> int:
        begin = 0 if since is None else self._finder.moment(since)
        end = min(until.of(run), END_OF_TIME if to is None else self._finder.moment(to))
        spans: list[int] = []
        last: int | None = None
        for record in self._finder.runs[run].records:
            if record.t > end:
                break
            if isinstance(record, RelistStarted) and record.scope == "global":
                if last is not None and last >= begin:
                    spans.append(record.t - last)
                last = record.t if kind == "start" else None
            elif isinstance(record, RelistFinished) and record.scope == "global" and kind == "end":
                last = record.t
        if not spans:
            raise Missing("no two global relists have begun yet")
        return round(sum(spans) / len(spans))

    def _last_seen(self, run: str, until: Horizon) -> int:
        started = [
            record.started
            for record in self._finder.runs[run].records
            if record.t <= until.of(run)
            and isinstance(record, RelistFinished)
            and record.scope == "global"
            and record.ok
        ]
        if not started:
            raise Missing("no global relist has succeeded yet")
        return until.of(run) - max(started)


def _setting(run: Run, what: str) -> int:
    for record in run.records:
        if isinstance(record, Watching):
            return {
                "period": record.period_ns,
                "threshold": record.threshold_ns,
                "queue": record.queue_capacity,
            }[what]
    raise Missing("the run does not tell its settings")


def _text(figure: AnyFigure, value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(figure, Ratio):
        return times(value)
    if isinstance(figure, Count) or (isinstance(figure, Setting) and figure.what == "queue"):
        return f"{value:,.0f}"
    if isinstance(figure, Field) and not figure.field.endswith("_ns"):
        return f"{value:g}"
    return duration(value, figure.digits)


def duration(ns: float, digits: int = 2) -> str:
    """Nanoseconds in words, with so many significant digits: ``4.1 ms``, ``3 min 12 s``."""
    seconds = abs(ns) / 1e9
    if seconds == 0:
        return f"0{NBSP}ms"
    if seconds < 1e-3:
        return f"{_digits(seconds * 1e6, digits)}{NBSP}µs"
    if seconds < 0.9995:
        return f"{_digits(seconds * 1e3, digits)}{NBSP}ms"
    if seconds < 59.95:
        return f"{_digits(seconds, digits)}{NBSP}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}{NBSP}min" + (f" {rest}{NBSP}s" if rest else "")


def times(ratio: float) -> str:
    """How many times: ``180 times``, ``5.7 times``, ``47,000 times``."""
    if ratio < 9.95:
        return f"{ratio:.1f}{NBSP}times"
    if ratio < 999.5:
        return f"{ratio:.0f}{NBSP}times"
    digits = len(str(round(ratio))) - 2
    return f"{round(ratio, -digits):,.0f}{NBSP}times"


def _digits(value: float, digits: int) -> str:
    """At least so many significant digits; whole numbers keep all of theirs."""
    power = int(f"{value:.{digits - 1}e}".partition("e")[2])
    return f"{value:.{max(0, digits - 1 - power)}f}"
